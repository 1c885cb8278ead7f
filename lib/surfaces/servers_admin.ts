import type { Catalog } from "../catalog/catalog.ts";
import type { ReviewBook, ReviewEdit } from "../catalog/review_book.ts";
import { GatewayError } from "../core/errors.ts";
import { ServerName, type ServerSpec, type ServerStatus } from "../core/server.ts";
import { shortened } from "../core/shortened.ts";
import { Connection } from "../downstream/connection.ts";
import { type Link, LinkClosed, type LinkEvents } from "../downstream/link.ts";
import type { PooledServer } from "../downstream/managed_server.ts";
import type { ServerPool } from "../downstream/server_pool.ts";
import { listToolTexts } from "../downstream/tool_listing.ts";
import type { CanonicalToolsRepository, KeptTools } from "../storage/canonical_tools_repository.ts";
import type { EnabledToolsRepository } from "../storage/enabled_tools_repository.ts";
import type { AddedServer, ServersRepository } from "../storage/servers_repository.ts";
import { ownCopy } from "../telemetry/call_details.ts";
import { maskSpec, textMasker, unmaskSpec } from "./masked_spec.ts";

const CHECK_TIMEOUT_MS = 20_000;
/** Of what a server writes while it is checked, the last lines say why it failed. */
const KEPT_LINES = 5;
const LINE_LENGTH = 500;

export interface ServersAdminOptions {
  pool: ServerPool;
  catalog: Catalog;
  added: ServersRepository;
  enabled: EnabledToolsRepository;
  canonical: CanonicalToolsRepository;
  /** Keeps what was pinned and decided of each server's tools. */
  review?: Pick<ReviewBook, "take" | "putBack">;
  openLink(server: PooledServer, events: LinkEvents): Link | Promise<Link>;
  /** Makes pool and catalog agree with what is stored. */
  sync(): Promise<void>;
  /** Sends the demo server away. */
  removeDemo(): Promise<void>;
  /** Why an entry may not be used at all, such as one that points back at this gateway. */
  refusal(spec: ServerSpec): Promise<string | undefined>;
}

/** All that was known of a server that was removed, so that it can come back as it was. */
export interface RemovedServer {
  entry: AddedServer;
  enabled: string[] | null;
  tools: KeptTools["tools"];
  /** What was pinned and decided of its tools. */
  review?: ReviewEdit;
}

/** What a person or a tool can do to the servers; the console, the CLI and MCP come through here. */
export class ServersAdmin {
  readonly #options: ServersAdminOptions;

  constructor(options: ServersAdminOptions) {
    this.#options = options;
  }

  list(): ServerStatus[] {
    return this.#options.pool.list();
  }

  /** One server with its entry, secrets masked. */
  describe(name: string): { server: ServerStatus; spec: ServerSpec } {
    const { status, server } = this.#options.pool.resolve(name);
    return { server: status, spec: maskSpec(server.spec) };
  }

  /** Throws where no server can be added under this name. */
  async checkFree(name: string): Promise<void> {
    const parsed = ServerName.safeParse(name);
    if (!parsed.success) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: `Cannot add server "${name.slice(0, 100)}": ${parsed.error.issues[0]?.message}`,
      });
    }
    if (
      this.#options.pool.find(name)?.server.source.kind === "file" ||
      await this.#options.added.find(name)
    ) {
      throw new GatewayError("CONFLICT", {
        message: `There is a server "${name}" already`,
        recoverySteps: ["Choose another name", "Or change that one"],
      });
    }
  }

  /** Throws where there is no such server, or it is not one that can be changed here. */
  async checkChangeable(name: string): Promise<void> {
    await this.#resolveStored(name);
  }

  /**
   * Adds a server after connecting to it once; one that asks for a login is kept until it has one.
   * Without `check` it is stored as it is, and nobody waits for it.
   */
  async add(
    name: string,
    spec: ServerSpec,
    { check = true }: { check?: boolean } = {},
  ): Promise<ServerStatus> {
    await this.checkFree(name);
    if (check) await this.#check("add", name, spec);
    else await this.#refuse("add", name, spec);
    await this.#options.added.save({ name, spec, addedAt: Date.now() }, null);
    if (check) return await this.#settled(name);
    await this.#options.sync();
    return this.#options.pool.resolve(name).status;
  }

  /** Replaces an entry after connecting once; values that are still masked stay as they are. */
  async update(name: string, wanted: ServerSpec): Promise<ServerStatus> {
    const stored = await this.#resolveStored(name);
    const spec = withKept(unmaskSpec(wanted, stored.value.spec), stored.value.spec);
    await this.#check("change", name, spec);
    await this.#options.added.save({ ...stored.value, spec }, stored.versionstamp);
    return await this.#settled(name);
  }

  /** Gives what `restore()` needs; the demo server comes back in another way. */
  async remove(name: string): Promise<RemovedServer | undefined> {
    const server = this.#options.pool.resolve(name);
    if (server.server.source.kind === "demo") {
      await this.#options.removeDemo();
      return undefined;
    }
    const { added, enabled, canonical, catalog } = this.#options;
    const stored = await this.#resolveStored(name);
    const removed: RemovedServer = {
      entry: stored.value,
      enabled: catalog.enabledOf(name),
      tools: await canonical.list(name),
    };
    await added.delete(name, stored.versionstamp);
    await enabled.set(name, null);
    await canonical.removeServer(name);
    const review = await this.#options.review?.take(name);
    if (review) removed.review = review;
    await this.#options.sync();
    return removed;
  }

  /** Brings back a server that was removed, without trying whether it works: it did or did not before. */
  async restore({ entry, enabled, tools, review }: RemovedServer): Promise<ServerStatus> {
    const { added } = this.#options;
    await this.checkFree(entry.name);
    // First: where the name was taken meanwhile, nothing of its new owner is overwritten.
    const versionstamp = await added.save(entry, null);
    try {
      await this.#options.enabled.set(entry.name, enabled);
      await this.#options.canonical.restore(tools);
      if (review) await this.#options.review?.putBack(entry.name, review);
    } catch (error) {
      // Without its selection it would expose everything; it can be restored again.
      await added.delete(entry.name, versionstamp).catch(() => {});
      throw error;
    }
    await this.#options.sync();
    return this.#options.pool.resolve(entry.name).status;
  }

  async restart(name: string): Promise<ServerStatus> {
    const server = this.#options.pool.resolve(name);
    if (server.server.spec.disabled || server.server.problem) {
      throw new GatewayError("SERVER_NOT_RUNNING", {
        message: `Cannot restart server "${name}": ${server.status.reason}`,
      });
    }
    await server.restart();
    return server.status;
  }

  logs(name: string, lines: number): { time: number; line: string }[] {
    const { log, server } = this.#options.pool.resolve(name);
    const mask = textMasker(server.spec);
    return log.last(lines).map(({ time, line }) => ({ time, line: mask(line) }));
  }

  /** What is remembered of a server's tools, or of one alone. */
  history(name: string, tool?: string): Promise<KeptTools> {
    this.#options.pool.resolve(name);
    return this.#options.canonical.history(name, tool);
  }

  /** Null: all tools are on, and new ones will be. */
  enabledTools(name: string): { enabled: string[] | null; all: string[] } {
    this.#options.pool.resolve(name);
    const all = this.#options.catalog.of(name).tools.map((tool) => tool.name);
    return { enabled: this.#options.catalog.enabledOf(name), all };
  }

  async setEnabledTools(name: string, tools: string[] | null): Promise<void> {
    this.#options.pool.resolve(name);
    const known = new Set([
      ...this.#options.catalog.of(name).tools.map((tool) => tool.name),
      // One that its server has withdrawn may stay in the selection.
      ...this.#options.catalog.enabledOf(name) ?? [],
    ]);
    const unknown = tools?.filter((tool) => !known.has(tool)) ?? [];
    if (unknown.length > 0) {
      throw new GatewayError("TOOL_NOT_FOUND", {
        message: `Server "${name}" has no tool ${
          unknown.slice(0, 5).map((tool) => `"${tool}"`).join(", ")
        }`,
        recoverySteps: ["Take names from the server's own list, without its name before them"],
      });
    }
    await this.#options.enabled.set(name, tools);
    this.#options.catalog.setEnabled(name, tools ?? undefined);
    await this.#options.sync();
  }

  async #resolveStored(name: string) {
    const { source } = this.#options.pool.resolve(name).server;
    if (source.kind === "file") {
      throw new GatewayError("ACCESS_DENIED", {
        message: `Server "${name}" belongs to a file: change it there`,
        recoverySteps: ["Edit the config file; the change is taken up by itself"],
      });
    }
    if (source.kind === "demo") {
      throw new GatewayError("ACCESS_DENIED", {
        message: "The demo server cannot be changed, only removed",
      });
    }
    return await this.#options.added.resolve(name);
  }

  /** Connects once and lists the tools, so that nothing is stored that cannot work. */
  async #check(verb: "add" | "change", name: string, spec: ServerSpec): Promise<void> {
    await this.#refuse(verb, name, spec);
    const mask = textMasker(spec);
    const stderr: string[] = [];
    const onLog = (line: string) => {
      // Masked before it is cut: half a secret would not be known as one.
      stderr.push(ownCopy(shortened(mask(line), LINE_LENGTH), LINE_LENGTH));
      if (stderr.length > KEPT_LINES) stderr.shift();
    };
    try {
      await using connection = await Connection.open({
        serverName: name,
        openLink: (events) =>
          this.#options.openLink({ name, spec, source: { kind: "store" } }, events),
        capabilities: {},
        connectTimeoutMs: CHECK_TIMEOUT_MS,
        events: { onMessage: () => {}, onClose: () => {}, onLog },
      });
      await listToolTexts(connection, name);
    } catch (error) {
      if (error instanceof LinkClosed && error.kind === "login") return;
      const words = mask(error instanceof Error ? error.message : String(error))
        .replace(/^Cannot start server "[^"]*": /, "");
      const wrote = mask(stderr.join("\n"));
      throw new GatewayError("SERVER_DISCONNECTED", {
        message: `Cannot ${verb} server "${name}": ${words}`,
        recoveryAction: "Check the address, or the command and its arguments",
        recoverySteps: [
          "Check the address or the command and its arguments",
          `Nothing was stored: ${verb} it again when it works`,
        ],
        ...(wrote === "" ? {} : { hint: `It wrote: ${wrote}` }),
        cause: error,
      });
    }
  }

  /** Throws where an entry may not be used at all. */
  async #refuse(verb: "add" | "change", name: string, spec: ServerSpec): Promise<void> {
    const refusal = await this.#options.refusal(spec);
    if (refusal === undefined) return;
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot ${verb} server "${name}": ${refusal}`,
    });
  }

  /** The server's state once its first connection was made or failed. */
  async #settled(name: string): Promise<ServerStatus> {
    await this.#options.sync();
    const server = this.#options.pool.resolve(name);
    await server.connection().catch(() => {});
    return server.status;
  }
}

/** What a change does not speak of stays: a limit, trust, and whether the server is off or lazy. */
function withKept(wanted: ServerSpec, stored: ServerSpec): ServerSpec {
  const { disabled, timeoutMs, trust, changes } = stored;
  const common = {
    ...(disabled === undefined ? {} : { disabled }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(trust === undefined ? {} : { trust }),
    ...(changes === undefined ? {} : { changes }),
  };
  if (wanted.type !== "stdio") return { ...common, ...wanted };
  const lazy = stored.type === "stdio" ? stored.lazy : undefined;
  return { ...common, ...(lazy === undefined ? {} : { lazy }), ...wanted };
}
