import type { ActivityEntry } from "../storage/activity_repository.ts";

/** Calls of one session that are further apart belong to different work. */
const APART_MS = 10 * 60_000;
const MAX_SESSIONS = 1_000;

type Used = Pick<ActivityEntry, "server" | "tool">;
type Call = Used & Pick<ActivityEntry, "at" | "session">;

/** Which tools are called one after the other, counted from the activity log. */
export class CoUse {
  readonly #last = new Map<string, Call>();
  readonly #counts = new Map<string, Map<string, { other: Used; times: number }>>();

  add(call: Call): void {
    const { at, session } = call;
    const before = this.#last.get(session);
    // Deleted first, so that the map stays in the order of the last use; where there is room for
    // all, that would only make work.
    if (this.#last.size >= MAX_SESSIONS) this.#last.delete(session);
    this.#last.set(session, call);
    if (this.#last.size > MAX_SESSIONS) this.#last.delete(this.#last.keys().next().value!);
    if (!before || keyOf(before) === keyOf(call) || at - before.at > APART_MS) return;
    this.#count(before, call);
    this.#count(call, before);
  }

  /** Most often first. */
  with(server: string, tool: string): Used[] {
    const counts = [...this.#counts.get(keyOf({ server, tool })) ?? []];
    return counts.sort(([a, left], [b, right]) => right.times - left.times || (a < b ? -1 : 1))
      .map(([, { other }]) => other);
  }

  #count(used: Used, { server, tool }: Used): void {
    const counts = this.#counts.get(keyOf(used)) ?? new Map();
    const other = { server, tool };
    const times = (counts.get(keyOf(other))?.times ?? 0) + 1;
    this.#counts.set(keyOf(used), counts.set(keyOf(other), { other, times }));
  }
}

function keyOf({ server, tool }: Used): string {
  return `${server}.${tool}`;
}
