import assert from "node:assert/strict";
import { join } from "@std/path";
import { BROKEN_CACHE } from "../lib/core/failure_cause.ts";
import { findInstaller, npxFolder, npxFolderState } from "../lib/servers/processes/installer.ts";
import { findMarked } from "../lib/servers/processes/process_group.ts";
import { cliCommand } from "./cli.ts";
import { SlowRegistry } from "./fixtures/slow_registry.ts";
import { type RunningGateway, startGateway } from "./gateway.ts";
import { npmPackage, type NpmProgram } from "./packages.ts";

/** The first install is made to take longer; a start from a full cache takes far less. */
const START_TIMEOUT_MS = 15_000;
/** Hundreds of answers, some of them one after the other. */
const DELAY_MS = 20;
const LIMIT_MS = 120_000;

const ignore = Deno.build.os === "windows" ||
  !await new Deno.Command("npx", { args: ["--version"], stdout: "null", stderr: "null" }).output()
    .then(({ success }) => success, () => false);

/** A gateway in front of servers that npx starts, with a cache and a registry of their own. */
class NpxServers implements AsyncDisposable {
  readonly folder: string;
  readonly registry: SlowRegistry;
  readonly marker = `INSTALLS_MARKER=${crypto.randomUUID()}`;
  gateway: RunningGateway | undefined;

  private constructor(folder: string, registry: SlowRegistry) {
    this.folder = folder;
    this.registry = registry;
  }

  static async prepare(...names: NpmProgram[]): Promise<NpxServers> {
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_installs_" });
    const servers = new NpxServers(folder, await SlowRegistry.start(DELAY_MS));
    const mcpServers = Object.fromEntries(names.map((name) => [name, servers.#entry(name)]));
    await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
    return servers;
  }

  get dataDir(): string {
    return join(this.folder, "data");
  }

  #entry(name: NpmProgram) {
    const [marker = "", value = ""] = this.marker.split("=");
    return {
      command: "npx",
      args: ["-y", npmPackage(name), ...(name === "filesystem" ? [this.folder] : [])],
      startTimeoutMs: START_TIMEOUT_MS,
      env: {
        npm_config_cache: join(this.folder, "cache"),
        npm_config_registry: this.registry.url,
        npm_config_audit: "false",
        npm_config_fund: "false",
        npm_config_update_notifier: "false",
        MEMORY_FILE_PATH: join(this.folder, "memory.json"),
        [marker]: value,
      },
    };
  }

  async start(): Promise<RunningGateway> {
    await Deno.mkdir(this.dataDir, { recursive: true });
    return this.gateway = await startGateway([], { cwd: this.folder, dataDir: this.dataDir });
  }

  cacheOf(name: NpmProgram): Promise<string> {
    const installer = findInstaller(["npx", "-y", npmPackage(name)])!;
    return npxFolder({ ...installer, cache: join(this.folder, "cache") }, { env: {} });
  }

  processes(): Promise<number[]> {
    return findMarked(this.marker);
  }

  async reach(name: string, state: string): Promise<{ reason: string }> {
    try {
      return await eventually(async () => {
        const { servers } = await (await fetch(`${this.gateway!.url}/api/servers`)).json();
        const status = servers.find((server: { name: string }) => server.name === name);
        return status.state === state ? status : undefined;
      });
    } catch (error) {
      throw new Error(`${name} is not ${state}:\n${this.gateway!.log()}`, { cause: error });
    }
  }

  async cli(...args: string[]): Promise<string> {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...cliCommand(), ...args],
      cwd: this.folder,
      env: { QUARTERMASTER_DATA_DIR: this.dataDir, NO_COLOR: "1" },
    }).output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  }

  /** The states that the gateway's log tells of, without those that come twice in a row. */
  statesOf(name: string): string[] {
    return this.gateway!.log().split("\n").flatMap((line) => {
      if (!line.includes(`"server":"${name}"`)) return [];
      const { state } = JSON.parse(line);
      return state === undefined ? [] : [state];
    }).filter((state, index, all) => state !== all[index - 1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway?.[Symbol.asyncDispose]();
    assert.deepEqual(await this.processes(), [], "Processes were left behind");
    await this.registry[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** An install may be slow on a busy machine. */
async function eventually<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline;) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`It did not come about within ${LIMIT_MS / 1_000} s`);
}

Deno.test({
  name: "three npx servers with an empty cache and a slow registry all become ready",
  ignore,
  async fn(t) {
    const names = ["everything", "filesystem", "memory"] as const;
    await using servers = await NpxServers.prepare(...names);

    await t.step("each is installed once, and none is ended in mid-install", async () => {
      const { hit, release } = servers.registry.hold(/\/zod\/-\/zod.*\.tgz$/);
      await servers.start();
      await hit;
      const began = Date.now();
      await eventually(() => Promise.resolve(Date.now() - began > START_TIMEOUT_MS || undefined));
      for (const name of names) await servers.reach(name, "installing");
      release();
      for (const name of names) await servers.reach(name, "ready");
      for (const name of names) {
        assert.deepEqual(servers.statesOf(name), ["installing", "starting", "ready"]);
        assert.equal(await npxFolderState(await servers.cacheOf(name)), "complete");
        const tarballs = [...servers.registry.asked].filter(([path]) =>
          path.includes(`server-${name}/-/`)
        );
        assert.deepEqual(tarballs.map(([, times]) => times), [1], name);
      }
    });

    await t.step("the next start installs nothing", async () => {
      await servers.gateway!.stop();
      assert.deepEqual(await servers.processes(), []);
      await servers.start();
      for (const name of names) await servers.reach(name, "ready");
      for (const name of names) assert.ok(!servers.statesOf(name).includes("installing"), name);
    });

    await t.step("a broken cache is named, and repaired by one command", async () => {
      await servers.gateway!.stop();
      const folder = await servers.cacheOf("memory");
      await Deno.remove(join(folder, "node_modules", "zod"), { recursive: true });
      await servers.start();
      const { reason } = await servers.reach("memory", "failed");
      assert.match(
        reason,
        /exited with code 1 before completing the MCP handshake\. Output: Error/,
      );
      assert.match(reason, new RegExp(BROKEN_CACHE));
      assert.match(await servers.cli("doctor"), /server repair memory/);
      const { url } = servers.gateway!;
      const page = await (await fetch(`${url}/servers/memory`)).text();
      assert.match(page, /<button[^>]*>\s*Repair/);
      assert.match(await servers.cli("server", "repair", "memory"), /Repaired memory: \d+ tools/);
      await servers.reach("memory", "ready");
      const refused = await fetch(`${url}/api/servers/weathr/repair`, {
        method: "POST",
        headers: { "content-type": "application/json" },
      });
      assert.equal((await refused.json()).error.errorType, "SERVER_NOT_FOUND");
    });
  },
});

Deno.test({
  name: "a server works after whatever ends the gateway in mid-install",
  ignore,
  async fn(t) {
    await using servers = await NpxServers.prepare("memory");
    const folder = await servers.cacheOf("memory");
    /** Begins an install, and stops it in the middle of writing. */
    const beginInstall = async () => {
      const { hit, release } = servers.registry.hold(/\/zod\/-\/zod.*\.tgz$/);
      const gateway = await servers.start();
      await hit;
      await eventually(async () => await npxFolderState(folder) === "partial" || undefined);
      await servers.reach("memory", "installing");
      return { gateway, release };
    };
    const forget = async () => {
      await servers.gateway!.stop();
      await Deno.remove(join(servers.folder, "cache"), { recursive: true });
    };

    await t.step("a stop leaves no process, and the next start installs", async () => {
      const { gateway, release } = await beginInstall();
      assert.equal((await gateway.stop()).code, 0, gateway.log());
      assert.deepEqual(await servers.processes(), []);
      release();
      await servers.start();
      await servers.reach("memory", "ready");
      await forget();
    });

    await t.step("a kill -9 of the gateway alone: the next one ends npm and installs", async () => {
      const { gateway, release } = await beginInstall();
      await gateway.stop("SIGKILL");
      assert.ok((await servers.processes()).length > 0, "npm outlives it");
      await servers.start();
      release();
      await servers.reach("memory", "ready");
      await forget();
    });

    await t.step("a kill -9 of everything leaves a part, which the next one removes", async () => {
      const { gateway, release } = await beginInstall();
      await gateway.stop("SIGKILL");
      for (const pid of await servers.processes()) Deno.kill(pid, "SIGKILL");
      release();
      assert.equal(await npxFolderState(folder), "partial");
      await servers.start();
      await servers.reach("memory", "ready");
      assert.equal(await npxFolderState(folder), "complete");
    });
  },
});
