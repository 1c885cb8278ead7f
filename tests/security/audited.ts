import assert from "node:assert/strict";
import * as z from "zod";
import type { Guarded } from "./guarded.ts";

const Entry = z.looseObject({
  id: z.string(),
  principal: z.string(),
  who: z.string().optional(),
  from: z.string(),
  action: z.string(),
  subject: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});
export type Entry = z.infer<typeof Entry>;
export const Entries = z.object({ entries: z.array(Entry), hasOlder: z.boolean() });

/** A gateway whose audit log is looked at after every step. */
export class Audited {
  readonly guarded: Guarded;
  readonly #seen = new Set<string>();

  constructor(guarded: Guarded) {
    this.guarded = guarded;
  }

  async news(): Promise<Entry[]> {
    const { value } = await this.guarded.api("GET", "/api/audit?limit=50");
    const { entries } = Entries.parse(value);
    const fresh = entries.filter(({ id }) => !this.#seen.has(id));
    for (const { id } of entries) this.#seen.add(id);
    return fresh.reverse();
  }

  /** Does something that leaves exactly one entry; gives it. */
  async leaves(
    expected: { action: string; subject: string; from?: RegExp; who?: string },
    work: () => Promise<unknown>,
  ): Promise<Entry> {
    await work();
    const { action, subject, from = /^API, 127\.0\.0\.1, Deno\//, who = "owner" } = expected;
    const news = await this.news();
    assert.deepEqual(news.map((entry) => [entry.action, entry.subject, entry.who]), [
      [action, subject, who],
    ]);
    assert.match(news[0]!.from, from, action);
    return news[0]!;
  }

  async api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const { status, value } = await this.guarded.api(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(value)}`);
    return value;
  }

  /** Sends a form as a browser does that is logged in. */
  async submit(path: string, fields: Record<string, string>, cookie = ""): Promise<Response> {
    const { url } = this.guarded;
    const response = await fetch(url + path, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { origin: url, ...(cookie === "" ? {} : { cookie }) },
      redirect: "manual",
    });
    await response.body?.cancel();
    return response;
  }
}
