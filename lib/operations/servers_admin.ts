import type { CatalogModule } from "../catalog/module.ts";
import type { ReviewEdit, ReviewState } from "../trust/review_state.ts";
import type { OnAudit } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import {
  isProgram,
  isRemote,
  ServerName,
  type ServerSource,
  type ServerSpec,
  type ServerStatus,
} from "../core/server.ts";
import type { Transport, TransportEvents } from "../servers/transports/transport.ts";
import type { PooledServer } from "../servers/server.ts";
import type { ServersModule } from "../servers/module.ts";
import type { KeptTools } from "../storage/canonical_tools_repository.ts";
import type { PackagePin } from "../storage/packages_repository.ts";
import type { AddedServer } from "../storage/servers_repository.ts";
import {
  addressOrProgram,
  isSameServer,
  maskedChange,
  maskSpec,
  programSpec,
  runsTheSame,
  textMasker,
  unmaskSpec,
  withKeptFields,
} from "../servers/spec.ts";
import { addressRefused, isOnThisMachine, withChosenAddress } from "./chosen_address.ts";
import type { Wish } from "../trust/consents.ts";
import { type ServerActor, UNKNOWN_ACTOR } from "../auth/grants.ts";
import { tryServer } from "./try_server.ts";

export interface ServersAdminOptions
  extends
    Pick<ServersModule, "pool" | "added" | "paused" | "findPackageCache">,
    Pick<CatalogModule, "catalog" | "enabled" | "canonical"> {
  /** Keeps what was pinned and decided of each server's tools. */
  review?: Pick<ReviewState, "take" | "putBack">;
  /** Keeps which packages each server runs. */
  packages?: Pick<ServersModule["packages"], "take" | "putBack">;
  openTransport(
    server: PooledServer,
    events: TransportEvents,
    signal: AbortSignal,
  ): Transport | Promise<Transport>;
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

interface AddServerOptions {
  check?: boolean;
  /** Default: somebody who may not run programs. */
  by?: ServerActor;
}

interface UpdateServerOptions {
  isNoted?: boolean;
  /** The version of the entry that the change is based on, from `read()`; default: any. */
  version?: string | undefined;
  by?: ServerActor;
}

/** A server with its entry, secrets masked. */
interface ReadServer {
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
  packages?: PackagePin[];
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
    const isInFile = this.#options.pool.find(name)?.server.source.kind === "file";
    if (isInFile || await this.#options.added.find(name)) {
      const label = "Choose another name, or change the existing server";
      throw new GatewayError("CONFLICT", {
        message: `Server "${name}" already exists`,
        recoverySteps: ["Choose another name", "Or change the existing server"],
        ...(isInFile ? {} : { next: [{ label, operation: "server.update", input: { name } }] }),
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
    { check = true, by = UNKNOWN_ACTOR }: AddServerOptions = {},
  ): Promise<ServerStatus> {
    await this.checkFree(name);
    const spec = await withChosenAddress(wanted, by);
    await this.#demandConsent("add", name, spec, by);
    if (!check) await this.#refuse("add", name, spec, by);
    else {
      await this.#check("add", name, spec, by).catch(async (error) => {
        // What the failed start has pinned is of no use to the next server of this name.
        await this.#options.packages?.take(name);
        throw error;
      });
    }
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
    { isNoted = true, version, by = UNKNOWN_ACTOR }: UpdateServerOptions = {},
  ): Promise<ServerStatus> {
    const stored = await this.#resolveStored(name);
    checkVersion(name, version, stored.versionstamp);
    const before = stored.value.spec;
    const changed = withKeptFields(unmaskSpec(wanted, before), before);
    const spec = await withChosenAddress(changed, by, before);
    await this.#demandConsent("change", name, spec, by, before);
    // A server that is down can still be held, or be called less.
    const isReached = isSameServer(spec, before);
    if (!isReached) await this.#check("change", name, spec, by);
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
    await this.#options.paused.set(name, false);
    await canonical.removeServer(name);
    const review = await this.#options.review?.take(name);
    if (review) removed.review = review;
    const packages = await this.#options.packages?.take(name);
    if (packages) removed.packages = packages;
    await this.#options.sync();
    return removed;
  }

  /** Brings back a server that was removed, without trying whether it works: it did or did not before. */
  async restore(removed: RemovedServer, by = UNKNOWN_ACTOR): Promise<ServerStatus> {
    const { entry, enabled, tools, review, packages = [] } = removed;
    const { added } = this.#options;
    await this.checkFree(entry.name);
    await this.#demandConsent("add", entry.name, entry.spec, by);
    // Before the rest: where the name was taken meanwhile, nothing of its new owner is overwritten.
    // Off, because what it lists before its decisions are back would be pinned as its first list.
    const off = { ...entry, spec: { ...entry.spec, disabled: true } };
    const versionstamp = await added.save(off, null);
    try {
      if (review) await this.#options.review?.putBack(entry.name, review);
      await this.#options.packages?.putBack(packages);
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
      await this.#options.packages?.take(name);
    } catch {
      /* it stays, and is off; what failed before is told */
    }
  }

  async restart(name: string): Promise<ServerStatus> {
    const server = this.#resolveStartable("restart", name);
    this.#note("server.restart", name);
    // Another gateway may have resumed it a moment ago.
    if (await this.#options.paused.set(name, false) || server.isSwitchedOff) {
      return await this.#settled(name);
    }
    await server.restart();
    return server.status;
  }

  /** Closes the connection, or stops the retries, until someone resumes the server. */
  async pause(name: string): Promise<ServerStatus> {
    const { server, status } = this.#options.pool.resolve(name);
    if (server.problem !== undefined || server.source.kind === "demo") {
      throw new GatewayError("SERVER_NOT_RUNNING", {
        message: `Cannot pause server "${name}": ${server.problem ?? status.reason}`,
      });
    }
    return await this.#setPaused(name, true);
  }

  /** Reconnects a paused server; does not wait for the connection. */
  async resume(name: string): Promise<ServerStatus> {
    this.#options.pool.resolve(name);
    return await this.#setPaused(name, false);
  }

  async #setPaused(name: string, isPaused: boolean): Promise<ServerStatus> {
    if (await this.#options.paused.set(name, isPaused)) {
      this.#note(isPaused ? "server.pause" : "server.resume", name);
      await this.#options.sync();
    }
    return this.#options.pool.resolve(name).status;
  }

  /** Removes a server's npx cache and restarts the server, which reinstalls the package. */
  async repair(name: string): Promise<ServerStatus> {
    const server = this.#resolveStartable("repair", name);
    const remove = await this.#options.findPackageCache(server.server);
    if (!remove) throw notRepairable(name);
    this.#note("server.repair", name);
    // It is to run again, as after a restart.
    if (await this.#options.paused.set(name, false) || server.isSwitchedOff) {
      await this.#options.sync();
    }
    await server.restart(remove);
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

  /** How many of a server's tools are in quarantine. */
  quarantined(name: string): number {
    return this.#options.catalog.of(name).quarantined?.length ?? 0;
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
        recoverySteps: ["Use the server's own tool names, without the server name as a prefix"],
      });
    }
    const before = this.#options.catalog.enabledOf(name);
    await this.#options.enabled.set(name, tools);
    this.#note("server.tools", name, { enabled: before ?? "all" }, { enabled: tools ?? "all" });
    this.#options.catalog.setEnabled(name, tools ?? undefined);
    await this.#options.sync();
  }

  #resolveStartable(verb: string, name: string) {
    const server = this.#options.pool.resolve(name);
    if (!server.server.spec.disabled && !server.server.problem) return server;
    throw new GatewayError("SERVER_NOT_RUNNING", {
      message: `Cannot ${verb} server "${name}": ${server.status.reason}`,
    });
  }

  async #resolveStored(name: string) {
    const { source } = this.#options.pool.resolve(name).server;
    refuseUnchangeable(name, source);
    return await this.#options.added.resolve(name);
  }

  /** Connects once and lists the tools, so that nothing is stored that cannot work. */
  async #check(
    verb: "add" | "change",
    name: string,
    spec: ServerSpec,
    by: ServerActor,
  ): Promise<void> {
    await this.#refuse(verb, name, spec, by);
    const server: PooledServer = { name, spec, source: { kind: "store" } };
    const { openTransport } = this.#options;
    await tryServer(verb, name, spec, (...events) => openTransport(server, ...events));
  }

  /** Throws where an entry may not be used at all. */
  async #refuse(
    verb: "add" | "change",
    name: string,
    spec: ServerSpec,
    { isHere: _, hasAgreed: __, ...origin }: ServerActor,
  ): Promise<void> {
    const refusal = await this.#options.refusal(spec);
    if (refusal !== undefined) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: `Cannot ${verb} server "${name}": ${refusal}`,
      });
    }
    const address = await this.#options.addressRefusal(spec);
    if (address === undefined) return;
    // Local servers are common, so the owner can allow one with one click.
    if (origin.via === "mcp" && isRemote(spec) && isOnThisMachine(spec)) {
      const wanted = addressOrProgram(spec);
      throw await this.#options.askConsent({ wish: verb, name, spec: wanted, origin });
    }
    throw await addressRefused(verb, name, address);
  }

  /** Throws where a program would be run that nobody at this machine has seen. */
  async #demandConsent(
    wish: "add" | "change",
    name: string,
    spec: ServerSpec,
    { isHere, hasAgreed, ...origin }: ServerActor,
    before?: ServerSpec,
  ): Promise<void> {
    if (!isProgram(spec) || isHere || hasAgreed || runsTheSame(spec, before)) return;
    // What is decided about the server until the owner agrees is not set back by it.
    const wanted = wish === "change" ? programSpec(spec) : spec;
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

/** Only npx can leave a cache that makes every later start fail. */
function notRepairable(name: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot repair server "${name}": it is not started by npx`,
    recoveryAction: "Restart it instead",
    recoverySteps: ["Restart it instead", "Or check its log"],
  });
}

function checkVersion(name: string, wanted: string | undefined, stored: string): void {
  if (wanted === undefined || wanted === stored) return;
  throw new GatewayError("CONFLICT", {
    message: `Cannot change server "${name}": someone changed its entry since you opened it`,
  });
}

/** Throws where a server's entry is not one that was added at run time, and says where it is. */
export function refuseUnchangeable(name: string, source: ServerSource): void {
  if (source.kind === "file") {
    throw new GatewayError("ACCESS_DENIED", {
      message: `Server "${name}" is defined in a config file and cannot be changed here`,
      recoverySteps: [`Edit ${source.path}; changes apply automatically`],
    });
  }
  if (source.kind === "demo") {
    throw new GatewayError("ACCESS_DENIED", {
      message: "The demo server cannot be changed, only removed",
    });
  }
}
