import type { ActivityEntry } from "../storage/activity_repository.ts";

/** Calls of one session that are further apart belong to different work. */
const APART_MS = 10 * 60_000;
const MAX_SESSIONS = 1_000;

type Call = Pick<ActivityEntry, "at" | "session" | "server" | "tool">;

/** Which tools are called one after the other, counted from the activity log. */
export class CoUse {
  readonly #last = new Map<string, { at: number; name: string }>();
  readonly #counts = new Map<string, Map<string, number>>();

  add({ at, session, server, tool }: Call): void {
    const name = `${server}.${tool}`;
    const before = this.#last.get(session);
    // Deleted first, so that the map stays in the order of the last use.
    this.#last.delete(session);
    this.#last.set(session, { at, name });
    if (this.#last.size > MAX_SESSIONS) this.#last.delete(this.#last.keys().next().value!);
    if (!before || before.name === name || at - before.at > APART_MS) return;
    this.#count(before.name, name);
    this.#count(name, before.name);
  }

  /** Names as `server.tool`, most often first. */
  with(server: string, tool: string): string[] {
    const counts = this.#counts.get(`${server}.${tool}`) ?? new Map<string, number>();
    return [...counts].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
      .map(([name]) => name);
  }

  #count(name: string, other: string): void {
    const counts = this.#counts.get(name) ?? new Map<string, number>();
    this.#counts.set(name, counts.set(other, (counts.get(other) ?? 0) + 1));
  }
}
