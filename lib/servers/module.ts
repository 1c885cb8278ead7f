import { hostname } from "node:os";
import type { Env, Platform } from "../config/platform.ts";
import type { GatewayIdentity } from "../config/loops.ts";
import type { Options } from "../config/option_table.ts";
import type { LoadedServers } from "../config/mcp_file.ts";
import type { ConfiguredServer } from "../config/server_entry.ts";
import { secretsOf } from "../config/secrets.ts";
import type { OnAudit } from "../core/access.ts";
import type { Bus } from "../core/bus.ts";
import { isolationOf, type ServerStatus } from "../core/server.ts";
import type { TransportEvents } from "./transports/transport.ts";
import { openTransport, type TransportContext } from "./transports/open.ts";
import type { ManagedServer, PooledServer } from "./server.ts";
import { ServerPool } from "./pool.ts";
import { buildAddressPolicy } from "./address_policy.ts";
import type { SecretsModule } from "./secrets.ts";
import { PackageLock } from "./packages/package_lock.ts";
import { buildServerLogins } from "./server_logins.ts";
import { StateHistory } from "./status.ts";
import { childEnv } from "./processes/process_group.ts";
import { findInstaller } from "./processes/installer.ts";
import { Installs } from "./processes/installs.ts";
import { forgetOrphans, ProcessOwner, reapOrphans } from "./processes/process_owner.ts";
import {
  type KeptLease,
  LeasesRepository,
  ProcessesRepository,
} from "../storage/leases_repository.ts";
import {
  PausedServersRepository,
  ServerErasRepository,
  ServersRepository,
  TaskOwnersRepository,
} from "../storage/servers_repository.ts";
import { EraMemory } from "./era_memory.ts";
import { PassedAnswer, PassedTask, TASK_ANSWER_TOPIC, TASK_TOPIC } from "./task_owners.ts";
import type { Mailbox } from "../storage/mailbox.ts";
import type { Store } from "../storage/store.ts";
import type { Logs } from "../telemetry/logs.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { keepUp, once } from "../core/async.ts";
import { defined } from "../core/defined.ts";

const REAP_EVERY_MS = 30_000;
const PRUNE_EVERY_MS = 3_600_000;
const UPDATES_EVERY_MS = 6 * 3_600_000;

export interface ServersInput {
  store: Store;
  lease: KeptLease;
  mailbox: Mailbox;
  secrets: SecretsModule;
  logs: Logs;
  telemetry: { metrics: Metrics };
  bus: Bus;
  platform: Platform;
  self: GatewayIdentity;
  env: Env;
  options: Pick<Options, "allowPrivate" | "maxMessage" | "packageCooldown" | "dataDir">;
  config: { ownPlaces: readonly string[] };
  /** The file of the store, if it is one. */
  path: string | undefined;
  /** Where this gateway listens; empty if it does not. */
  localAddress: string;
  signal: AbortSignal;
  /** Built for one command: servers connect when it needs them, and nothing is reaped. */
  isCommand?: boolean;
  knownTools(name: string): Promise<string[]>;
  /** A server lists these tools. Returns how many of them are served. */
  onTools(name: string, texts: string[], isCurrent: () => boolean): Promise<number>;
  /** How many of a server's tools are served. */
  countTools(name: string): number;
  onSwitchedOff(name: string): void;
  onInstructions(name: string, instructions: string): void;
  onLine(name: string): void;
  beforeStart(servers: readonly PooledServer[]): Promise<void>;
  onAudit: OnAudit;
  onWarning(message: string, details?: object): void;
}

export type ServersModule = ReturnType<typeof buildServers>;

export function buildServers(input: ServersInput) {
  const { store, logs, secrets, platform, lease, bus, onWarning } = input;
  const stack = new AsyncDisposableStack();
  const added = new ServersRepository(store, secrets.box);
  const paused = new PausedServersRepository(store);
  const records = new ProcessesRepository(store);
  const host = hostname();
  const log = logs.module("servers");
  const processOwner = stack.use(
    new ProcessOwner({ leaseId: lease.id, holdLease: lease.hold, host, records, onWarning }),
  );
  const installs = stack.use(new Installs({}, input.signal));
  if (!input.isCommand) stack.use(keepReaping(input, records, log));

  /** As last wanted; the pool follows. */
  const entries = new Map<string, PooledServer>();
  const addresses = buildAddressPolicy({
    stack,
    env: input.env,
    allowPrivate: input.options.allowPrivate,
    find: (name) => entries.get(name),
  });
  const logins = buildServerLogins({
    ...input,
    stack,
    address: input.localAddress,
    added,
    reach: addresses.reach,
    box: secrets.box,
    owner: lease.id,
  });
  const started = { installs, owner: processOwner };
  const packages = openPackages(input, stack, started, () => [...entries.values()]);
  const transports: TransportContext = {
    canSpawn: platform.canSpawn,
    packages,
    owner: processOwner,
    installs,
    isolator: once(() => openIsolator(input)),
    maxMessage: input.options.maxMessage,
    mask: (text) => logs.redactor.text(text),
    fill: secrets.fill,
    credentialsFor: logins.credentialsFor,
    fetchFor: addresses.fetchFor,
  };
  const open = (server: PooledServer, events: TransportEvents, signal: AbortSignal) =>
    openTransport(server, events, signal, transports);

  const states = new StateHistory();
  const onStatus = (status: ServerStatus) => {
    states.note(status);
    bus.emit("serverStatus", status);
  };
  const pool: ServerPool = stack.use(
    new ServerPool({
      log,
      isOnDemand: input.isCommand,
      openTransport: open,
      onStatus(status) {
        onStatus(status);
        if (status.state !== "ready") return;
        const instructions = pool.find(status.name)?.info?.instructions;
        if (instructions !== undefined) input.onInstructions(status.name, instructions);
      },
      onLine: input.onLine,
      onRemoved(name) {
        states.forget(name);
        log.info({ serverName: name }, "Server removed");
        logins.removed(name);
        bus.emit("serverRemoved", name);
      },
      onSwitchedOff: input.onSwitchedOff,
      mask: transports.mask,
      knownTools: input.knownTools,
      eras: new EraMemory(new ServerErasRepository(store)),
      tasks: serveTasks(input, stack, (name) => pool.resolve(name)),
      onTools(name, texts) {
        const server = pool.find(name);
        const isListed = () => input.isCommand || !server?.isSwitchedOff;
        const isCurrent = () => pool.find(name) === server && isListed();
        return input.onTools(name, texts, isCurrent);
      },
    }),
  );
  followTools(bus, pool, input.countTools, onStatus);

  /** What the pool is to be, from the file and the store. */
  async function wanted(configured: LoadedServers): Promise<PooledServer[]> {
    const servers = await entriesOf(configured, added, input);
    entries.clear();
    for (const server of servers) entries.set(server.name, server);
    await Promise.all([logins.load(pool, servers), packages.load(), input.beforeStart(servers)]);
    const held = await paused.names();
    return (await secrets.prepare(servers)).map((server) => ({
      ...server,
      ...defined({ packagesStamp: packages.stampOf(server.name) }),
      ...(held.has(server.name) ? { isPaused: true } : {}),
    }));
  }
  measure(pool, input.telemetry.metrics);
  return {
    pool,
    states,
    logins,
    addresses,
    added,
    paused,
    processOwner,
    packages,
    openTransport: open,
    /** Finds the function that removes a server's cached packages, if there is one. */
    findPackageCache: (server: PooledServer) =>
      findPackageCache(secrets, installs, packages, server),
    wanted,
    /** Ends the servers' programs without waiting: some take long. */
    endSoon: () => void pool[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** All wanted servers: those of the file, and those added at run time under other names. */
async function entriesOf(
  configured: LoadedServers,
  added: ServersRepository,
  { logs, platform }: Pick<ServersInput, "logs" | "platform">,
): Promise<PooledServer[]> {
  const names = new Set(configured.servers.map(({ name }) => name));
  const servers: PooledServer[] = configured.servers.map(withPlace);
  for await (const { value: { name, spec }, problem } of added.list()) {
    logs.redactor.learn(secretsOf(spec, []));
    const held = problem === undefined ? {} : { problem };
    if (!names.has(name)) servers.push({ name, spec, source: { kind: "store" }, ...held });
  }
  const used = new Set(servers.map(({ name }) => name));
  servers.push(...configured.leftOut.filter(({ name }) => !used.has(name)).map(withPlace));
  if (platform.canSpawn) return servers;
  const { deployRefusal } = await import("./processes/deployed.ts");
  return servers.map((server) => ({ ...defined({ problem: deployRefusal(server) }), ...server }));
}

/** Loaded when needed; isolated programs do not see the gateway's own places, whatever they name. */
async function openIsolator({ config, options, path, platform }: ServersInput) {
  const { Isolator } = await import("./processes/isolation/isolator.ts");
  const { dataDir, allowPrivate } = options;
  const store = path === undefined ? [] : ["", "-wal", "-shm", "-bell"].map((end) => path + end);
  const data = dataDir === undefined ? [] : [dataDir];
  const hidden = [...config.ownPlaces, ...data, ...store];
  const none = () => Promise.resolve({ problem: "Deno Deploy has none" });
  return new Isolator({
    hidden,
    allowPrivate,
    ...(platform.canSpawn ? {} : { tryBubblewrap: none }),
  });
}

/** A server's status has the number of its tools; pages that show them follow the status. */
function followTools(
  bus: Bus,
  pool: ServerPool,
  countTools: ServersInput["countTools"],
  onStatus: (status: ServerStatus) => void,
): void {
  bus.on("toolsReviewed", (name) => {
    const server = pool.find(name);
    if (server && server.status.toolCount !== countTools(name)) void server.refreshTools();
  });
  bus.on("toolsRecorded", (name) => {
    const status = pool.find(name)?.status;
    if (status) onStatus(status);
  });
}

/** Records tasks for all gateways on the store, and answers their requests about tasks started here. */
function serveTasks(
  { store, mailbox, isCommand, onWarning }: ServersInput,
  stack: AsyncDisposableStack,
  resolve: (server: string) => ManagedServer,
) {
  const records = new TaskOwnersRepository(store);
  if (isCommand) return { records, mailbox };
  mailbox.handle(TASK_TOPIC, (body, exchange) => {
    const passed = PassedTask.parse(JSON.parse(body));
    return resolve(passed.server).taskOwners.answer(passed, exchange);
  });
  mailbox.handle(TASK_ANSWER_TOPIC, (body) => {
    const passed = PassedAnswer.parse(JSON.parse(body));
    resolve(passed.server).taskOwners.takeAnswer(passed);
    return Promise.resolve("");
  });
  const onError = (error: unknown) => onWarning("Cannot remove the owners of old tasks", { error });
  stack.use(keepUp({ everyMs: PRUNE_EVERY_MS, work: () => records.prune(), onError }));
  return { records, mailbox };
}

function measure(pool: ServerPool, metrics: Metrics): void {
  metrics.gauge("quartermaster_servers", () => {
    const counts = Map.groupBy(pool.list(), ({ state }) => state);
    return [...counts].map(([state, list]) => [{ state }, list.length]);
  });
  metrics.gauge(
    "quartermaster_tools",
    () => pool.list().reduce((sum, { toolCount }) => sum + toolCount, 0),
  );
}

async function findPackageCache(
  secrets: SecretsModule,
  installs: Installs,
  packages: PackageLock,
  server: PooledServer,
): Promise<(() => Promise<void>) | undefined> {
  const spec = await secrets.fill(server.spec);
  if (spec.type !== "stdio") return undefined;
  if (findInstaller([spec.command, ...spec.args])?.family !== "npm") return undefined;
  const baseEnv = Deno.env.toObject();
  const own = childEnv({ baseEnv, declared: spec.env, markerEnv: {} });
  const { installEnv } = await import("./processes/isolation/packages.ts");
  const env = isolationOf(spec) ? installEnv(own) : own;
  const pinned = await packages.pinnedProgram(server, { ...spec, baseEnv });
  return async () => void await installs.repair({ ...pinned, env });
}

/** Ends programs that killed gateways left running, and removes their leases and messages. */
function keepReaping(
  { store, lease, mailbox, platform, onWarning }: ServersInput,
  records: ProcessesRepository,
  log: ReturnType<Logs["module"]>,
) {
  const leases = new LeasesRepository(store);
  return keepUp({
    everyMs: REAP_EVERY_MS,
    onError: (error) => onWarning("Cannot look for processes of a killed gateway", { error }),
    async work() {
      const { isAlive: isLeaseAlive } = lease;
      // On Deno Deploy, a process's programs are gone with it, and so is its machine.
      if (!platform.canSpawn) await forgetOrphans({ records, isLeaseAlive });
      const orphans = platform.canSpawn
        ? await reapOrphans({ records, host: hostname(), isLeaseAlive })
        : [];
      for (const { leaseId, commands, groupIds } of orphans) {
        if (groupIds.length === 0) continue;
        log.warn(
          { leaseId, commands, groupIds },
          "Ended processes that a killed gateway left running",
        );
      }
      for (const { id } of await leases.listLapsed()) {
        if (id !== lease.id) await leases.takeOver(id);
      }
      await mailbox.forgetEnded();
    },
  });
}

/** The pins of packages; once a day for each server, newer releases are looked for. */
function openPackages(
  { store, secrets, platform, isCommand, options, signal, onAudit, onWarning }: ServersInput,
  stack: AsyncDisposableStack,
  started: { installs: Installs; owner: ProcessOwner },
  servers: () => readonly PooledServer[],
): PackageLock {
  const coolDownDays = options.packageCooldown;
  const packages = new PackageLock({
    ...started,
    store,
    coolDownDays,
    fill: secrets.fill,
    onAudit,
  });
  if (!platform.canSpawn || isCommand) return packages;
  const onError = (server: string, error: unknown) =>
    onWarning("Cannot look for updates of a server's packages", { server, error });
  stack.use(keepUp({
    everyMs: UPDATES_EVERY_MS,
    onError: (error) => onWarning("Cannot look for package updates", { error }),
    work: () => packages.checkOld(servers(), signal, onError),
  }));
  return packages;
}

function withPlace({ name, spec, source, problem, place }: ConfiguredServer): PooledServer {
  if (problem === undefined) return { name, spec, source };
  const at = place && source.kind === "file"
    ? ` (${source.path}:${place.line}:${place.column})`
    : "";
  return { name, spec, source, problem: `${problem}${at}` };
}
