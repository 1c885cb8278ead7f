import { fromFileUrl } from "@std/path";
import { Catalog } from "../catalog/catalog.ts";
import { composeServers } from "../compose_servers.ts";
import { loadServers } from "../config/mcp_file.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerSpec } from "../core/server.ts";
import { CanonicalToolsRepository } from "../storage/canonical_tools_repository.ts";
import { Logs } from "../telemetry/logs.ts";
import type { CommandInput } from "./command.ts";
import {
  openStore,
  type ServerRow,
  type ServersAccess,
  type ServerTools,
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

  list(): Promise<ServerRow[]> {
    const { admin, disabled, catalog } = this.#parts;
    const rows = admin.list().map((status) => ({
      ...status,
      toolCount: catalog.of(status.name).tools.length,
      ...(status.state === "disabled" && !disabled.has(status.name)
        ? { state: "not_running", reason: "No gateway is running" }
        : {}),
    }));
    return Promise.resolve(rows);
  }

  /** Connects to this one server alone, as a gateway would. */
  add(name: string, spec: ServerSpec): Promise<ServerRow> {
    this.#parts.connectTo(name);
    return this.#parts.admin.add(name, spec);
  }

  remove(name: string): Promise<void> {
    return this.#parts.admin.remove(name);
  }

  tools(name: string): Promise<ServerTools> {
    return Promise.resolve({ server: name, ...this.#parts.admin.enabledTools(name) });
  }

  async setTools(name: string, enabled: string[] | null): Promise<ServerTools> {
    await this.#parts.admin.setEnabledTools(name, enabled);
    return await this.tools(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.stack.disposeAsync();
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
      pretty: false,
      development: false,
      keepFiles: options.logRetention,
      console: () => {},
    }),
  );
  const self = {
    host: options.host,
    port: options.port,
    publicUrl: options.publicUrl,
    mainModule: fromFileUrl(new URL("../../main.ts", import.meta.url)),
  };
  const location = { path: options.config, cwd, configDir: dirs.config };
  const configured = await loadServers({ ...location, env, self, platform });
  const store = stack.use(await openStore(input));
  const catalog = new Catalog();
  const canonical = new CanonicalToolsRepository(store);
  const closing = new AbortController();
  stack.defer(() => closing.abort());
  let connected: string | undefined;
  const disabled = new Set<string>();

  async function sync(): Promise<void> {
    const servers = await wanted(configured);
    for (const { name, spec } of servers) if (spec.disabled) disabled.add(name);
    await pool.sync(
      servers.map((server) =>
        server.name === connected ? server : { ...server, spec: { ...server.spec, disabled: true } }
      ),
    );
  }

  const { pool, admin, wanted } = await composeServers({
    stack,
    store,
    catalog,
    logs,
    platform,
    self,
    cwd,
    env,
    // Nobody can reach this process: it only says that what it starts is not orphaned.
    address: "",
    startedAt: Date.now(),
    signal: closing.signal,
    onWarning: () => {},
    onStatus: () => {},
    onRemoved: () => {},
    sync,
    removeDemo: () => Promise.reject(new GatewayError("SERVER_NOT_FOUND")),
  });
  stack.use(pool);
  await sync();
  for (const { name } of pool.list()) {
    const tools = (await canonical.list(name)).filter(({ goneSince }) => goneSince === undefined);
    catalog.setListed(name, tools.map(({ current }) => current.text));
  }
  return {
    admin,
    catalog,
    disabled,
    connectTo: (name: string) => connected = name,
    stack: stack.move(),
  };
}
