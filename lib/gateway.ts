import { EventEmitter } from "node:events";
import { type AuthModule, buildAuth } from "./auth/module.ts";
import { buildCatalog, type CatalogModule } from "./catalog/module.ts";
import { buildSearch, type ToolSearchModule } from "./catalog/search/module.ts";
import { buildToolsets, type ToolsetsModule } from "./catalog/toolsets/module.ts";
import { type ConfigInput, locateGateway, openConfig } from "./config/module.ts";
import type { ReadOptions } from "./config/options.ts";
import type { ConfigProblem } from "./config/files.ts";
import type { Bus } from "./core/bus.ts";
import type { OptimizationJob } from "./core/optimization.ts";
import { VERSION } from "./core/product.ts";
import { ConsoleGate } from "./http/console_gate.ts";
import { Guard } from "./http/guard.ts";
import { followChanges, type Live, openLive } from "./http/live.ts";
import { UPLOADS } from "./http/request_body.ts";
import type { RequestHost } from "./http/handle_request.ts";
import { ResourceMetadata } from "./http/resource_metadata.ts";
import { BUILTIN_NAMES, RESERVED_NAMES } from "./mcp/builtin_names.ts";
import { buildDiscovery, type Discovery } from "./mcp/discovery.ts";
import type { McpModule } from "./mcp/module.ts";
import { buildEndpoints, elicitApproval } from "./operations/endpoints.ts";
import { DesiredState } from "./operations/desired_state.ts";
import { buildOperations, type OperationsModule } from "./operations/module.ts";
import type { OptimizationModule } from "./operations/optimization_module.ts";
import { GatewayHealth } from "./operations/health.ts";
import { buildOptimizer } from "./optimizer/module.ts";
import { buildServers, type ServersModule } from "./servers/module.ts";
import { buildSecrets } from "./servers/secrets.ts";
import { startTimeOf } from "./servers/processes/process_group.ts";
import { openStorage, type StorageModule } from "./storage/module.ts";
import { gatewayIdOf } from "./storage/secrets_repository.ts";
import type { LogTerminal } from "./telemetry/log_lines.ts";
import type { Logs } from "./telemetry/logs.ts";
import { openLogs, openTelemetry, type TelemetryModule } from "./telemetry/module.ts";
import { type CallControlModule, openCallControl } from "./trust/call_control/module.ts";
import { buildTrust } from "./trust/module.ts";

/** Total time a stop waits for a remote store; platforms kill after 5 s. */
const STORE_END_MS = 2_500;

export interface GatewayInput extends Pick<ConfigInput, "read" | "env" | "cwd"> {
  /** The port it listens on; undefined if it does not listen. */
  port: number | undefined;
  /** Shows log entries on the terminal; default: all entries on stderr. */
  terminal?: LogTerminal | undefined;
  /** A job as the live channel sends it. */
  describeJob(job: OptimizationJob): unknown;
  /** Built for one command of this user: see `isCommand` in each module's input. */
  commandUser?: string;
}

export interface Gateway
  extends
    AsyncDisposable,
    Pick<RequestHost, "guard" | "requestLog">,
    OperationsModule,
    Pick<ServersModule, "pool">,
    Pick<ReturnType<typeof locateGateway>, "address" | "localAddress">,
    Pick<StorageModule, "store" | "restore">,
    Pick<TelemetryModule, "audit" | "metrics" | "countRequest">,
    Pick<TelemetryModule, "calls" | "callStats" | "activityDays" | "recorder">,
    Pick<AuthModule, "access" | "consoleLogins" | "loginAttempts">,
    Pick<CatalogModule, "catalog" | "names" | "tokens" | "toolMetadata">,
    Pick<ToolsetsModule, "collisions" | "promptCollisions">,
    Pick<ToolSearchModule, "searchProgress" | "searchTrouble">,
    Pick<Discovery, "toolDirectory">,
    Pick<CallControlModule, "approvals" | "toolsetModes" | "answerModes" | "findingsOf">,
    Pick<DesiredState, "setDemoRemoved">,
    Pick<GatewayHealth, "liveEvents" | "readiness"> {
  version: string;
  startedAt: number;
  platform: ReadOptions["platform"];
  options: Pick<ReadOptions, "options" | "origins">;
  readonly configFile: string | undefined;
  readonly problems: ConfigProblem[];
  logs: Logs;
  consoleGate: ConsoleGate;
  /** Tells clients where to get a token; undefined without an identity provider. */
  resourceMetadata: ResourceMetadata | undefined;
  /** Changes whenever the tools of any server do. */
  readonly toolsVersion: number;
  endpoints: McpModule;
  clients: McpModule["clients"];
  events: Live["events"];
  tellLive: Live["tell"];
  /** Ends what would delay a stop: open streams, and a store that does not answer. */
  close(): void;
}

/** Builds the whole gateway; disposing it takes everything down in reverse. */
export async function buildGateway(input: GatewayInput): Promise<Gateway> {
  await using stack = new AsyncDisposableStack();
  const closing = new AbortController();
  const base = await openBase(input, closing.signal, stack);
  const { config, store, logs, live, auth, access, telemetry, options, isCommand } = base;
  const modules = await buildModules(base, stack);
  const { catalog, servers, state, status } = modules;
  // Begun first: servers that connect take the thread.
  const reading = isCommand ? undefined : gatewayIdOf(store).catch(() => undefined);
  await state.sync();
  const following = state.follow(base.generation, status.announce);
  stack.defer(() => following);
  stack.defer(() => closing.abort());
  const endpoints = stack.use(buildEndpoints({ ...base, ...modules, gatewayId: await reading }));
  if (!isCommand) base.secrets.sealSoon(stack, base.onWarning);
  const place = base.path ?? store.location.label;
  base.log.info({ version: VERSION, store: place, config: config.configured.file }, "Started");
  // Begun before all else: programs that do not want to end take longest.
  stack.defer(() => servers.endSoon());
  const parts = stack.move();

  return {
    ...base,
    ...auth,
    ...telemetry,
    ...modules.services,
    version: VERSION,
    options: { options, origins: input.read.origins },
    guard: new Guard({ ...options, port: base.self.port, uploads: UPLOADS }),
    requestLog: logs.module("http"),
    consoleGate: new ConsoleGate({ access, logins: auth.consoleLogins }),
    endpoints,
    clients: endpoints.clients,
    events: live.events,
    tellLive: live.tell,
    liveEvents: status.liveEvents,
    readiness: status.readiness,
    setDemoRemoved: state.setDemoRemoved,
    get toolsVersion() {
      return catalog.catalog.snapshot.version;
    },
    get configFile() {
      return config.configured.file;
    },
    get problems() {
      return config.problems();
    },
    close() {
      closing.abort();
      store.endWithin(STORE_END_MS);
    },
    [Symbol.asyncDispose]() {
      store.endWithin(STORE_END_MS);
      return parts.disposeAsync();
    },
  };
}

type Base = Awaited<ReturnType<typeof openBase>>;

/** What the other modules stand on: the log, the configuration, the store, and who may call. */
async function openBase(input: GatewayInput, signal: AbortSignal, stack: AsyncDisposableStack) {
  const { read, env, cwd, commandUser } = input;
  const { options, platform } = read;
  const isCommand = commandUser !== undefined;
  const startedAt = Date.now();
  const place = locateGateway(options, input.port, isCommand);
  const logs = stack.use(await openLogs(options, isCommand ? "none" : input.terminal));
  const log = logs.module("gateway");
  stack.defer(() => log.info("Stopped"));
  const warnings = logs.module("storage");
  const onWarning = (message: string, details?: object) => warnings.warn(details ?? {}, message);
  const bus: Bus = new EventEmitter();
  const live = stack.use(openLive(input.describeJob));
  const context = { cwd, env, platform, self: place.self };
  const made = { startedAt, logs, bus, live, signal, onWarning };
  const common = { ...context, ...place, ...made, options, origins: read.origins, isCommand };

  const config = await openConfig({ ...common, read });
  const isRunning = async (pid: number) => await startTimeOf(pid) !== undefined;
  const storage = stack.use(await openStorage({ ...common, isRunning }));
  const stored = { ...common, ...storage };
  const generation = await stored.store.generation();
  const resourceMetadata = ResourceMetadata.of(options, place.address);
  const auth = stack.use(
    await buildAuth({
      ...stored,
      run: { pid: Deno.pid, startedAt },
      challenge: (request, error) => resourceMetadata?.challenge(request, error),
    }),
  );
  const nameOf = (principal: string) => commandUser ?? auth.access.nameOf(principal);
  const telemetry = stack.use(await openTelemetry({ ...stored, access: { nameOf } }));
  const onAudit = telemetry.audit.note;
  const secrets = buildSecrets(stored);
  const more = { context, log, config, generation, resourceMetadata };
  return { ...stored, ...more, auth, access: auth.access, telemetry, onAudit, secrets };
}

async function buildModules(base: Base, stack: AsyncDisposableStack) {
  const { live, access, auth } = base;
  const catalog = stack.use(buildCatalog({ ...base, reservedNames: RESERVED_NAMES }));
  const ownNames = new Set([...BUILTIN_NAMES, ...RESERVED_NAMES]);
  const trust = stack.use(buildTrust({ ...base, ...catalog, reservedNames: ownNames }));
  const servers = stack.use(buildServers({
    ...base,
    ...trust.lists,
    countTools: (name) => catalog.catalog.of(name).tools.length,
    onSwitchedOff: (name) => catalog.catalog.unlist(name),
    onInstructions: trust.screenInstructions,
    onLine: live.tellOutput,
    beforeStart: (wanted) => catalog.loadSelections().then(() => trust.load(wanted)),
  }));
  const { pool } = servers;
  const toolsets = stack.use(buildToolsets({ ...base, ...catalog, pool }));
  const search = stack.use(buildSearch({ ...base, ...catalog, pool }));
  const discovery = buildDiscovery({ ...base, pool, catalog, search, trust });
  const shown = { ...base, ...catalog, ...discovery, pool, toolsets: toolsets.toolsets };
  const changes = stack.use(followChanges(shown));
  const control = stack.use(
    await openCallControl({
      ...shown,
      onChange: () => live.tell("sessions"),
      elicit: elicitApproval,
    }),
  );
  const optimizer = stack.use(buildOptimizer({
    ...shown,
    ...changes,
    screen: (server, description) => trust.screen.problemOf(server, description),
    async load(optimizer): Promise<OptimizationModule> {
      const { buildOptimization } = await import("./operations/optimization_module.ts");
      const mayPromote = (principal: string) => access.grants(principal).may("manage");
      return buildOptimization({ ...shown, ...servers, ...changes, optimizer, mayPromote });
    },
  }));
  const status = new GatewayHealth({ ...shown, isOptimizing: optimizer.isEnabled });
  const state = new DesiredState({
    ...base,
    servers,
    loads: {
      "the tokens": auth.load,
      "the toolsets": () => shown.toolsets.load(),
      "the overrides of tools": catalog.loadMetadata,
      "the modes of toolsets": control.loadModes,
      "the promoted descriptions": optimizer.load,
    },
  });
  const built = { catalog, trust, servers, toolsets, search, discovery, control, optimizer };
  const { sync, othersFollow } = state;
  const removeDemo = () => state.setDemoRemoved(true);
  const operations = buildOperations({ ...base, ...built, sync, removeDemo, othersFollow });
  const read = { ...catalog, ...toolsets, ...search, ...discovery, ...control, ...operations };
  return { ...built, operations, state, status, services: { ...read, pool } };
}
