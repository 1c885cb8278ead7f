import { type ServerHistory, serverHistory } from "../catalog/tool_history.ts";
import { composeReview } from "../compose_review.ts";
import { composeSecrets } from "../compose_secrets.ts";
import { composeServers } from "../compose_servers.ts";
import { loadServers } from "../config/mcp_file.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerSpec, ServerStatus } from "../core/server.ts";
import { CanonicalToolsRepository } from "../storage/canonical_tools_repository.ts";
import { isReachedTheSame } from "../surfaces/changed_spec.ts";
import { AT_COMMAND_LINE } from "../surfaces/server_asker.ts";
import { Logs } from "../telemetry/logs.ts";
import { commandAudit } from "./audit_store.ts";
import type { CommandInput } from "./command.ts";
import { callConnected } from "./connected_call.ts";
import { OfflineToolsets } from "./offline_toolsets.ts";
import { selfOf } from "./self.ts";
import {
  type AddOptions,
  type DescribedServer,
  openStore,
  type ServerRow,
  type ServersAccess,
  type ServerTools,
  type ToolCall,
  type ToolList,
  type ToolResult,
  type WaitingTool,
} from "./servers_access.ts";

/** As many as a gateway tells. */
const DIFFS = 200;

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
    return Promise.resolve(this.#parts.admin.list().map((status) => this.#row(status)));
  }

  #row(status: ServerStatus): ServerRow {
    const { disabled, catalog } = this.#parts;
    return {
      ...status,
      toolCount: catalog.of(status.name).tools.length,
      ...(status.state === "disabled" && !disabled.has(status.name)
        ? { state: "not_running", reason: "No gateway is running" }
        : {}),
    };
  }

  async describe(name: string): Promise<DescribedServer> {
    const { spec, version } = await this.#parts.admin.read(name);
    // All others are off here; the entry itself need not say so.
    if (version !== undefined || this.#parts.disabled.has(name)) return { spec, version };
    const { disabled: _, ...entry } = spec;
    return { spec: entry };
  }

  /** Connects to this one server alone, as a gateway would. */
  async add(name: string, spec: ServerSpec, { check = true }: AddOptions = {}): Promise<ServerRow> {
    const { admin, connected } = this.#parts;
    if (check) connected.add(name);
    try {
      return await admin.add(name, spec, { check, by: AT_COMMAND_LINE });
    } finally {
      connected.delete(name);
    }
  }

  /** Connects where another way to reach it has to be tried. */
  async update(name: string, spec: ServerSpec, version?: string): Promise<ServerRow> {
    const { admin, connected } = this.#parts;
    if (!isReachedTheSame(spec, (await this.describe(name)).spec)) connected.add(name);
    try {
      const status = await admin.update(name, spec, { version, by: AT_COMMAND_LINE });
      return status.state === "disabled" ? this.#row(status) : status;
    } finally {
      connected.delete(name);
    }
  }

  allTools(): Promise<ToolList> {
    const { catalog, admin, maxNameLength } = this.#parts;
    const tools = admin.list().flatMap(({ name }) => catalog.of(name).tools)
      .map(({ server, name, enabled, definition }) => ({ server, name, enabled, definition }));
    return Promise.resolve({ tools, maxNameLength });
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
  async tryOut(name: string, limitMs: number): Promise<ServerRow> {
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
    const reason = `No connection within ${limitMs / 1000} s`;
    return { ...status, state: "connecting", reason };
  }

  async remove(name: string): Promise<void> {
    await this.#parts.admin.remove(name);
  }

  tools(name: string): Promise<ServerTools> {
    return Promise.resolve({ server: name, ...this.#parts.admin.enabledTools(name) });
  }

  async setTools(name: string, enabled: string[] | null): Promise<ServerTools> {
    await this.#parts.admin.setEnabledTools(name, enabled);
    return await this.tools(name);
  }

  async history(name: string): Promise<ServerHistory> {
    return serverHistory(name, await this.#parts.admin.history(name), DIFFS);
  }

  toolsets(): Promise<OfflineToolsets> {
    return OfflineToolsets.open(this.#parts);
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
  const self = selfOf(input);
  const location = { path: options.config, cwd, configDir: dirs.config };
  const configured = await loadServers({ ...location, env, self, platform });
  const store = stack.use(await openStore(input));
  const { note: onAudit } = commandAudit({ env, stack, store, redactor: logs.redactor });
  const review = composeReview({ stack, store, onWarning: () => {}, onChanged: () => {} });
  const { catalog } = review;
  const canonical = new CanonicalToolsRepository(store);
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
        connected.has(server.name)
          ? server
          : { ...server, spec: { ...server.spec, disabled: true } }
      ),
    );
  }

  const { pool, admin, wanted } = await composeServers({
    stack,
    store,
    secrets: composeSecrets({
      store,
      options,
      platform,
      learn: (values) => logs.redactor.learn(values),
    }),
    review,
    logs,
    platform,
    self,
    cwd,
    env,
    allowPrivate: options.allowPrivate,
    // Nobody can reach this process: it only says that what it starts is not orphaned.
    address: "",
    startedAt: Date.now(),
    signal: closing.signal,
    onWarning: () => {},
    onStatus: () => {},
    onLine: () => {},
    onRemoved: () => {},
    sync,
    onAudit,
    onReviewed: onAudit,
    removeDemo: () => Promise.reject(new GatewayError("SERVER_NOT_FOUND")),
  });
  stack.use(pool);
  await sync();
  for (const { name } of pool.list()) {
    const tools = (await canonical.list(name)).filter(({ goneSince }) => goneSince === undefined);
    const texts = tools.map(({ current }) => current.text);
    await review.book.prepare(name, texts);
    catalog.setListed(name, texts);
  }
  return {
    admin,
    catalog,
    disabled,
    connected,
    sync,
    pool,
    store,
    logs,
    maxNameLength: options.maxNameLength,
    onAudit,
    stack: stack.move(),
  };
}
