import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { ToolTokens } from "../catalog/tool_tokens.ts";
import { type SentTokens, toolLimitOf } from "../core/client.ts";
import { defined } from "../core/defined.ts";
import { shortened } from "../core/text.ts";
import { sessionMark } from "../telemetry/call_recorder.ts";
import type { Session, Sessions, SessionUse } from "./session.ts";

/** A client that is connected, or was within the last hour. */
export interface ConnectedClient extends SessionUse {
  /** Its session's mark, which the activity log has too; the session's id stays secret. */
  id: string;
  name: string;
  version?: string;
  protocolVersion: string;
  transport: "http" | "stdio";
  /** The key of its endpoint and view: `mcp?default`. */
  endpoint: string;
  /** The address it connected from. */
  from?: string;
  /** The name of its token. */
  principal: string;
  lastSeenAt: number;
  /** When its last connection closed. It may have quit without ending its session. */
  idleSince?: number;
  /** What its model was sent since it connected. */
  sent: SentTokens;
  /** When it disconnected. */
  endedAt?: number;
}

/** The tools listed to a client's model now. */
export interface ClientListing {
  tools: number;
  tokens: number;
  /** By server, the most expensive first; the part without a server is the gateway's own tools. */
  parts: { server?: string; tools: number; tokens: number }[];
  /** How many tools the client takes, if that is documented. */
  limit?: number;
}

/** The tools of a list, before they are written. */
export interface ListedTools {
  /** The gateway's own tools, as they are listed. */
  builtins: readonly string[];
  tools: readonly CatalogTool[];
}

interface ClientsOptions {
  sessions: Pick<Sessions, "list" | "end">;
  tokens: Pick<ToolTokens, "count" | "prepare" | "of">;
  nameOf(principal: string): string;
  now?: () => number;
}

const NAME_LENGTH = 80;
const KEPT_ENDED = 100;
const KEPT_MS = 60 * 60_000;

/** Who is connected, what it does, and what its model is listed; computed when it is asked for. */
export class Clients {
  readonly #options: ClientsOptions;
  readonly #now: () => number;
  /** The newest first. A call may be counted after its session ends, so `use` is not copied. */
  #ended: { client: ConnectedClient; use: SessionUse }[] = [];

  constructor(options: ClientsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** The connected ones, last seen first, then those that disconnected. */
  list(): ConnectedClient[] {
    const connected = this.#options.sessions.list().map((session) => this.#describe(session))
      .sort((a, b) => b.lastSeenAt - a.lastSeenAt);
    // A session that was idle for long is dropped, and is back when its client is.
    const ids = new Set(connected.map(({ id }) => id));
    const since = this.#now() - KEPT_MS;
    this.#ended = this.#ended.filter(({ client: { id, endedAt = 0 } }) =>
      endedAt > since && !ids.has(id)
    );
    return [...connected, ...this.#ended.map(({ client, use }) => ({ ...client, ...use }))];
  }

  /** The listings of connected clients, by their ids. */
  async listings(): Promise<Map<string, ClientListing>> {
    const known = new Map<string, Promise<ClientListing>>();
    const listings = this.#options.sessions.list().map(async (session) => {
      const key = `${session.endpoint} ${session.principal}`;
      const listing = known.get(key) ?? this.#measure(session);
      known.set(key, listing);
      const limit = toolLimitOf(session.profile);
      return [sessionMark(session), { ...await listing, ...defined({ limit }) }] as const;
    });
    return new Map(await Promise.all(listings));
  }

  /** Ends a client's session; undefined if there is none with this id. */
  async disconnect(id: string): Promise<ConnectedClient | undefined> {
    const { sessions } = this.#options;
    const session = sessions.list().find((session) => sessionMark(session) === id);
    if (!session) return undefined;
    const client = this.#describe(session);
    await sessions.end(session);
    return client;
  }

  noteEnded(session: Session): void {
    const client = { ...this.#describe(session), endedAt: this.#now() };
    this.#ended = [{ client, use: session.use }, ...this.#ended].slice(0, KEPT_ENDED);
  }

  #describe(session: Session): ConnectedClient {
    const { profile, endpoint, from, principal, use, lastSeenAt, sent } = session;
    const { name, version } = profile.clientInfo ?? {};
    return {
      id: sessionMark(session),
      name: textOf(name) ?? "unknown",
      ...defined({ version: textOf(version) }),
      protocolVersion: profile.protocolVersion,
      transport: from === "stdio" ? "stdio" : "http",
      endpoint,
      ...defined({ from: from === "stdio" ? undefined : from }),
      principal: this.#options.nameOf(principal),
      lastSeenAt,
      ...defined({ idleSince: session.idleMs(this.#now()) > 0 ? lastSeenAt : undefined }),
      sent: { ...sent },
      ...use,
    };
  }

  async #measure({ view }: Session): Promise<ClientListing> {
    const { tokens } = this.#options;
    const { builtins, tools } = view.listed?.() ?? { builtins: [], tools: [] };
    const [counts] = await Promise.all([tokens.count(builtins), tokens.prepare(tools)]);
    const servers = Map.groupBy(tools, ({ server }) => server);
    const own = { tools: builtins.length, tokens: sum(counts) };
    const parts = [
      ...(builtins.length === 0 ? [] : [own]),
      ...Array.from(servers, ([server, tools]) => ({
        server,
        tools: tools.length,
        tokens: sum(tools.map((tool) => tokens.of(tool))),
      })),
    ].sort((a, b) => b.tokens - a.tokens);
    return {
      tools: builtins.length + tools.length,
      tokens: sum(parts.map((part) => part.tokens)),
      parts,
    };
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? shortened(value, NAME_LENGTH) : undefined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
