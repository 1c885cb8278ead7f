import * as z from "zod";
import { ProgramServer, RemoteServer, ServerName } from "../core/server.ts";
import { collection } from "./collection.ts";
import { keys } from "./keys.ts";
import { openEntry, sealedMark, SealedRepository, sealEntry } from "./sealing.ts";

export const ConsentOrigin = z.strictObject({
  via: z.enum(["mcp", "api", "console", "cli"]),
  principal: z.string().optional(),
  /** In words: an address, or an endpoint and what the client calls itself. */
  from: z.string().optional(),
});
export type ConsentOrigin = z.infer<typeof ConsentOrigin>;

/** A program to run, or a server on this machine to connect to. */
export const ConsentSpec = z.discriminatedUnion("type", [ProgramServer, RemoteServer]);
export type ConsentSpec = z.infer<typeof ConsentSpec>;

export const ConsentRequest = z.strictObject({
  /** Follows from what is wanted: the same wish has the same. */
  id: z.string().regex(/^[0-9a-f]{16}$/),
  wish: z.enum(["add", "change"]),
  name: ServerName,
  spec: ConsentSpec,
  origin: ConsentOrigin,
  askedAt: z.number(),
  expiresAt: z.number(),
});
export type ConsentRequest = z.infer<typeof ConsentRequest>;

/** What a person sees of a request. */
export const ConsentView = z.object({
  ...ConsentRequest.pick({ id: true, wish: true, origin: true }).shape,
  server: z.string(),
  argv: z.array(z.string()).describe("The program and its arguments; empty for a URL"),
  url: z.string().optional(),
  // Values may be secret: only those that can change what runs are shown.
  variables: z.array(z.object({ name: z.string(), value: z.string().optional() })),
  secrets: z.array(z.string()).describe("Names of the secrets it would receive"),
  folder: z.string().optional(),
  isolation: z.string().optional().describe("How the program is isolated; without it, not at all"),
  askedAt: z.number(),
  expiresAt: z.number(),
  problem: z.string().optional().describe("Why it can only be refused"),
});
export type ConsentView = z.infer<typeof ConsentView>;

const StoredConsent = ConsentRequest.extend(sealedMark);

const StoredConsents = collection({
  noun: "consent request",
  key: keys.consents,
  schema: StoredConsent,
  idOf: ({ id }) => id,
});

export interface FoundConsent {
  request: ConsentRequest;
  /** Why its entry cannot be opened; then it can only be refused. */
  problem?: string;
}

export class ConsentsRepository extends SealedRepository {
  readonly #records = new StoredConsents(this.store);

  /** Those that have run out are gone, whoever asks. */
  async find(id: string, now: number): Promise<FoundConsent | undefined> {
    const found = await this.#records.find(id);
    if (found === undefined || found.value.expiresAt <= now) return undefined;
    return await this.#open(found.value);
  }

  async list(now: number): Promise<FoundConsent[]> {
    const open = (await this.#records.values()).filter(({ expiresAt }) => expiresAt > now);
    const found = await Promise.all(open.map((stored) => this.#open(stored)));
    return found.sort((a, b) => a.request.askedAt - b.request.askedAt);
  }

  /** How many wait; none of them is opened. */
  async count(now: number): Promise<number> {
    return (await this.#records.values()).filter(({ expiresAt }) => expiresAt > now).length;
  }

  /** Keeps one that is not there yet, and lets go of what has run out. */
  async add(request: ConsentRequest, now: number): Promise<void> {
    for await (const { value } of this.#records.list()) {
      if (value.expiresAt <= now) await this.#records.delete(value.id);
    }
    const sealed = await sealEntry(request, this.box);
    await this.#records.save({ ...sealed, spec: ConsentSpec.parse(sealed.spec) });
  }

  delete(id: string): Promise<void> {
    return this.#records.delete(id);
  }

  async #open(stored: z.infer<typeof StoredConsent>): Promise<FoundConsent> {
    const { entry, ...rest } = await openEntry(stored, this.box);
    return { request: { ...entry, spec: ConsentSpec.parse(entry.spec) }, ...rest };
  }
}
