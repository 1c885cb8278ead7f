import type { Access } from "../auth/access.ts";
import { insufficientScope, isOAuthPrincipal } from "../auth/oauth_scopes.ts";
import { RightMissing } from "../auth/grants.ts";
import type { CatalogModule } from "../catalog/module.ts";
import type { ToolsetsModule } from "../catalog/toolsets/module.ts";
import type { Toolsets } from "../catalog/toolsets/toolsets.ts";
import { GatewayError } from "../core/errors.ts";
import { DeferredWork, TimeoutQueue } from "../core/async.ts";
import { EVERYONE, ownerOf } from "../core/access.ts";
import type { Toolset } from "../core/tool.ts";
import { type EndpointPath, parseEndpoint } from "../http/endpoint_path.ts";
import type { HttpRequest } from "../http/exchange.ts";
import { BODY_MS } from "../http/request_body.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { ServerPool } from "../servers/pool.ts";
import { OfferedListsRepository } from "../storage/servers_repository.ts";
import { SessionsRepository } from "../storage/access_repositories.ts";
import type { Mailbox } from "../storage/mailbox.ts";
import type { Store } from "../storage/store.ts";
import type { AnsweredCall, CallRecord } from "../telemetry/call_recorder.ts";
import type { Logs } from "../telemetry/logs.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ContentGuard } from "../trust/content_guard/guard.ts";
import type { CallPolicy } from "./call.ts";
import { callCounter, CallLog } from "./call_log.ts";
import { Clients } from "./clients.ts";
import type { CombinedPath, CombinedViews, GatewayTools } from "./combined_views.ts";
import type { ContentScreen } from "./content_screen.ts";
import { handleMcp } from "./endpoint.ts";
import type { AnsweredRequest, EndpointHost, McpEndpoint, Visit } from "./endpoint_host.ts";
import { EnvelopeReader } from "./envelope.ts";
import { HeldCalls } from "./held_calls.ts";
import { ListChanges } from "./list_changes.ts";
import { OfferedLists } from "./offered_lists.ts";
import { looksFailed } from "./protocol.ts";
import { ServerView } from "./server_view.ts";
import { type Session, Sessions, type SessionUse } from "./session.ts";
import { SessionPeers } from "./session_peers.ts";
import type { Discovery } from "./discovery.ts";
import { savedTokens } from "./token_account.ts";
import { peerOf } from "../http/request_origin.ts";
import { hasForwardedHeader, isForwarded, refuseForwarded } from "../http/guard.ts";

export interface McpModuleOptions
  extends
    Discovery,
    Pick<CatalogModule, "catalog" | "names" | "tokens">,
    Pick<ToolsetsModule, "toolsets" | "availability" | "onPromptCollisions"> {
  store: Store;
  pool: ServerPool;
  /** The toolset that a caller has equipped, if it may see it. */
  equippedBy(principal: string): Toolset | undefined;
  /** The gateway's own tools; loaded with the first view that shows or calls them. */
  loadTools(): Promise<GatewayTools>;
  isOptimizing(): boolean;
  access: Access;
  policy?: CallPolicy | undefined;
  screen?: ContentScreen | undefined;
  /** The same over the servers' own descriptions; opened when it is first asked for. */
  openCanonical?(): CanonicalParts;
  guard?: ContentGuard | undefined;
  /** A server lists these tools to clients with this offer (lib/catalog/listed_to.ts). */
  onOfferedTools(server: string, offer: string, tools: string[]): Promise<void>;
  onListCheck(): void;
  onSessions(): void;
  onToolCall(call: AnsweredCall): void;
  /** A session has ended, or its client was away for long. */
  onSessionEnd?(session: Session): void;
  logs: Logs;
  metrics: Metrics;
  maxBody: number;
  /** The time after which a slow call becomes a task; 0 for never. */
  taskAfterMs?: number | undefined;
  signal: AbortSignal;
  /** The same for all gateways on the store, and after a restart. */
  gatewayId?: string | undefined;
  /** Reaches the other gateways on the store. */
  mailbox?: Mailbox | undefined;
  /** Built for one command: sessions of other processes are left alone. */
  isCommand?: boolean;
  onWarning(message: string, details?: object): void;
}

/** What shows the servers' own descriptions, whatever is promoted. */
export interface CanonicalParts
  extends AsyncDisposable, Pick<McpModuleOptions, "catalog" | "toolDirectory"> {
  toolsets: Pick<Toolsets, "find" | "resolve" | "registered">;
}

type ServerPath = EndpointPath & { kind: "server" };

/** A response that takes longer comes on a stream, which a client that lost it can resume. */
const PATIENCE_MS = 50;
const PRUNE_EVERY_MS = 60 * 60_000;

/** The MCP endpoints: their sessions, their views, and what happens to each request. */
export class McpModule implements AsyncDisposable {
  readonly sessions: Sessions;
  readonly clients: Clients;
  /** What all endpoints share, for an endpoint that does not listen on HTTP. */
  readonly host: EndpointHost;
  readonly #options: McpModuleOptions;
  readonly #stack = new AsyncDisposableStack();
  readonly #changes: ListChanges;
  readonly #offered: OfferedLists;
  /** One endpoint per naming; they go with their server. */
  readonly #serverEndpoints = new WeakMap<ManagedServer, Map<string, McpEndpoint>>();
  /** With promoted descriptions, and without. */
  readonly #combined: { shown?: CombinedViews; canonical?: CombinedViews } = {};
  readonly #combining: { shown?: Promise<CombinedViews>; canonical?: Promise<CombinedViews> } = {};
  #canonical: CanonicalParts | undefined;
  readonly #later: DeferredWork;
  #answered = 0;

  constructor(options: McpModuleOptions) {
    this.#options = options;
    const { toolsets, catalog, onWarning, signal, onOfferedTools: onListed } = options;
    const lists = new OfferedListsRepository(options.store);
    this.#offered = this.#stack.use(
      new OfferedLists({ catalog, onListed, records: lists, onWarning, signal }),
    );
    const records = new SessionsRepository(options.store);
    this.sessions = this.#stack.use(
      new Sessions({
        records,
        questionPrefix: options.mailbox && SessionPeers.prefixOf(options.mailbox),
        onWarning,
        onChange: () => options.onSessions(),
        onRevived: (session) => this.host.peers?.revived(session),
        onEnd: (session) => {
          this.clients.noteEnded(session);
          // After its calls, which are recorded a moment later.
          this.#later.add(() => options.onSessionEnd?.(session));
        },
      }),
    );
    this.clients = new Clients({
      sessions: this.sessions,
      tokens: options.tokens,
      nameOf: (principal) => options.access.nameOf(principal),
    });
    if (!options.isCommand) this.#pruneRecords(records);
    // Otherwise a listening client would delay a stop to its limit.
    options.signal.addEventListener("abort", () => {
      for (const session of this.sessions.list()) session.stopListening();
    });
    this.#changes = this.#stack.use(
      new ListChanges({
        sessions: () => this.sessions.list().flatMap((session) => [...session.listeners()]),
        onCheck: () => options.onListCheck(),
      }),
    );
    this.#later = this.#stack.use(
      new DeferredWork((error) => onWarning("Cannot write a call to the activity log", { error })),
    );
    this.host = this.#openHost();
    this.#stack.defer(toolsets.onChange(({ toolsets: changed }) => {
      this.#changes.check();
      for (const name of changed) {
        if (toolsets.find(name)) continue;
        for (const views of Object.values(this.#combined)) views.forgetToolset(name);
        this.#endSessions(({ endpoint }) => endpoint.startsWith(`toolsets/${name}?`));
      }
    }));
    this.#stack.defer(catalog.onChange(() => this.#changes.check()));
  }

  get answered(): number {
    return this.#answered;
  }

  /** Writes calls to the log and the metrics that were answered a moment ago. */
  settle(): void {
    this.#later.run();
  }

  /** Answers at an MCP endpoint; undefined if there is none at the path. */
  find(request: HttpRequest, info?: Deno.ServeHandlerInfo): (() => Promise<Response>) | undefined {
    const path = parseEndpoint(request.url);
    if (!path) return undefined;
    return () => {
      const token = request.headers.get("authorization");
      const caller = this.#options.access.identify(token, {
        project: path.project,
        url: request.url,
        place: () => peerOf(info),
      });
      return typeof caller === "string"
        ? this.#enter(path, { request, principal: caller, info })
        : caller.then((principal) => this.#enter(path, { request, principal, info }));
    };
  }

  /** Opens the endpoint at a path, again at each call, for a client that does not use HTTP. */
  async opener(url: string): Promise<() => McpEndpoint> {
    const path = parseEndpoint(`http://localhost${url}`);
    if (!path) {
      throw new GatewayError("NOT_FOUND", { message: `There is no endpoint at ${url}` });
    }
    if (path.kind === "server") return () => this.#openServer(path);
    const combined = await this.#loadCombined(path);
    return () => combined.open(path);
  }

  /** How many of the gateway's own tools a client at the default endpoint is listed. */
  async countBuiltins(principal: string): Promise<number> {
    const path = { kind: "default", expose: "default", naming: undefined } as const;
    return (await this.#loadCombined(path)).countBuiltins(principal);
  }

  /** Servers were added or removed: clients' lists may have changed. */
  recheck(): void {
    this.#options.toolsets.recheck();
    this.#changes.check();
  }

  /** A server was removed for good: its clients' sessions lead nowhere. */
  removed(server: string): void {
    this.#endSessions(({ endpoint }) => endpoint.startsWith(`servers/${server}?`));
    this.recheck();
  }

  /** Ends the sessions of callers whose rights ended; the lists of others may have changed. */
  rightsChanged(owners: ReadonlySet<string>): void {
    const { access, onWarning } = this.#options;
    this.#endSessions(({ endpoint, principal, key }) => {
      const owner = ownerOf(principal);
      if (!owners.has(owner)) return false;
      const server = /^servers\/(.*)\?/.exec(endpoint)?.[1];
      return !access.isValid(owner) ||
        // One with a key belongs to one token only.
        (key !== undefined && !access.isValid(principal)) ||
        // If one of a person's tokens has ended, another may continue the session.
        (server !== undefined && access.isValid(principal) &&
          !access.admitsServer(principal, server));
    });
    for (const session of this.sessions.list()) {
      if (!owners.has(ownerOf(session.principal))) continue;
      session.release((opener) => !access.isValid(opener)).catch((error) =>
        onWarning("Cannot close the connections a session opened with a revoked or expired token", {
          error,
        })
      );
    }
    this.#changes.check();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  #openHost(): EndpointHost {
    const { access, policy, logs, maxBody, metrics, account } = this.#options;
    const { gatewayId, mailbox, taskAfterMs, onWarning } = this.#options;
    metrics.gauge("quartermaster_sessions", () => this.sessions.size);
    const count = requestCounter(metrics);
    const countCall = callCounter(metrics);
    metrics.gauge("quartermaster_session_tokens", () => {
      const { baseline, listed, answered } = account.total;
      const saved = savedTokens(account.total);
      return Object.entries({ baseline, listed, answered, saved })
        .map(([kind, tokens]) => [{ kind }, tokens]);
    });
    return {
      sessions: this.sessions,
      held: this.#stack.use(new HeldCalls({ gatewayId, mailbox, taskAfterMs })),
      peers: mailbox && new SessionPeers({ mailbox, sessions: this.sessions, onWarning }),
      envelopes: new EnvelopeReader(),
      maxBody,
      log: logs.module("http"),
      calls: new CallLog(logs.module("http")),
      patience: this.#stack.use(new TimeoutQueue(PATIENCE_MS)),
      bodies: this.#stack.use(new TimeoutQueue(BODY_MS)),
      countRequest: policy?.countRequest?.bind(policy),
      onAnswered: (answered) => {
        this.#answered++;
        // The client already has its response; so the log's time may be a moment late.
        this.#later.add(() => {
          const isError = count(answered);
          const { call, request, principal, session, answer } = answered;
          if (!call) return;
          countUse(session.use, call, isError);
          countCall(call, isError, answer.ms);
          const response = { ...answer, isError };
          this.#options.onToolCall({ call, request, principal, session, answer: response });
        });
      },
      switchProject: (principal, project) => access.switchProject(principal, project),
      checkNewcomer({ request, principal }) {
        if (ownerOf(principal) === EVERYONE) refuseForwarded(request);
      },
      stepUp(principal, error) {
        if (!(error instanceof RightMissing) || !isOAuthPrincipal(principal)) return undefined;
        return insufficientScope(access.grants(principal).rights, error.right);
      },
    };
  }

  #enter(path: EndpointPath, visit: Omit<Visit, "endpoint">): Promise<Response> {
    const { request, principal } = visit;
    // With each request: a local session's id grants no access through a proxy.
    if (principal === EVERYONE || ownerOf(principal) === EVERYONE) {
      refuseForwarded(request, request.method === "POST" ? hasForwardedHeader : isForwarded);
    }
    this.#checkVisible(path, principal);
    const endpoint = this.#open(path);
    return endpoint instanceof Promise
      ? endpoint.then((endpoint) => handleMcp(this.host, { ...visit, endpoint }))
      : handleMcp(this.host, { ...visit, endpoint });
  }

  /** A caller gets the same error for what it may not see as for what does not exist. */
  #checkVisible(path: EndpointPath, principal: string): void {
    if (principal === EVERYONE) return;
    const { pool, toolsets, access } = this.#options;
    if (path.kind === "server") {
      const { server } = path;
      if (pool.find(server) && access.admitsServer(principal, server)) return;
      throw new GatewayError("SERVER_NOT_FOUND", { message: `There is no server "${server}"` });
    }
    if (path.kind === "toolset") {
      const { toolset } = path;
      const found = toolsets.find(toolset);
      if (found && access.admitsToolset(principal, toolset, found.tools)) return;
      throw new GatewayError("NOT_FOUND", { message: `There is no toolset "${toolset}"` });
    }
  }

  /** Synchronous where possible: most calls are made at a server's endpoint. */
  #open(path: EndpointPath): McpEndpoint | Promise<McpEndpoint> {
    if (path.kind === "server") return this.#openServer(path);
    const known = this.#combined[path.isCanonical ? "canonical" : "shown"];
    if (known?.isReady(path)) return openCombined(known, path);
    return this.#loadCombined(path).then((combined) => openCombined(combined, path));
  }

  #partsOf(
    isCanonical = false,
  ): Omit<McpModuleOptions, "toolsets"> & Pick<CanonicalParts, "toolsets"> {
    const { openCanonical } = this.#options;
    if (!isCanonical || !openCanonical) return this.#options;
    if (!this.#canonical) {
      this.#canonical = this.#stack.use(openCanonical());
      this.#stack.defer(this.#canonical.catalog.onChange(() => this.#changes.check()));
    }
    return { ...this.#options, ...this.#canonical };
  }

  #openServer({ server: name, naming, isCanonical }: ServerPath): McpEndpoint {
    const server = this.#options.pool.resolve(name);
    let endpoints = this.#serverEndpoints.get(server);
    if (!endpoints) this.#serverEndpoints.set(server, endpoints = new Map());
    const variant = isCanonical ? `${naming}&canonical` : naming;
    let endpoint = endpoints.get(variant);
    if (!endpoint) {
      const rights = this.#options.access;
      const onListChange = () => this.#changes.check();
      const view = new ServerView({
        ...this.#partsOf(isCanonical),
        server,
        naming,
        rights,
        onListChange,
        offered: this.#offered,
      });
      endpoint = { key: `servers/${server.name}?${variant}`, server: server.name, view };
      endpoints.set(variant, endpoint);
    }
    return endpoint;
  }

  /** Loaded on first use: clients at servers' own endpoints do not need them. */
  async #loadCombined(path: CombinedPath): Promise<CombinedViews> {
    const variant = path.isCanonical ? "canonical" : "shown";
    const combined = await (this.#combining[variant] ??= this.#makeCombined(path.isCanonical));
    await combined.prepare(path);
    return this.#combined[variant] = combined;
  }

  async #makeCombined(isCanonical: boolean | undefined): Promise<CombinedViews> {
    const [{ CombinedViews }, tools] = await Promise.all([
      import("./combined_views.ts"),
      this.#options.loadTools(),
    ]);
    const parts = this.#partsOf(isCanonical);
    const settle = () => this.settle();
    return new CombinedViews({ ...parts, tools, offered: this.#offered, settle });
  }

  #endSessions(isMeant: (session: Session) => boolean): void {
    const { onWarning } = this.#options;
    for (const session of this.sessions.list().filter(isMeant)) {
      this.sessions.end(session)
        .catch((error) => onWarning("Cannot end a session cleanly", { error }));
    }
  }

  #pruneRecords(records: SessionsRepository): void {
    const { onWarning } = this.#options;
    const prune = () =>
      records.prune().catch((error) => onWarning("Cannot remove old sessions", { error }));
    let pruning = prune();
    const timer = setInterval(() => pruning = prune(), PRUNE_EVERY_MS);
    this.#stack.defer(async () => {
      clearInterval(timer);
      await pruning;
    });
  }
}

/** Sessions of both kinds are told apart. */
function openCombined(views: CombinedViews, path: CombinedPath): McpEndpoint {
  const endpoint = views.open(path);
  return path.isCanonical ? { ...endpoint, key: `${endpoint.key}&canonical` } : endpoint;
}

function countUse(use: SessionUse, { server, tool, search }: CallRecord, isError: boolean): void {
  if (search) {
    use.searches++;
    return;
  }
  use.calls++;
  if (isError) use.errors++;
  use.lastCall = { server, tool, at: Date.now(), ok: !isError };
}

/** Methods counted by name: a client may send any text as a method. */
const METHODS = [
  "completion/complete",
  "logging/setLevel",
  "ping",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "resources/templates/list",
  "resources/unsubscribe",
  "tools/call",
  "tools/list",
];

/** Counts requests by method; returns whether one failed. */
function requestCounter(metrics: Metrics): (answered: AnsweredRequest) => boolean {
  const labelsOf = (method: string) => ({
    ok: Object.freeze({ method, outcome: "ok" }),
    error: Object.freeze({ method, outcome: "error" }),
  });
  const labels = new Map(METHODS.map((method) => [method, labelsOf(method)]));
  const otherLabels = labelsOf("other");
  const count = metrics.counter("quartermaster_mcp_requests_total");
  const time = metrics.durations("quartermaster_mcp_request_seconds");
  return ({ method, answer }) => {
    const { ok, error } = labels.get(method) ?? otherLabels;
    const isError = looksFailed(answer.text);
    count(isError ? error : ok);
    time(answer.ms / 1000);
    return isError;
  };
}
