import type { Catalog } from "./catalog/catalog.ts";
import { Later } from "./core/later.ts";
import { GatewayError } from "./core/errors.ts";
import { notificationText } from "./core/rpc.ts";
import { TimeoutQueue } from "./core/timeout_queue.ts";
import type { ManagedServer } from "./downstream/managed_server.ts";
import type { ServerPool } from "./downstream/server_pool.ts";
import {
  type CallAnswer,
  type Door,
  type DoorHost,
  handleMcp,
  type Visit,
} from "./http/mcp_door.ts";
import type { Access } from "./auth/access.ts";
import { isForeign, rightMissing } from "./auth/foreign_scopes.ts";
import { RightMissing } from "./auth/refusals.ts";
import { EVERYONE, ownerOf, projectOf } from "./core/principal.ts";
import type { CallGate } from "./surfaces/call_gate.ts";
import type { KeptTexts } from "./surfaces/kept_texts.ts";
import { type DoorPath, parseDoor } from "./http/door_path.ts";
import { isForwarded, isPlainlyForwarded, refuseGuest } from "./http/from_here.ts";
import { BODY_MS } from "./http/guard.ts";
import { looksFailed } from "./http/protocol.ts";
import type { Naming } from "./routing/names.ts";
import type { OnPromptCollisions } from "./routing/prompt_collisions.ts";
import { SessionManager } from "./sessions/session_manager.ts";
import { SessionsRepository } from "./storage/sessions_repository.ts";
import type { Store } from "./storage/store.ts";
import { ServerSurface } from "./surfaces/server_surface.ts";
import type { ServersAdmin } from "./surfaces/servers_admin.ts";
import type { Logs } from "./telemetry/logs.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import type { NameTables } from "./routing/name_table.ts";
import type { Toolsets } from "./toolsets/toolsets.ts";
import type { Availability } from "./toolsets/toolset_state.ts";
import type { Combined } from "./compose_combined.ts";
import { ListAnnouncer } from "./sessions/list_announcer.ts";
import type { Session } from "./sessions/session.ts";
import type { RequestScope } from "./surfaces/surface.ts";
import type { AnsweredCall } from "./telemetry/call_recorder.ts";
import type { OptimizationTools } from "./surfaces/optimization_tools.ts";
import type { ToolGuide } from "./surfaces/tool_guide.ts";
import type { ToolsetsAdmin } from "./surfaces/toolsets_admin.ts";
import { SHOWS_EQUIPPED } from "./surfaces/views.ts";
import { ChangeNotifier } from "./sessions/change_notifier.ts";

export interface ComposeDoorsInput {
  stack: AsyncDisposableStack;
  store: Store;
  pool: ServerPool;
  catalog: Catalog;
  admin: ServersAdmin;
  names: NameTables;
  toolsets: Toolsets;
  toolsetsAdmin: ToolsetsAdmin;
  availability(server: string): Availability;
  tellCollisions(): void;
  onPromptCollisions: OnPromptCollisions;
  guide: ToolGuide;
  optimization: { tools(): Promise<OptimizationTools>; isEnabled(): boolean };
  access: Access;
  gate?: CallGate | undefined;
  texts?: KeptTexts | undefined;
  /** A client came or went. */
  onSessions(): void;
  /** A call of a tool was answered, however that came about. */
  onCallEnded(scope: RequestScope): void;
  onToolCall(call: AnsweredCall): void;
  logs: Logs;
  metrics: Metrics;
  maxBody: number;
  /** Aborts when the gateway is about to stop. */
  signal: AbortSignal;
  onWarning(message: string, details?: object): void;
}

type CombinedPath = Exclude<DoorPath, { kind: "server" }>;

/** An answer that takes longer comes on a stream, which a client that lost it can take up again. */
const PATIENCE_MS = 50;
/** Those counted by name: a client may send any text as a method. */
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
const LABELS = new Map(METHODS.map((method) => [method, labelsOf(method)]));
const OTHER_LABELS = labelsOf("other");
const PRUNE_EVERY_MS = 60 * 60_000;
const TOOLS_CHANGED = notificationText("notifications/tools/list_changed");

/** The MCP doors: what answers at each path. */
export function composeDoors(input: ComposeDoorsInput) {
  const { stack, store, pool, catalog, names, toolsets, logs, metrics, maxBody, onWarning } = input;
  const { access, gate } = input;
  const records = new SessionsRepository(store);
  const sessions = stack.use(
    new SessionManager({ records, onWarning, onChange: input.onSessions }),
  );
  const prune = () =>
    records.prune().catch((error) => onWarning("Cannot clear away old sessions", { error }));
  let pruning = prune();
  const pruneTimer = setInterval(() => pruning = prune(), PRUNE_EVERY_MS);
  stack.defer(async () => {
    clearInterval(pruneTimer);
    await pruning;
  });
  // A client that listens would otherwise keep a stop waiting to its limit.
  input.signal.addEventListener("abort", () => {
    for (const session of sessions.list()) session.common.finish();
  });
  let combined: Combined | undefined;
  let combining: Promise<Combined> | undefined;
  /** Loaded when somebody knocks: a gateway whose servers have a door each need not carry them. */
  async function openCombined(): Promise<Combined> {
    combining ??= import("./compose_combined.ts").then((module) =>
      module.composeCombined({ ...input, isOptimizing: () => input.optimization.isEnabled() })
    );
    return combined = await combining;
  }
  /** Known once somebody has come to the gateway's own door. */
  let optimizationTools: OptimizationTools | undefined;
  async function openFor(parsed: CombinedPath): Promise<Combined> {
    if (parsed.kind === "gateway") optimizationTools ??= await input.optimization.tools();
    return await openCombined();
  }
  const countCall = metrics.counter("quartermaster_mcp_requests_total", "MCP requests by method");
  const timeCall = metrics.durations("quartermaster_mcp_request_seconds", "MCP durations");
  metrics.gauge("quartermaster_sessions", "Sessions of MCP clients", () => sessions.size);

  const notifier = stack.use(
    new ChangeNotifier((door) => {
      for (const session of sessions.list()) {
        if (!session.door.startsWith(door)) continue;
        if (session.surface.isListChanged?.() !== false) session.push(TOOLS_CHANGED);
      }
    }),
  );
  const announcer = stack.use(
    new ListAnnouncer({
      sessions: () => sessions.list(),
      findSurface: (door) => combined?.find(door),
      onCheck: () => input.tellCollisions(),
    }),
  );
  stack.defer(toolsets.onChange(({ toolsets: changed, principals }) => {
    announcer.changed((door, principal) =>
      door.startsWith("mcp?")
        ? SHOWS_EQUIPPED.test(door) && principals.has(ownerOf(principal))
        : changed.has(/^toolsets\/(.*)\?$/.exec(door)?.[1] ?? "")
    );
    for (const name of changed) {
      if (toolsets.find(name)) continue;
      combined?.forgetToolset(name);
      endSessions(`toolsets/${name}?`);
    }
  }));
  stack.defer(catalog.onChange(({ servers }) => {
    announcer.check();
    for (const name of servers) if (pool.find(name)) notifier.changed(`servers/${name}?`);
  }));

  /** Their clients initialize again, should the server come back under its name. */
  function endSessions(door: string): void {
    endThose((session) => session.door.startsWith(door));
  }

  function endThose(isMeant: (session: Session) => boolean): void {
    for (const session of sessions.list()) {
      if (!isMeant(session)) continue;
      sessions.end(session).catch((error) => onWarning("A session did not end well", { error }));
    }
  }

  const later = stack.use(
    new Later((error) => onWarning("A call could not be put into the log", { error })),
  );
  let answered = 0;
  const host: DoorHost = {
    sessions,
    maxBody,
    log: logs.room("http"),
    patience: stack.use(new TimeoutQueue(PATIENCE_MS)),
    bodies: stack.use(new TimeoutQueue(BODY_MS)),
    countRequest: gate?.countRequest?.bind(gate),
    onCall(scope: RequestScope, session: Session, answer: CallAnswer) {
      answered++;
      const { target } = scope;
      if (target) input.onCallEnded(scope);
      // So its time in the log may be a moment late.
      later.add(() => {
        const labels = LABELS.get(scope.method) ?? OTHER_LABELS;
        const isError = looksFailed(answer.text);
        countCall(isError ? labels.error : labels.ok);
        timeCall(answer.ms / 1000);
        if (target) input.onToolCall({ scope, target, session, answer: { ...answer, isError } });
      });
    },
    switchProject: (principal, project) => access.switchProject(principal, project),
    checkNewcomer({ request, principal }) {
      if (ownerOf(principal) === EVERYONE) refuseGuest(request);
    },
    stepUp(principal, error) {
      if (!(error instanceof RightMissing) || !isForeign(principal)) return undefined;
      return rightMissing(access.grants(principal).rights, error.right);
    },
  };

  /** What a caller may not see does not exist for it, and is answered in the same words. */
  function checkSeen(parsed: DoorPath, principal: string): void {
    if (principal === EVERYONE) return;
    if (parsed.kind === "server") {
      const { server } = parsed;
      if (pool.find(server) && access.admitsServer(principal, server)) return;
      throw new GatewayError("SERVER_NOT_FOUND", { message: `There is no server "${server}"` });
    }
    if (parsed.kind === "toolset") {
      const { toolset } = parsed;
      if (toolsets.find(toolset) && access.admitsToolset(principal, toolset)) return;
      throw new GatewayError("NOT_FOUND", { message: `There is no toolset "${toolset}"` });
    }
  }

  function enter(
    parsed: DoorPath,
    visit: Pick<Visit, "request" | "principal" | "info">,
  ): Promise<Response> {
    const { request, principal, info } = visit;
    // With each request: the id of a session of somebody's on this machine lets no guest in.
    if (ownerOf(principal) === EVERYONE) {
      refuseGuest(request, request.method === "POST" ? isPlainlyForwarded : isForwarded);
    }
    checkSeen(parsed, principal);
    const door = open(parsed);
    return door instanceof Promise
      ? door.then((opened) => handleMcp(host, { door: opened, request, principal, info }))
      : handleMcp(host, { door, request, principal, info });
  }

  /** Made once: they go with their server. */
  const serverDoors = new WeakMap<ManagedServer, Map<Naming, Door>>();

  function openIn(combined: Combined, parsed: CombinedPath): Door {
    switch (parsed.kind) {
      case "gateway":
        return { key: "gateway?", surface: combined.gateway(optimizationTools!) };
      case "default":
        return combined.default(parsed.expose, parsed.naming);
      case "toolset":
        return { key: `toolsets/${parsed.toolset}?`, surface: combined.toolset(parsed.toolset) };
    }
  }

  /** At once where that can be: most calls come to a server's door. */
  function open(parsed: DoorPath): Door | Promise<Door> {
    if (parsed.kind === "server") return openServer(parsed.server, parsed.naming);
    if (combined && (parsed.kind !== "gateway" || optimizationTools)) {
      return openIn(combined, parsed);
    }
    return openFor(parsed).then((combined) => openIn(combined, parsed));
  }

  function openServer(name: string, naming: Naming): Door {
    const server = pool.resolve(name);
    let doors = serverDoors.get(server);
    if (!doors) serverDoors.set(server, doors = new Map());
    let door = doors.get(naming);
    if (!door) {
      const surface = new ServerSurface({
        server,
        catalog,
        names,
        naming,
        rights: access,
        ...(gate ? { gate } : {}),
        ...(input.texts ? { texts: input.texts } : {}),
      });
      const key = `servers/${server.name}?${naming}`;
      doors.set(naming, door = { key, server: server.name, surface });
    }
    return door;
  }

  return {
    host,

    /** Has calls in the log and the counts that were answered a moment ago. */
    settle(): void {
      later.run();
    },

    /** How many requests were answered. */
    get answered(): number {
      return answered;
    },

    /** Servers came or went: clients' lists may be others now. */
    recheck(): void {
      toolsets.recheck();
      announcer.check();
    },

    /** Those whose rights ended are let go; what the others see may have changed. */
    rightsChanged(owners: ReadonlySet<string>): void {
      endThose(({ door, principal }) => {
        const owner = ownerOf(principal);
        if (!owners.has(owner)) return false;
        const server = /^servers\/(.*)\?/.exec(door)?.[1];
        return !access.isValid(owner) ||
          // One of a person's tokens has ended, and another may go on with the session.
          (server !== undefined && access.isValid(principal) &&
            !access.admitsServer(principal, server));
      });
      for (const session of sessions.list()) {
        const { door, principal } = session;
        const isTheirs = owners.has(ownerOf(principal));
        if (isTheirs) {
          session.release((opener) => !access.isValid(opener)).catch((error) =>
            onWarning("What a session had open with an ended token did not close well", { error })
          );
        }
        const isConcerned = isTheirs || projectOf(principal) !== undefined;
        if (isConcerned && door.startsWith("servers/")) session.push(TOOLS_CHANGED);
      }
      announcer.check();
    },

    /** A server is gone for good: what its clients have open leads nowhere any more. */
    removed(name: string): void {
      endSessions(`servers/${name}?`);
      this.recheck();
    },

    /** Finds the door at a path, each time anew, for a client that does not come over HTTP. */
    async opener(path: string): Promise<() => Door> {
      const parsed = parseDoor(`http://localhost${path}`);
      if (!parsed) {
        throw new GatewayError("NOT_FOUND", { message: `There is no door at ${path}` });
      }
      if (parsed.kind === "server") return () => openServer(parsed.server, parsed.naming);
      const combined = await openFor(parsed);
      return () => openIn(combined, parsed);
    },

    /** Answers at an MCP door, or undefined where the path is none. */
    find(
      request: Request,
      info?: Deno.ServeHandlerInfo,
    ): (() => Promise<Response>) | undefined {
      const parsed = parseDoor(request.url);
      if (!parsed) return undefined;
      return () => {
        const caller = access.identify(
          request.headers.get("authorization"),
          parsed.project,
          request.url,
        );
        return typeof caller === "string"
          ? enter(parsed, { request, principal: caller, info })
          : caller.then((principal) => enter(parsed, { request, principal, info }));
      };
    },
  };
}

function labelsOf(method: string) {
  return {
    ok: Object.freeze({ method, status: "ok" }),
    error: Object.freeze({ method, status: "error" }),
  };
}
