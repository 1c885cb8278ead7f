import { z } from "zod";
import type { AskGateway } from "./toolset_client.ts";

const Server = z.looseObject({ name: z.string(), state: z.string(), reason: z.string() });
const Outcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("done") }),
  z.object({ kind: z.literal("failed"), reason: z.string() }),
]);
const Started = z.object({
  login: z.object({
    attempt: z.string(),
    url: z.string(),
    issuer: z.string(),
    scopes: z.array(z.string()),
    expiresAt: z.number(),
  }),
});
const Standing = z.object({ server: Server, attempt: z.object({ outcome: Outcome.optional() }) });
const Ended = z.object({ server: z.string(), existed: z.boolean(), revoked: z.boolean() });

/** Logins to servers, through a running gateway. */
export class LoginClient {
  readonly #ask: AskGateway;

  constructor(ask: AskGateway) {
    this.#ask = ask;
  }

  async start(server: string, client: { clientId?: string; clientSecret?: string }) {
    return (await this.#ask(Started, "POST", path(server), client)).login;
  }

  /** How a login that was begun stands. */
  standing(server: string, attempt: string) {
    return this.#ask(Standing, "GET", `${path(server)}?${new URLSearchParams({ attempt })}`);
  }

  end(server: string) {
    return this.#ask(Ended, "DELETE", path(server));
  }
}

function path(server: string): string {
  return `/api/servers/${encodeURIComponent(server)}/login`;
}
