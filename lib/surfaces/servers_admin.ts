import type { Catalog } from "../catalog/catalog.ts";
import type { ReviewBook, ReviewEdit } from "../catalog/review_book.ts";
import type { OnAudit } from "../core/audit.ts";
import { GatewayError } from "../core/errors.ts";
import { ServerName, type ServerSpec, type ServerStatus } from "../core/server.ts";
import type { Link, LinkEvents } from "../downstream/link.ts";
import type { PooledServer } from "../downstream/managed_server.ts";
import type { ServerPool } from "../downstream/server_pool.ts";
import type { CanonicalToolsRepository, KeptTools } from "../storage/canonical_tools_repository.ts";
import type { EnabledToolsRepository } from "../storage/enabled_tools_repository.ts";
import type { AddedServer, ServersRepository } from "../storage/servers_repository.ts";
import {
  isReachedTheSame,
  maskedChange,
  programAlone,
  runsTheSame,
  withKept,
} from "./changed_spec.ts";
import { addressRefused, withChosenAddress } from "./chosen_address.ts";
import type { Wish } from "./consents.ts";
import { maskSpec, textMasker, unmaskSpec } from "./masked_spec.ts";
import { type ServerAsker, SOMEBODY } from "./server_asker.ts";
import { tryServer } from "./try_server.ts";
import { refuseUnchangeable } from "./unchangeable_server.ts";

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
  /** Why an entry leads to a place where it may not be. */
  addressRefusal(spec: ServerSpec): Promise<string | undefined>;
  /** Keeps a program that somebody wants for its owner to decide; gives what to tell that one. */
  askConsent(wish: Wish): Promise<GatewayError>;
  onAudit?: OnAudit | undefined;
}

export interface AddServerOptions {
  check?: boolean;
  /** Unless told, somebody who may run nothing. */
  by?: ServerAsker;
}

export interface UpdateServerOptions {
  isNoted?: boolean;
  /** Of the entry that the change was made from, as `read()` gave it; unless told, any. */
  version?: string | undefined;
  by?: ServerAsker;
}

/** A server with its entry, secrets masked. */
export interface ReadServer {
  server: ServerStatus;
  spec: ServerSpec;
  /** Another one after each change; none where the entry cannot be changed here. */
  version?: string;
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

  /**
   * One server with its entry as it is stored now, to make a change from. Throws CONFLICT where that
   * is no longer the wanted version.
   */
  async read(name: string, wanted?: string): Promise<ReadServer> {
    const described = this.describe(name);
    if (described.server.source.kind !== "store") return described;
    const { value, versionstamp } = await this.#options.added.resolve(name);
    checkVersion(name, wanted, versionstamp);
    return { ...described, spec: maskSpec(value.spec), version: versionstamp };
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
   * Without `check` it is stored as it is, and nobody waits for it. Throws CONSENT_NEEDED where it is
   * a program, and not for `by` to have one run.
   */
  async add(
    name: string,
    wanted: ServerSpec,
    { check = true, by = SOMEBODY }: AddServerOptions = {},
  ): Promise<ServerStatus> {
    await this.checkFree(name);
    const spec = await withChosenAddress(wanted, by);
    await this.#demandConsent("add", name, spec, by);
    if (check) await this.#check("add", name, spec);
    else await this.#refuse("add", name, spec);
    await this.#options.added.save({ name, spec, addedAt: Date.now() }, null);
    this.#note("server.add", name, undefined, maskSpec(spec));
    if (check) return await this.#settled(name);
    await this.#options.sync();
    return this.#options.pool.resolve(name).status;
  }

  /**
   * Replaces an entry after connecting once, unless it is reached as before; values that are still
   * masked stay as they are. Not noted where whoever asks notes something of its own. Throws CONFLICT
   * where the entry is no longer the version that the change was made from.
   */
  async update(
    name: string,
    wanted: ServerSpec,
    { isNoted = true, version, by = SOMEBODY }: UpdateServerOptions = {},
  ): Promise<ServerStatus> {
    const stored = await this.#resolveStored(name);
    checkVersion(name, version, stored.versionstamp);
    const before = stored.value.spec;
    const spec = await withChosenAddress(withKept(unmaskSpec(wanted, before), before), by, before);
    await this.#demandConsent("change", name, spec, by, before);
    // A server that is down can still be held, or be called less.
    const isReached = isReachedTheSame(spec, before);
    if (!isReached) await this.#check("change", name, spec);
    await this.#options.added.save({ ...stored.value, spec }, stored.versionstamp);
    if (isNoted) this.#note("server.change", name, ...maskedChange(before, spec));
    if (!isReached) return await this.#settled(name);
    await this.#options.sync();
    return this.#options.pool.resolve(name).status;
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
    this.#note("server.remove", name, maskSpec(stored.value.spec));
    await enabled.set(name, null);
    await canonical.removeServer(name);
    const review = await this.#options.review?.take(name);
    if (review) removed.review = review;
    await this.#options.sync();
    return removed;
  }

  /** Brings back a server that was removed, without trying whether it works: it did or did not before. */
  async restore(removed: RemovedServer, by = SOMEBODY): Promise<ServerStatus> {
    const { entry, enabled, tools, review } = removed;
    const { added } = this.#options;
    await this.checkFree(entry.name);
    await this.#demandConsent("add", entry.name, entry.spec, by);
    // Before the rest: where the name was taken meanwhile, nothing of its new owner is overwritten.
    // Off, because what it lists before its decisions are back would be pinned as its first list.
    const off = { ...entry, spec: { ...entry.spec, disabled: true } };
    const versionstamp = await added.save(off, null);
    try {
      if (review) await this.#options.review?.putBack(entry.name, review);
      await this.#options.enabled.set(entry.name, enabled);
      await this.#options.canonical.restore(tools);
      await added.save(entry, versionstamp);
    } catch (error) {
      await this.#takeBack(entry.name, versionstamp);
      throw error;
    }
    this.#note("server.restore", entry.name, undefined, maskSpec(entry.spec));
    await this.#options.sync();
    return this.#options.pool.resolve(entry.name).status;
  }

  /** Of a restore that failed, so that it can be tried again; nothing where it is another's by now. */
  async #takeBack(name: string, versionstamp: string): Promise<void> {
    try {
      await this.#options.added.delete(name, versionstamp);
      await this.#options.review?.take(name);
    } catch {
      /* it stays, and is off; what failed before is told */
    }
  }

  async restart(name: string): Promise<ServerStatus> {
    const server = this.#options.pool.resolve(name);
    if (server.server.spec.disabled || server.server.problem) {
      throw new GatewayError("SERVER_NOT_RUNNING", {
        message: `Cannot restart server "${name}": ${server.status.reason}`,
      });
    }
    this.#note("server.restart", name);
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
    const before = this.#options.catalog.enabledOf(name);
    await this.#options.enabled.set(name, tools);
    this.#note("server.tools", name, { enabled: before ?? "all" }, { enabled: tools ?? "all" });
    this.#options.catalog.setEnabled(name, tools ?? undefined);
    await this.#options.sync();
  }

  async #resolveStored(name: string) {
    const { source } = this.#options.pool.resolve(name).server;
    refuseUnchangeable(name, source);
    return await this.#options.added.resolve(name);
  }

  /** Connects once and lists the tools, so that nothing is stored that cannot work. */
  async #check(verb: "add" | "change", name: string, spec: ServerSpec): Promise<void> {
    await this.#refuse(verb, name, spec);
    const openLink = (events: LinkEvents) =>
      this.#options.openLink({ name, spec, source: { kind: "store" } }, events);
    await tryServer({ verb, name, spec, openLink });
  }

  /** Throws where an entry may not be used at all. */
  async #refuse(verb: "add" | "change", name: string, spec: ServerSpec): Promise<void> {
    const refusal = await this.#options.refusal(spec);
    if (refusal !== undefined) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: `Cannot ${verb} server "${name}": ${refusal}`,
      });
    }
    const address = await this.#options.addressRefusal(spec);
    if (address !== undefined) throw await addressRefused(verb, name, address);
  }

  /** Throws where a program would be run that nobody at this machine has seen. */
  async #demandConsent(
    wish: "add" | "change",
    name: string,
    spec: ServerSpec,
    { isHere, hasAgreed, ...origin }: ServerAsker,
    before?: ServerSpec,
  ): Promise<void> {
    if (spec.type !== "stdio" || isHere || hasAgreed || runsTheSame(spec, before)) return;
    // What is decided about the server until the owner agrees is not set back by it.
    const wanted = wish === "change" ? programAlone(spec) : spec;
    throw await this.#options.askConsent({ wish, name, spec: wanted, origin });
  }

  #note(action: string, subject: string, before?: unknown, after?: unknown): void {
    this.#options.onAudit?.({ action, subject, before, after });
  }

  /** The server's state once its first connection was made or failed. */
  async #settled(name: string): Promise<ServerStatus> {
    await this.#options.sync();
    const server = this.#options.pool.resolve(name);
    await server.connection().catch(() => {});
    return server.status;
  }
}

function checkVersion(name: string, wanted: string | undefined, stored: string): void {
  if (wanted === undefined || wanted === stored) return;
  throw new GatewayError("CONFLICT", {
    message: `Cannot change server "${name}": its entry has changed since it was read`,
  });
}
