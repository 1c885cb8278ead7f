import { z } from "zod";
import { ServerName, StdioServer } from "../core/server.ts";
import { Collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Stored } from "./record_reader.ts";
import { type BoxSource, hasSealed, openSpec, sealSpec } from "./sealed_spec.ts";
import type { Store } from "./store.ts";

/** Where a wish came from. */
export const ConsentOrigin = z.strictObject({
  via: z.enum(["mcp", "api", "console", "cli"]),
  principal: z.string().optional(),
  /** In words: an address, or a door and what the client calls itself. */
  from: z.string().optional(),
});
export type ConsentOrigin = z.infer<typeof ConsentOrigin>;

/** A program that somebody wants to have run. */
export const ConsentRequest = z.strictObject({
  /** Follows from what is wanted: the same wish has the same. */
  id: z.string().regex(/^[0-9a-f]{16}$/),
  wish: z.enum(["add", "change"]),
  name: ServerName,
  spec: StdioServer,
  origin: ConsentOrigin,
  /** In ms since the epoch. */
  askedAt: z.number(),
  expiresAt: z.number(),
});
export type ConsentRequest = z.infer<typeof ConsentRequest>;

/** As it is kept: what may be secret in the entry is sealed. */
const StoredConsent = ConsentRequest.extend({ sealed: z.literal(true).optional() });
type StoredConsent = z.infer<typeof StoredConsent>;

export interface FoundConsent {
  request: ConsentRequest;
  /** Why its entry cannot be opened; then it can only be refused. */
  problem?: string;
}

/** Programs that wait for their owner's consent. */
export class ConsentsRepository {
  readonly #records: Collection<StoredConsent>;
  readonly #box: BoxSource;

  constructor(store: Store, box: BoxSource) {
    this.#box = box;
    this.#records = new Collection(store, {
      noun: "request for consent",
      prefix: keys.consents(),
      key: keys.consent,
      schema: StoredConsent,
      idOf: ({ id }) => id,
    });
  }

  /** Those that have run out are gone, whoever asks. */
  async find(id: string, now: number): Promise<FoundConsent | undefined> {
    const found = await this.#records.find(id);
    if (found === undefined || found.value.expiresAt <= now) return undefined;
    return await this.#open(found);
  }

  /** The oldest first. */
  async list(now: number): Promise<FoundConsent[]> {
    const found: FoundConsent[] = [];
    for await (const record of this.#records.list()) {
      if (record.value.expiresAt > now) found.push(await this.#open(record));
    }
    return found.sort((a, b) => a.request.askedAt - b.request.askedAt);
  }

  /** How many wait; none of them is opened. */
  async count(now: number): Promise<number> {
    let count = 0;
    for await (const { value } of this.#records.list()) if (value.expiresAt > now) count++;
    return count;
  }

  /** Keeps one that is not there yet, and lets go of what has run out. */
  async add(request: ConsentRequest, now: number): Promise<void> {
    for await (const { value } of this.#records.list()) {
      if (value.expiresAt <= now) await this.#records.delete(value.id);
    }
    const sealed = await sealSpec(request.name, request.spec, this.#box);
    const spec = StdioServer.parse(sealed);
    await this.#records.save(
      { ...request, spec, ...(hasSealed(spec) ? { sealed: true as const } : {}) },
      null,
    );
  }

  delete(id: string): Promise<void> {
    return this.#records.delete(id);
  }

  async #open({ value }: Stored<StoredConsent>): Promise<FoundConsent> {
    const { sealed: _, ...request } = value;
    const { spec, problem } = await openSpec(request.name, request.spec, this.#box);
    return {
      request: { ...request, spec: StdioServer.parse(spec) },
      ...(problem === undefined ? {} : { problem }),
    };
  }
}
