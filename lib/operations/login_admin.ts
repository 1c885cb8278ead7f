import * as z from "zod";
import type { OnAudit } from "../core/access.ts";
import { defined } from "../core/defined.ts";
import { errorMessage, GatewayError } from "../core/errors.ts";
import { isRemote, type ServerSpec, type ServerStatus } from "../core/server.ts";
import {
  addressMark,
  FinishFailed,
  hasOwnAuthorization,
  type Logins,
} from "../servers/oauth/server_login.ts";
import type { LoginFlow, LoginTarget, StartedLogin } from "../servers/oauth/login_flow.ts";
import type { ServerPool } from "../servers/pool.ts";
import { abortable } from "../core/async.ts";
import type { LoginsRepository } from "../storage/logins_repository.ts";

/** Several machines are asked one after the other, each with a limit of its own. */
const START_MS = 45_000;
const FINISH_MS = 30_000;
const REVOKE_MS = 10_000;
/** A server that takes longer to connect is shown as connecting. */
const CONNECT_MS = 10_000;

interface LoginAdminOptions {
  pool: ServerPool;
  logins: Logins;
  repository: LoginsRepository;
  /** Undefined where nobody can be sent back to this gateway. */
  flow: LoginFlow | undefined;
  /** An entry with the secrets it refers to. */
  fill(spec: ServerSpec): Promise<ServerSpec>;
  /** Loads the stored logins. */
  reload(): Promise<void>;
  onAudit?: OnAudit | undefined;
}

/** The login to a server as people see it. */
export const LoginView = z.object({
  issuer: z.string(),
  clientId: z.string(),
  clientOrigin: z.enum(["given", "registered", "document"]),
  scopes: z.array(z.string()),
  loggedInAt: z.number(),
  expiresAt: z.number().optional(),
  isActive: z.boolean().describe("Whether the login can be used; if not, `trouble` may say why"),
  trouble: z.string().optional(),
});
export type LoginView = z.infer<typeof LoginView>;

/** A login that was begun. */
export const AttemptView = z.object({
  server: z.string(),
  url: z.string().exactOptional().describe(
    "URL to log in at; missing once the person has returned",
  ),
  issuer: z.string().exactOptional(),
  scopes: z.array(z.string()).exactOptional(),
  expiresAt: z.number(),
  outcome: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("done") }),
    z.object({ kind: z.literal("failed"), reason: z.string() }),
  ]).exactOptional(),
});
export type AttemptView = z.infer<typeof AttemptView>;

/** What a person can do about the login to a server; console and CLI come through here. */
export class LoginAdmin {
  readonly #options: LoginAdminOptions;

  constructor(options: LoginAdminOptions) {
    this.#options = options;
  }

  async describe(name: string): Promise<LoginView | undefined> {
    this.#options.pool.resolve(name);
    const outline = await this.#options.repository.findOutline(name);
    return outline && LoginView.parse({ ...outline, isActive: outline.hasTokens });
  }

  /** Why a login makes no sense here, in words. */
  refusal(name: string): string | undefined {
    const { spec } = this.#options.pool.resolve(name).server;
    if (!isRemote(spec)) return `server "${name}" does not use HTTP`;
    if (hasOwnAuthorization(spec)) {
      return `the entry of "${name}" already has an Authorization header; remove it first`;
    }
    if (this.#options.flow === undefined) {
      return "this gateway has no URL that an authorization server could redirect you to";
    }
  }

  /** Finds out where to log in; the rest is up to a person with a browser. */
  async start(
    name: string,
    client?: { id: string; secret?: string | undefined },
  ): Promise<StartedLogin> {
    const refusal = this.refusal(name);
    const { spec, source } = this.#options.pool.resolve(name).server;
    const { flow } = this.#options;
    if (refusal !== undefined || flow === undefined || !isRemote(spec)) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: `Cannot log in to "${name}": ${refusal}`,
      });
    }
    const filled = await this.#options.fill(spec).catch((error) => {
      throw new GatewayError("LOGIN_FAILED", {
        message: `Cannot log in to "${name}": ${errorMessage(error)}`,
        cause: error,
      });
    });
    const { url, headers } = isRemote(filled) ? filled : spec;
    const target: LoginTarget = {
      name,
      url,
      headers,
      mark: addressMark(spec.url),
      isAdded: source.kind === "store",
    };
    const wanted = { client, scope: this.#options.logins.wantedScope(name) };
    const started = await withLimit(START_MS, (signal) => flow.start(target, wanted, signal));
    const { issuer, scopes } = started;
    this.#note("login.start", name, { issuer, scopes });
    return started;
  }

  /** Reads the answer of an authorization server, and connects with what it gave. */
  async finish(
    answer: URLSearchParams,
  ): Promise<{ server: ServerStatus } | { failed: string; error: unknown }> {
    const { flow, pool } = this.#options;
    if (flow === undefined) throw new GatewayError("NOT_FOUND");
    const isStillAt = (name: string, mark: string) => {
      const spec = pool.find(name)?.server.spec;
      return spec !== undefined && isRemote(spec) && addressMark(spec.url) === mark;
    };
    let server: string;
    try {
      ({ server } = await withLimit(FINISH_MS, (signal) => flow.finish(answer, isStillAt, signal)));
    } catch (error) {
      if (!(error instanceof FinishFailed)) throw error;
      this.#note("login.fail", error.server, { reason: error.message });
      return { failed: error.server, error: error.cause };
    }
    const login = await this.describe(server);
    this.#note("login.finish", server, {
      issuer: login?.issuer,
      clientId: login?.clientId,
      scopes: login?.scopes,
    });
    await this.#options.reload();
    const connecting = pool.resolve(server);
    await withLimit(CONNECT_MS, (signal) => abortable(connecting.restart(), signal))
      .catch(() => {});
    return { server: connecting.status };
  }

  /** How a login that was begun stands; undefined where it has run out. */
  async attempt(name: string, id: string): Promise<AttemptView | undefined> {
    const found = await this.#options.flow?.findAttempt(id);
    if (found === undefined || found.server !== name) return undefined;
    const { server, expiresAt, waiting, outcome } = found;
    const { issuer, scopes } = waiting?.prepared ?? {};
    return {
      server,
      expiresAt,
      ...defined({ outcome, url: waiting?.authorizeUrl, issuer, scopes }),
    };
  }

  async logout(name: string): Promise<{ existed: boolean; revoked: boolean }> {
    this.#options.pool.resolve(name);
    const ended = await this.end(name);
    if (ended.existed) this.#note("login.end", name, { revoked: ended.revoked });
    await this.#options.reload();
    return ended;
  }

  /** Forgets the login of a server, which may be gone itself. */
  async end(name: string): Promise<{ existed: boolean; revoked: boolean }> {
    const { flow, repository } = this.#options;
    if (flow) return await withLimit(REVOKE_MS, (signal) => flow.end(name, signal));
    const existed = await repository.findOutline(name) !== undefined;
    await repository.delete(name);
    return { existed, revoked: false };
  }

  #note(action: string, subject: string, after: unknown): void {
    this.#options.onAudit?.({ action, subject, after });
  }
}

async function withLimit<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new GatewayError("TIMEOUT")), ms);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
  }
}
