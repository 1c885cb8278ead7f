import { hostname } from "node:os";
import type { Catalog } from "./catalog/catalog.ts";
import { problemInWords } from "./catalog/tool_problem.ts";
import type { Platform } from "./config/deployment.ts";
import type { Env } from "./config/env.ts";
import { pointsAtSelf, type Self } from "./config/loops.ts";
import type { LoadedServers } from "./config/mcp_file.ts";
import { secretsOf } from "./config/secrets.ts";
import type { ServerSpec, ServerStatus } from "./core/server.ts";
import { WeatherServer } from "./downstream/demo/weather_server.ts";
import { InProcessLink } from "./downstream/in_process_link.ts";
import { type Link, LinkClosed, type LinkEvents } from "./downstream/link.ts";
import type { PooledServer } from "./downstream/managed_server.ts";
import { ServerPool } from "./downstream/server_pool.ts";
import { reapOrphans } from "./downstream/stdio/orphans.ts";
import { startTimeOf } from "./downstream/stdio/process_group.ts";
import { ProcessOwner } from "./downstream/stdio/process_owner.ts";
import { CanonicalToolsRepository } from "./storage/canonical_tools_repository.ts";
import { EnabledToolsRepository } from "./storage/enabled_tools_repository.ts";
import { keepLease } from "./storage/lease_keeper.ts";
import { LeasesRepository } from "./storage/leases_repository.ts";
import { ProcessesRepository } from "./storage/processes_repository.ts";
import { ServersRepository } from "./storage/servers_repository.ts";
import type { Store } from "./storage/store.ts";
import { ServersAdmin } from "./surfaces/servers_admin.ts";
import type { Logs } from "./telemetry/logs.ts";

const REAP_EVERY_MS = 30_000;

export interface ComposeServersInput {
  stack: AsyncDisposableStack;
  store: Store;
  catalog: Catalog;
  logs: Logs;
  platform: Platform;
  self: Self;
  cwd: string;
  env: Env;
  address: string;
  startedAt: number;
  signal: AbortSignal;
  onWarning(message: string, details?: object): void;
  onStatus(status: ServerStatus): void;
  onRemoved(name: string): void;
  /** A server has written to its error output. */
  onLine(name: string): void;
  sync(): Promise<void>;
  removeDemo(): Promise<void>;
}

/** The pool of downstream servers with all it stands on. */
export async function composeServers(input: ComposeServersInput) {
  const { stack, store, catalog, logs, platform, onWarning } = input;
  const added = new ServersRepository(store);
  const enabled = new EnabledToolsRepository(store);
  const canonical = new CanonicalToolsRepository(store);
  const records = new ProcessesRepository(store);
  const leases = new LeasesRepository(store);
  const host = hostname();
  const log = logs.room("downstream");

  const lease = stack.use(
    await keepLease(leases, { address: input.address, startedAt: input.startedAt, onWarning }),
  );
  const owner = stack.use(new ProcessOwner({ leaseId: lease.id, host, records, onWarning }));

  /** Asked anew each time: a sibling may have started a moment ago. */
  async function isLeaseAlive(id: string): Promise<boolean> {
    // Our own may have lapsed while the machine slept; we are alive all the same.
    if (id === lease.id) return true;
    const found = await leases.find(id);
    if (!found || found.expiresAt <= Date.now()) return false;
    // A gateway on this machine whose process is gone need not lapse first.
    return found.host !== host || await startTimeOf(found.pid) !== undefined;
  }

  /** Ends what gateways that were killed left running, and forgets their leases. */
  async function reap(): Promise<void> {
    for (
      const { leaseId, commands, groupIds } of await reapOrphans({ records, host, isLeaseAlive })
    ) {
      if (groupIds.length === 0) continue;
      log.warn({ leaseId, commands, groupIds }, "Ended what a killed gateway had left running");
    }
    for (const { id } of await leases.listLapsed()) if (id !== lease.id) await leases.takeOver(id);
  }
  if (platform.canSpawn) {
    const reapSafely = () =>
      reap().catch((error) => onWarning("Cannot look for what a killed gateway left", { error }));
    let reaping = reapSafely();
    const timer = setInterval(() => reaping = reapSafely(), REAP_EVERY_MS);
    stack.defer(async () => {
      clearInterval(timer);
      await reaping;
    });
  }

  async function openLink({ name, spec }: PooledServer, events: LinkEvents): Promise<Link> {
    switch (spec.type) {
      case "demo":
        return new InProcessLink(new WeatherServer());
      case "stdio": {
        if (!platform.canSpawn) {
          throw new LinkClosed("refused", "programs cannot be started on this platform");
        }
        // Loaded when needed: a gateway without such servers should not carry them in memory.
        const { StdioLink } = await import("./downstream/stdio/stdio_link.ts");
        const mask = (text: string) => logs.redactor.text(text);
        return await StdioLink.open(
          { ...spec, name, baseEnv: Deno.env.toObject(), owner, mask },
          events,
        );
      }
      default: {
        const { openRemote } = await import("./downstream/remote/open_remote.ts");
        return openRemote({ ...spec, serverName: name }, events);
      }
    }
  }

  /** Lists of tools that came from the store, not from a server. */
  const recalled = new WeakSet<string[]>();
  const pool = new ServerPool({
    log,
    openLink,
    onStatus: input.onStatus,
    onLine: input.onLine,
    onRemoved(name) {
      catalog.remove(name);
      log.info({ serverName: name }, "Server removed");
      input.onRemoved(name);
    },
    onSwitchedOff: (name) => catalog.unlist(name),
    async knownTools(name) {
      const tools = await canonical.list(name);
      const texts = tools.filter(({ goneSince }) => goneSince === undefined)
        .map(({ current }) => current.text);
      recalled.add(texts);
      return texts;
    },
    async onTools(name, texts) {
      const seen = catalog.setListed(name, texts);
      // What was only recalled is no news, and does not have what was invalid.
      if (recalled.has(texts)) return seen.length;
      const invalid = catalog.of(name).broken.map((tool) => ({
        ...tool,
        problem: problemInWords(tool),
      }));
      for (const { name: tool, problem } of invalid) {
        log.warn(
          { serverName: name, toolName: tool, problem },
          "A tool is not listed: it is no valid MCP tool",
        );
      }
      try {
        const { changed, isInvalidChanged } = await canonical.record(
          name,
          seen,
          Date.now(),
          invalid,
        );
        const changes = changed.filter(({ version }) => version > 1).map((tool) => tool.name);
        if (changes.length > 0) {
          log.info({ serverName: name, tools: changes.slice(0, 50) }, "Tools have changed");
        }
        // Pages that show them follow the server's status, which may be the same as before.
        const status = pool.find(name)?.status;
        if (status && (changed.length > 0 || isInvalidChanged)) input.onStatus(status);
      } catch (err) {
        // A full disk is no reason not to serve what works.
        log.warn({ serverName: name, err }, "Cannot keep the server's tools in the data store");
      }
      return seen.length;
    },
  });

  const admin = new ServersAdmin({
    pool,
    catalog,
    added,
    enabled,
    canonical,
    openLink,
    sync: input.sync,
    removeDemo: input.removeDemo,
    refusal: (spec) => refusal(spec, input.self, input.cwd),
  });

  /** All servers there should be: the file's, and those added at run time under other names. */
  async function wanted(configured: LoadedServers): Promise<PooledServer[]> {
    const selections = await Array.fromAsync(enabled.list());
    catalog.setSelections(new Map(selections.map(({ value }) => [value.server, value.tools])));
    const names = new Set(configured.servers.map(({ name }) => name));
    const servers: PooledServer[] = [...configured.servers];
    for await (const { value: { name, spec } } of added.list()) {
      logs.redactor.learn(secretsOf(spec, []));
      if (!names.has(name)) servers.push({ name, spec, source: { kind: "store" } });
    }
    return servers;
  }

  return { pool, admin, wanted, leaseId: lease.id, isLeaseAlive, processOwner: owner };
}

async function refusal(spec: ServerSpec, self: Self, cwd: string): Promise<string | undefined> {
  return await pointsAtSelf(spec, self, cwd) ? "it points back at this gateway" : undefined;
}
