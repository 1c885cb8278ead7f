import { DevalueError, stringify } from "devalue";

export interface IslandUse {
  island: string;
  props: Record<string, unknown>;
}

/** All props in one text, so that a signal given to two islands stays one signal. */
export function serializeProps(
  uses: IslandUse[],
  slotId: (value: unknown) => number | undefined,
): string {
  // A falsy result means "not mine", hence the arrays.
  const Slot = (value: unknown) => {
    const id = slotId(value);
    return id === undefined ? undefined : [id];
  };
  const Computed = (value: unknown) =>
    isSignal(value) && isReadonly(value) ? [value.peek()] : undefined;
  const Signal = (value: unknown) => isSignal(value) ? [value.peek()] : undefined;
  try {
    return stringify(uses.map((use) => use.props), { Slot, Computed, Signal });
  } catch (error) {
    if (!(error instanceof DevalueError)) throw error;
    const [, index, path] = /^\[(\d+)\]\.?(.*)$/s.exec(error.path) ?? [];
    const { island } = uses[Number(index)] ?? {};
    const what = typeof error.value === "object"
      ? error.value.constructor?.name
      : typeof error.value;
    throw new TypeError(
      `Cannot send the prop "${path}" of island "${island}" to the browser: it is a ${what}`,
      { cause: error },
    );
  }
}

interface SignalLike {
  peek(): unknown;
}

export function isSignal(value: unknown): value is SignalLike {
  return typeof value === "object" && value !== null && "brand" in value &&
    value.brand === Symbol.for("preact-signals");
}

function isReadonly(value: SignalLike): boolean {
  return !Object.getOwnPropertyDescriptor(Object.getPrototypeOf(value), "value")?.set;
}
