import { z } from "zod";
import { ConsentOrigin } from "../storage/consents_repository.ts";
import type { AskGateway } from "./toolset_client.ts";

const Consent = z.looseObject({
  id: z.string(),
  wish: z.enum(["add", "change"]),
  server: z.string(),
  argv: z.array(z.string()),
  variables: z.array(z.object({ name: z.string(), value: z.string().optional() })),
  secrets: z.array(z.string()),
  folder: z.string().optional(),
  origin: ConsentOrigin,
  who: z.string(),
  askedAt: z.number(),
  expiresAt: z.number(),
  problem: z.string().optional(),
});
export type Consent = z.infer<typeof Consent>;

const Approved = z.object({
  server: z.looseObject({
    name: z.string(),
    state: z.string(),
    reason: z.string(),
    toolCount: z.int(),
  }),
});

/** Programs that wait for consent, through a running gateway. */
export class ConsentClient {
  readonly #ask: AskGateway;

  constructor(ask: AskGateway) {
    this.#ask = ask;
  }

  async list(): Promise<Consent[]> {
    const { consents } = await this.#ask(
      z.object({ consents: z.array(Consent) }),
      "GET",
      "/api/consents",
    );
    return consents;
  }

  async approve(id: string) {
    return (await this.#ask(Approved, "POST", path(id), { decision: "approve" })).server;
  }

  /** Answers the name of the server that is not to be. */
  async refuse(id: string): Promise<string> {
    const answer = z.object({ refused: z.string() });
    return (await this.#ask(answer, "POST", path(id), { decision: "refuse" })).refused;
  }
}

function path(id: string): string {
  return `/api/consents/${encodeURIComponent(id)}`;
}
