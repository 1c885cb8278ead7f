import { DevalueError, stringify } from "devalue";
import { isValidElement } from "preact";

export interface IslandUse {
  island: string;
  props: Record<string, unknown>;
}

/** All props in one text, so that a signal given to two islands stays one signal. */
export function serializeProps(
  uses: IslandUse[],
  slotId: (vnode: object) => number | undefined,
): string {
  try {
    return stringify(uses.map((use) => use.props), {
      // A falsy result means "not mine", hence the arrays.
      Slot: (value: unknown) => {
        const id = isValidElement(value) ? slotId(value) : undefined;
        return id === undefined ? undefined : [id];
      },
      Computed: (value: unknown) =>
        isSignal(value) && isReadonly(value) ? [value.peek()] : undefined,
      Signal: (value: unknown) => isSignal(value) ? [value.peek()] : undefined,
    });
  } catch (error) {
    if (!(error instanceof DevalueError)) throw error;
    const [, index, path] = /^\[(\d+)\]\.?(.*)$/s.exec(error.path) ?? [];
    const island = uses[Number(index)]?.island;
    throw new TypeError(
      `Cannot send the prop "${path}" of island "${island}" to the browser: ${nameOf(error.value)}`,
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
  const property = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(value), "value");
  return property?.set === undefined;
}

function nameOf(value: unknown): string {
  if (typeof value === "function") return "functions cannot be serialized";
  if (typeof value === "symbol") return "symbols cannot be serialized";
  const name = typeof value === "object" ? value?.constructor?.name : typeof value;
  return `an instance of ${name ?? "an unknown class"} cannot be serialized`;
}
