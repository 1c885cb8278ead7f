import { buildCatalog } from "../catalog/module.ts";
import { RESERVED_NAMES } from "../mcp/builtin_names.ts";
import { ConsentRequests } from "../operations/consents.ts";
import { buildServersAdmin } from "../operations/module.ts";
import { startTimeOf } from "../servers/processes/process_group.ts";
import { keepLease, LeasesRepository } from "../storage/leases_repository.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { buildTrust } from "../trust/module.ts";
import { buildSecrets } from "../servers/secrets.ts";
import { buildServers } from "../servers/module.ts";
import { loadServers } from "../config/mcp_file.ts";
import { EventEmitter } from "node:events";
import type { Bus } from "../core/bus.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerSpec, ServerStatus } from "../core/server.ts";
import { isSameServer } from "../servers/spec.ts";
import { Grants, WHOLE_SCOPE } from "../auth/grants.ts";
import { RemovedServers } from "../operations/removed_servers.ts";
import type { Status } from "../operations/servers.ts";
import {
  type AddServerOptions,
  notRepairable,
  type ReadServer,
  ServersAdmin,
  type ServersAdminOptions,
  type UpdateServerOptions,
} from "../operations/servers_admin.ts";
import { Logs } from "../telemetry/logs.ts";
import { commandAudit, commandPlace } from "./audit_store.ts";
import type { CommandInput } from "./command.ts";
import { callConnected } from "./connected_call.ts";
import { buildToolsets } from "../catalog/toolsets/module.ts";
import { EVERYONE } from "../core/access.ts";
import { SecretsAdmin } from "../operations/secrets_admin.ts";
import { ToolsetsAdmin } from "../operations/toolsets_admin.ts";
import { StartingServers } from "../mcp/starting_servers.ts";
import { AccessAdmin } from "../operations/access_admin.ts";
import { type Operation, runOperation } from "../operations/operation.ts";
import type { Services } from "../operations/services.ts";
import { type AllTools, TOOL_OPERATIONS } from "../operations/tool_search.ts";
import { AccessTokensRepository, ProjectsRepository } from "../storage/access_repositories.ts";
import { selfOf } from "./self.ts";
import {
  openStore,
  type ServersAccess,
  type ToolCall,
  type ToolResult,
  type WaitingTool,
} from "./servers_access.ts";

type Parts = Awaited<ReturnType<typeof assemble>>;

/** The servers as the store and the config file have them, while no gateway runs. */
export class OfflineServers implements ServersAccess {
  readonly isRunning = false;
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  static async open(input: CommandInput): Promise<OfflineServers> {
    return new OfflineServers(await assemble(input));
  }

  allTools(): Promise<AllTools> {
    return this.run(TOOL_OPERATIONS.list, {});
  }

  waiting(): Promise<WaitingTool[]> {
    const { catalog, admin } = this.#parts;
    const tools = admin.list().flatMap(({ name: server }): WaitingTool[] => {
      const { held = [], quarantined = [] } = catalog.of(server);
      return [
        ...quarantined.map(({ tool: { name } }) => (
          { server, name, state: "quarantined" as const, isServed: false }
        )),
        ...held.filter(({ isRejected }) => !isRejected).map(({ name, pinned }) => (
          { server, name, state: "held" as const, isServed: pinned !== undefined }
        )),
      ];
    });
    return Promise.resolve(tools);
  }

  /** Starts that one server for the call, and ends it after. */
  async callTool(call: ToolCall): Promise<ToolResult> {
    const { connected, sync, pool, disabled } = this.#parts;
    if (disabled.has(call.server)) {
      throw new GatewayError("SERVER_NOT_RUNNING", {
        message: `Server "${call.server}" is switched off in its entry`,
        recoverySteps: ["Switch it on there"],
      });
    }
    connected.add(call.server);
    await sync();
    return await callConnected(pool.resolve(call.server), call);
  }

  /** What comes of connecting to a server within a limit; it is let go again. */
  async tryOut(name: string, limitMs: number): Promise<Status> {
    const { connected, sync, pool } = this.#parts;
    connected.add(name);
    await sync();
    const server = pool.resolve(name);
    const limit = Promise.withResolvers<"late">();
    const timer = setTimeout(() => limit.resolve("late"), limitMs);
    const ended = server.connection().then(() => "done" as const, () => "done" as const);
    const outcome = await Promise.race([ended, limit.promise]);
    clearTimeout(timer);
    const { status } = server;
    connected.delete(name);
    await sync();
    // The reason also says when it is tried again, which it is not.
    if (outcome === "done") return { ...status, reason: status.lastError ?? status.reason };
    if (status.state === "installing") return status;
    const reason = `No connection within ${limitMs / 1000} s`;
    return { ...status, state: "starting", reason };
  }

  /** Runs an operation in this process, with all rights: whoever can read the store is the owner. */
  async run(operation: Operation, input: Record<string, unknown>) {
    return await runOperation(operation, await this.#services(), input, {
      principal: EVERYONE,
      via: "cli",
      isLocal: true,
      from: () => this.#parts.place,
      signal: new AbortController().signal,
      progress: () => {},
    });
  }

  async #services(): Promise<Services> {
    const { store, admin, pool, known, secrets, logs, audit, onAudit } = this.#parts;
    const { toolsets } = buildToolsets({ ...this.#parts, ...known });
    await toolsets.load();
    const starting = new StartingServers({ pool, catalog: known.catalog, admits: () => true });
    const grants = new Grants(WHOLE_SCOPE, undefined);
    return {
      access: {
        grants: () => grants,
        demand: () => {},
        endOf: () => undefined,
        limitOf: () => undefined,
        nameOf: (principal) => principal,
      },
      admin,
      address: "",
      startedAt: Date.now(),
      audit,
      toolsets: new ToolsetsAdmin({ ...known, toolsets, starting, admits: () => true }),
      removedServers: new RemovedServers(),
      logs,
      serverLogins: () => Promise.reject(new GatewayError("SERVER_NOT_RUNNING")),
      readPasted: () => Promise.reject(new GatewayError("SERVER_NOT_RUNNING")),
      optimization: () => Promise.reject(new GatewayError("SERVER_NOT_RUNNING")),
      evaluator: () => Promise.reject(new GatewayError("SERVER_NOT_RUNNING")),
      isOptimizing: () => false,
      get settings(): never {
        throw new GatewayError("SERVER_NOT_RUNNING");
      },
      get review(): never {
        throw new GatewayError("SERVER_NOT_RUNNING");
      },
      get toolsetModes(): never {
        throw new GatewayError("SERVER_NOT_RUNNING");
      },
      get calls(): never {
        throw new GatewayError("SERVER_NOT_RUNNING");
      },
      get guide(): never {
        throw new GatewayError("SERVER_NOT_RUNNING");
      },
      catalog: known.catalog,
      names: known.names,
      tokens: known.tokens,
      clearCalls: () => Promise.reject(new GatewayError("SERVER_NOT_RUNNING")),
      approvals: () => Promise.reject(new GatewayError("SERVER_NOT_RUNNING")),
      consents: () => Promise.reject(new GatewayError("SERVER_NOT_RUNNING")),
      accessAdmin: new AccessAdmin({
        tokens: new AccessTokensRepository(store),
        projects: new ProjectsRepository(store),
        onAudit,
      }),
      secrets: () =>
        Promise.resolve(
          new SecretsAdmin({
            ...secrets,
            servers: () =>
              Promise.resolve(pool.list().flatMap(({ name }) => pool.find(name)?.server ?? [])),
            onAudit,
          }),
        ),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.stack.disposeAsync();
  }
}

interface Switches {
  /** Servers that are connected to for a while. */
  connected: Set<string>;
  /** Servers that are off in their entries. */
  disabled: ReadonlySet<string>;
}

/** The servers while no gateway runs: all but those in use are off, whatever their entries say. */
class OfflineServersAdmin extends ServersAdmin {
  readonly #options: ServersAdminOptions;
  readonly #switches: Switches;

  constructor(options: ServersAdminOptions, switches: Switches) {
    super(options);
    this.#options = options;
    this.#switches = switches;
  }

  override list(): ServerStatus[] {
    return super.list().map((status) => this.#shown(status));
  }

  override async read(name: string, wanted?: string): Promise<ReadServer> {
    const read = await super.read(name, wanted);
    const server = this.#shown(read.server);
    if (read.version !== undefined || this.#switches.disabled.has(name)) {
      return { ...read, server };
    }
    const { disabled: _, ...spec } = read.spec;
    return { ...read, server, spec };
  }

  /** Connects to this one server alone, as a gateway would. */
  override async add(name: string, spec: ServerSpec, options: AddServerOptions = {}) {
    const { check = true } = options;
    return await this.#connecting(name, check, () => super.add(name, spec, options));
  }

  /** Connects if another way to reach it has to be tried. */
  override async update(name: string, spec: ServerSpec, options: UpdateServerOptions = {}) {
    const isOther = !isSameServer(spec, (await this.read(name)).spec);
    return await this.#connecting(name, isOther, () => super.update(name, spec, options));
  }

  override async pause(name: string): Promise<ServerStatus> {
    return this.#shown(await super.pause(name));
  }

  override async resume(name: string): Promise<ServerStatus> {
    return this.#shown(await super.resume(name));
  }

  /** The next start installs the package again. */
  override async repair(name: string): Promise<ServerStatus> {
    const { server, status } = this.#options.pool.resolve(name);
    const remove = await this.#options.findPackageCache(server);
    if (!remove) throw notRepairable(name);
    await remove();
    return this.#shown(status);
  }

  async #connecting(
    name: string,
    connects: boolean,
    change: () => Promise<ServerStatus>,
  ): Promise<ServerStatus> {
    const { connected } = this.#switches;
    if (connects) connected.add(name);
    try {
      return this.#shown(await change());
    } finally {
      connected.delete(name);
    }
  }

  #shown(status: ServerStatus): ServerStatus {
    const { name, state } = status;
    const { connected, disabled } = this.#switches;
    if (connected.has(name) && state !== "disabled") return status;
    const known = { ...status, toolCount: this.#options.catalog.of(name).tools.length };
    if (state !== "disabled" || disabled.has(name)) return known;
    // A state that no gateway has.
    const notRunning = "not_running" as ServerStatus["state"];
    return { ...known, state: notRunning, reason: "No gateway is running" };
  }
}

/** A gateway's servers without the gateway: all are known, none is connected. */
async function assemble(input: CommandInput) {
  const { options, platform, dirs, env } = input;
  const cwd = Deno.cwd();
  await using stack = new AsyncDisposableStack();
  const logs = stack.use(
    await Logs.open({
      level: "fatal",
      development: false,
      keepFiles: options.logRetention,
      console: () => {},
    }),
  );
  const self = selfOf(input);
  const location = { path: options.config, cwd, configDir: dirs.config };
  const configured = await loadServers({ ...location, env, self, platform });
  const store = stack.use(await openStore(input));
  const audit = commandAudit({ env, stack, store, redactor: logs.redactor });
  const onAudit = audit.note;
  const bus: Bus = new EventEmitter();
  const closing = new AbortController();
  stack.defer(() => closing.abort());
  const connected = new Set<string>();
  const disabled = new Set<string>();

  async function sync(): Promise<void> {
    const servers = await wanted(configured);
    for (const { name, spec } of servers) {
      if (spec.disabled) disabled.add(name);
      else disabled.delete(name);
    }
    await pool.sync(
      servers.map((server) =>
        connected.has(server.name) || server.isPaused
          ? server
          : { ...server, spec: { ...server.spec, disabled: true } }
      ),
    );
  }

  const onWarning = () => {};
  // Without an address: it only says that the programs this process starts are not orphaned.
  const lease = stack.use(
    await keepLease(new LeasesRepository(store), {
      address: "",
      startedAt: Date.now(),
      isRunning: async (pid) => await startTimeOf(pid) !== undefined,
      onWarning,
    }),
  );
  const context = { cwd, env, self, platform };
  const secrets = buildSecrets({ store, options, platform, logs });
  const base = {
    ...context,
    context,
    store,
    lease,
    secrets,
    logs,
    options,
    bus,
    onAudit,
    onWarning,
  };
  const known = stack.use(buildCatalog({ ...base, reservedNames: RESERVED_NAMES }));
  const { catalog, canonical } = known;
  const trust = stack.use(buildTrust({ ...base, catalog, reservedNames: RESERVED_NAMES }));
  const servers = stack.use(buildServers({
    ...base,
    ...trust.lists,
    telemetry: { metrics: new Metrics() },
    localAddress: "",
    signal: closing.signal,
    countTools: (name) => catalog.of(name).tools.length,
    onSwitchedOff: (name) => catalog.unlist(name),
    onInstructions: trust.screenInstructions,
    onLine: () => {},
    beforeStart: (wanted) => known.loadSelections().then(() => trust.load(wanted)),
  }));
  const { pool, wanted, findPackageCache } = servers;
  const admin = buildServersAdmin(
    {
      ...base,
      servers,
      catalog: known,
      trust,
      sync,
      removeDemo: () => Promise.reject(new GatewayError("SERVER_NOT_FOUND")),
    },
    new ConsentRequests({ ...base, box: secrets.box, address: "", onChanged: () => {} }),
    (options) => new OfflineServersAdmin(options, { connected, disabled }),
  );
  await sync();
  for (const { name } of pool.list()) {
    const tools = (await canonical.list(name)).filter(({ goneSince }) => goneSince === undefined);
    const texts = tools.map(({ current }) => current.text);
    await trust.book.prepare(name, texts);
    catalog.setListed(name, texts);
  }
  return {
    env,
    admin,
    catalog,
    known,
    disabled,
    connected,
    sync,
    pool,
    findPackageCache,
    secrets,
    store,
    logs,
    audit,
    onAudit,
    place: commandPlace(env),
    stack: stack.move(),
  };
}
