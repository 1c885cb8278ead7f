/**
 * Whether some serial order explains what concurrent callers saw of the toolsets: each operation at
 * one moment between its start and its end, with the result that it had.
 */

export type Operation =
  | { kind: "build"; name: string; content: string; replace: boolean }
  | { kind: "delete"; name: string }
  | { kind: "equip"; name: string }
  | { kind: "unequip" };

/** What the caller was told: a code where it failed; for unequip, what was equipped before. */
export type Outcome = { error: string } | { was?: string | null };

export interface Event {
  operation: Operation;
  outcome: Outcome;
  startedAt: number;
  endedAt: number;
}

/** What can be seen from outside when all is over. */
export interface Seen {
  toolsets: ReadonlyMap<string, string>;
  equipped: string | null;
}

interface State {
  /** The content of each toolset. */
  toolsets: ReadonlyMap<string, string>;
  /** Gone with its toolset: one made anew under the name is another. */
  equipped: string | null;
}

const EMPTY: State = { toolsets: new Map(), equipped: null };
/** Refused for the sake of another operation: that explains itself, and changed nothing. */
const REFUSED = "OPERATION_IN_PROGRESS";
/** Far beyond what is ever needed; so that a search always ends. */
const MAX_STEPS = 1_000_000;

/** The events in an order that explains them and what is seen at the end, or undefined. */
export function findSerialOrder(events: readonly Event[], seen: Seen): Event[] | undefined {
  // A good first guess: what ended first was done first.
  const all = events.filter(({ outcome }) => errorOf(outcome) !== REFUSED)
    .sort((a, b) => a.endedAt - b.endedAt);
  const isDone = all.map(() => false);
  const hopeless = new Set<string>();
  const order: Event[] = [];
  let steps = 0;

  /** Those that can be next: whatever began after another's end comes after it. */
  function candidates(first: number): number[] {
    const { endedAt } = all[first]!;
    return all.keys().drop(first).filter((index) =>
      !isDone[index] && all[index]!.startedAt <= endedAt
    ).toArray();
  }

  function search(from: number, state: State): boolean {
    let first = from;
    while (isDone[first]) first++;
    if (first === all.length) return stateText(state, seen) === stateText(seen, seen);
    const beyond = all.keys().drop(first).filter((index) => isDone[index]).toArray();
    const key = `${first} ${beyond} ${stateText(state, seen)}`;
    if (hopeless.has(key)) return false;
    if (++steps > MAX_STEPS) throw new Error("Cannot decide: too many orders");
    const possible = candidates(first).flatMap((index) => {
      const next = apply(state, all[index]!);
      return next ? { index, next } : [];
    });
    // What only looked is as good now as later: no other order need be tried for it.
    const look = possible.find(({ next }) => next === state);
    for (const { index, next } of look ? [look] : possible) {
      isDone[index] = true;
      order.push(all[index]!);
      if (search(first, next)) return true;
      isDone[index] = false;
      order.pop();
    }
    hopeless.add(key);
    return false;
  }

  return search(0, EMPTY) ? order : undefined;
}

/**
 * The state after an operation that ended like this, or undefined where it could not have. It is
 * the same object only where such an operation changes nothing, whenever it is done.
 */
function apply(state: State, { operation, outcome }: Event): State | undefined {
  const error = errorOf(outcome);
  if (operation.kind === "unequip") {
    if (error !== undefined || !("was" in outcome) || outcome.was !== state.equipped) return;
    return state.equipped === null ? state : { ...state, equipped: null };
  }
  const exists = state.toolsets.has(operation.name);
  switch (operation.kind) {
    case "build":
      if (error === "CONFLICT") return exists && !operation.replace ? state : undefined;
      if (error !== undefined || (exists && !operation.replace)) return;
      return {
        ...state,
        toolsets: new Map(state.toolsets).set(operation.name, operation.content),
      };
    case "delete": {
      if (error === "NOT_FOUND") return exists ? undefined : state;
      if (error !== undefined || !exists) return;
      const toolsets = new Map(state.toolsets);
      toolsets.delete(operation.name);
      return { toolsets, equipped: state.equipped === operation.name ? null : state.equipped };
    }
    case "equip":
      if (error === "NOT_FOUND") return exists ? undefined : state;
      return error !== undefined || !exists ? undefined : { ...state, equipped: operation.name };
  }
}

function errorOf(outcome: Outcome): string | undefined {
  return "error" in outcome ? outcome.error : undefined;
}

/** Of contents only that matters which are seen in the end: nobody has looked at the others. */
function stateText({ toolsets, equipped }: State, seen: Seen): string {
  const marks = [...toolsets].map(([name, content]) =>
    `${name} ${content === seen.toolsets.get(name)}`
  );
  return [...marks.sort(), equipped].join();
}
