import assert from "node:assert/strict";
import { join } from "node:path";
import { isProgram } from "../../../core/server.ts";
import { PackageTreesRepository } from "../../../storage/packages_repository.ts";
import { Store } from "../../../storage/store.ts";
import { Installs } from "../../processes/installs.ts";
import { ManagedServer, type PooledServer } from "../../server.ts";
import { silentLog, until } from "../../testing/fake_server.ts";
import { StdioTransport } from "../../transports/stdio.ts";
import { ownerOf } from "../../transports/testing/transport_harness.ts";
import { PackageLock } from "../package_lock.ts";

/** Starts servers through a package lock, with folders and a store of its own. */
export class LockStage implements AsyncDisposable {
  readonly folder: string;
  readonly cache: string;
  readonly lock: PackageLock;
  readonly audited: string[] = [];
  /** What the servers wrote to stderr. */
  readonly lines: string[] = [];
  readonly #store: Store;
  readonly #owner = ownerOf(crypto.randomUUID());
  readonly #installs = new Installs({});
  readonly #servers: ManagedServer[] = [];
  readonly #lists = new Map<string, string>();

  private constructor(folder: string, store: Store, coolDownDays: number) {
    this.folder = folder;
    this.cache = join(folder, "cache");
    this.#store = store;
    this.lock = new PackageLock({
      ...{ store, owner: this.#owner, installs: this.#installs, coolDownDays },
      fill: (spec) => Promise.resolve(spec),
      onAudit: ({ action }) => void this.audited.push(action),
    });
  }

  static async open(coolDownDays = 0): Promise<LockStage> {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "quartermaster_lock_" }));
    return new LockStage(folder, await Store.open({ location: ":memory:" }), coolDownDays);
  }

  /** The descriptions of its tools once it is ready, or why it is not. */
  async run(entry: PooledServer): Promise<string> {
    const server = this.#start(entry);
    await until(() => ["ready", "failed"].includes(server.status.state));
    await this.lock.load();
    const { state, name, lastError = "" } = server.status;
    await server[Symbol.asyncDispose]();
    return state === "ready" ? this.#lists.get(name)! : lastError;
  }

  /** Removes what the installer has cached, as on another machine. */
  clearCache(): Promise<void> {
    return Deno.remove(this.cache, { recursive: true });
  }

  /** Removes the stored lists of what is installed with packages. */
  async forgetTrees(): Promise<void> {
    const trees = new PackageTreesRepository(this.#store);
    for (const { hash } of await trees.values()) await trees.delete(hash);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server[Symbol.asyncDispose]()));
    await this.#installs[Symbol.asyncDispose]();
    await this.#owner[Symbol.asyncDispose]();
    await this.#store[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }

  #start(entry: PooledServer): ManagedServer {
    const [owner, installs] = [this.#owner, this.#installs];
    const server = new ManagedServer({
      server: entry,
      log: silentLog(),
      openTransport: async (entry, events, signal) => {
        assert.ok(isProgram(entry.spec));
        const baseEnv = Deno.env.toObject();
        const program = { ...entry.spec, name: entry.name, baseEnv, owner, installs };
        const onLog = (line: string, kind: "stderr" | "warning") => {
          this.lines.push(line);
          events.onLog(line, kind);
        };
        const pinned = await this.lock.prepare(entry, program, { ...events, onLog }, signal);
        return await StdioTransport.open(pinned, events, signal);
      },
      onStatus: () => {},
      knownTools: () => Promise.resolve([]),
      onTools: (name, tools) => {
        this.#lists.set(name, tools.map((text) => JSON.parse(text).description).join());
        return Promise.resolve(tools.length);
      },
    });
    this.#servers.push(server);
    server.start();
    return server;
  }
}
