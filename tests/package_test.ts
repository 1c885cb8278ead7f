import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { join } from "@std/path";
import { TESTED_DENO } from "../lib/cli/doctor/checks.ts";
import { MIGRATIONS, newestVersion, schemaEntry } from "../lib/storage/migrations.ts";
import { makePackage } from "../packaging/main.ts";
import { npmManifest, PACKAGE_NAME } from "../packaging/npm_manifest.ts";
import { processesWith } from "./left_behind.ts";

/** Nothing here takes long; a process that hangs is ended by then, and the test fails. */
const HANGS_MS = 120_000;

/** The paths of the programs that a machine with Node has; undefined where npm is missing. */
function findNode(): Record<"node" | "npm", string> | undefined {
  const find = (name: string) =>
    (Deno.env.get("PATH") ?? "").split(":").map((folder) => join(folder, name)).find((path) => {
      try {
        return Deno.statSync(path).isFile;
      } catch {
        return false;
      }
    });
  const [node, npm] = [find("node"), find("npm")];
  return node === undefined || npm === undefined ? undefined : { node, npm };
}

interface Ended {
  code: number;
  out: string;
  err: string;
}

/** A machine with Node and nothing else: an own home, prefix, cache and folder for temporary files. */
class Machine implements AsyncDisposable {
  readonly #folder: string;
  readonly prefix: string;
  readonly home: string;
  readonly temporary: string;
  readonly #env: Record<string, string>;

  private constructor(folder: string, registry: string) {
    this.#folder = folder;
    this.prefix = join(folder, "pre fix");
    this.home = join(folder, "home");
    this.temporary = join(folder, "tmp");
    const inherited = Object.entries(Deno.env.toObject())
      .filter(([name]) => !/^(DENO|npm_|NPM_|QUARTERMASTER|XDG)/.test(name));
    this.#env = {
      ...Object.fromEntries(inherited),
      HOME: this.home,
      TMPDIR: this.temporary,
      PATH: [join(this.prefix, "bin"), join(folder, "bin")].join(":"),
      npm_config_prefix: this.prefix,
      npm_config_cache: join(folder, "cache"),
      npm_config_registry: registry,
      npm_config_update_notifier: "false",
      npm_config_userconfig: join(folder, "npmrc"),
    };
  }

  static async open(programs: Record<string, string>): Promise<Machine> {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "quartermaster_" }));
    for (const name of ["bin", "home", "tmp"]) await Deno.mkdir(join(folder, name));
    for (const [name, path] of Object.entries(programs)) {
      await Deno.symlink(path, join(folder, "bin", name));
    }
    const { stdout } = await new Deno.Command("npm", { args: ["config", "get", "registry"] })
      .output();
    return new Machine(folder, new TextDecoder().decode(stdout).trim());
  }

  get dataDir(): string {
    return join(this.home, ".local", "share", "quartermaster");
  }

  npm(...args: string[]): Promise<Ended> {
    return this.run("npm", args);
  }

  quartermaster(...args: string[]): Promise<Ended> {
    return this.run("quartermaster", args);
  }

  async run(program: string, args: string[], input = ""): Promise<Ended> {
    const child = this.start(program, args);
    await child.write(input);
    await child.end();
    return await child.ended;
  }

  start(program: string, args: string[]): Running {
    // By its whole path: Deno looks for programs on its own PATH.
    const folders = (this.#env.PATH ?? "").split(":");
    const path = folders.map((folder) => join(folder, program)).find((path) => exists(path));
    return new Running(path ?? program, { args, cwd: this.home, env: this.#env, clearEnv: true });
  }

  /** Waits until a search has nothing to say about embeddings that are missing. */
  async searchesByMeaning(): Promise<void> {
    for (let tries = 0; tries < 60; tries++) {
      const { out, err } = await this.quartermaster("search", "will it rain tomorrow");
      if (!/embedding/i.test(out + err)) return assert.match(out, /weather\.get_forecast/);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    throw new Error("The tools' embeddings were never computed");
  }

  processes(): Promise<string[]> {
    return processesWith(this.#folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/** A process whose output is read as it comes. */
class Running {
  readonly ended: Promise<Ended>;
  out = "";
  err = "";
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;

  constructor(program: string, options: Deno.CommandOptions) {
    this.#child = new Deno.Command(program, {
      ...options,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.ended = this.#read();
  }

  async #read(): Promise<Ended> {
    const limit = setTimeout(() => this.#child.kill("SIGKILL"), HANGS_MS);
    const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>, name: "out" | "err") => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) this[name] += text;
    };
    await Promise.all([read(this.#child.stdout, "out"), read(this.#child.stderr, "err")]);
    const { code } = await this.#child.status;
    clearTimeout(limit);
    return { code, out: this.out, err: this.err };
  }

  async write(text: string): Promise<void> {
    if (text !== "") await this.#input.write(new TextEncoder().encode(text));
  }

  async end(): Promise<void> {
    await this.#input.close().catch(() => {});
  }

  async stop(...signals: Deno.Signal[]): Promise<Ended> {
    for (const signal of signals) this.#child.kill(signal);
    await this.end();
    return await this.ended;
  }

  /** Waits for what it writes; fails if it ends before. */
  async said(pattern: RegExp): Promise<string> {
    let over = false;
    void this.ended.then(() => over = true);
    for (let tries = 0; tries < 1_200; tries++) {
      const [found] = pattern.exec(this.out + this.err) ?? [];
      if (found !== undefined) return found;
      if (over) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`It never said ${pattern}:\n${this.out}${this.err}`);
  }
}

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/;

async function callForecast(url: string) {
  const client = new Client({ name: "package test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url)));
  try {
    return await client.callTool({
      name: "weather_get_forecast",
      arguments: { location: "Oslo", days: 2 },
    });
  } finally {
    await client.close();
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Every file and link below a folder. */
function filesBelow(folder: string, path = ""): string[] {
  return [...Deno.readDirSync(join(folder, path))].flatMap(({ name, isDirectory }) => {
    const below = path === "" ? name : `${path}/${name}`;
    return isDirectory ? filesBelow(folder, below) : [below];
  });
}

const programs = Deno.build.os === "linux" ? findNode() : undefined;

Deno.test({
  name: "the package: installed on a machine with only Node, used, upgraded and uninstalled",
  ignore: !programs && Deno.env.get("CI") === undefined,
  async fn(t) {
    assert.ok(programs, "node and npm are needed on the PATH");
    await using machine = await Machine.open(programs);
    const output = await Deno.makeTempDir({ prefix: "quartermaster_" });
    const tarball = await makePackage(output);

    const install = async () => {
      // Without scripts: what Deno's npm package does after its installation is not needed.
      const { code, err } = await machine.npm("install", "-g", "--ignore-scripts", tarball);
      assert.equal(code, 0, err);
    };

    await t.step("npm installs the tarball", install);

    await t.step("the pages that the console refers to come with it", () => {
      const names = filesBelow(machine.prefix);
      for (const page of ["clients.md", "search.md", "optimization.md"]) {
        assert.ok(names.some((name) => name.endsWith(`/docs/${page}`)), page);
      }
    });

    await t.step(
      "the first start shows the console and serves tools, and SIGTERM stops it",
      async () => {
        const gateway = machine.start("quartermaster", ["--port", "0"]);
        const url = await gateway.said(ADDRESS);
        const page = await (await fetch(url)).text();
        assert.match(page, /weather/);
        const style = /href="(\/[^"]+\.css[^"]*)"/.exec(page)?.[1];
        const styled = await fetch(new URL(style ?? "/no-stylesheet", url));
        assert.equal(styled.status, 200);
        await styled.body?.cancel();
        assert.match(JSON.stringify(await callForecast(url)), /Oslo/);
        const command = (await machine.processes()).find((line) =>
          line.includes("--allow-write=")
        ) ?? "";
        assert.ok(
          command.includes(`--allow-write=${machine.dataDir},`) &&
            command.includes(`,${machine.temporary} `),
          `The gateway may write elsewhere: ${command}`,
        );
        assert.match((await machine.quartermaster("server", "list")).out, /weather +ready/);
        const called = ["tools", "call", "weather.get_forecast", "location=Oslo"];
        assert.match((await machine.quartermaster(...called)).out, /Oslo/);
        // The tokenizer and the model run apart from the gateway, from files of their own.
        const toolset = ["toolset", "create", "rain", "weather.get_forecast", "--json"];
        const created = await machine.quartermaster(...toolset);
        assert.equal(created.code, 0, created.err);
        assert.match(created.out, /"tokens": [1-9]/);
        await machine.searchesByMeaning();
        // Together, as a closed terminal sends them to a whole group: one stop, not one cut short.
        const { code, err } = await gateway.stop("SIGTERM", "SIGHUP");
        assert.equal(code, 0, err);
        assert.match(err, /"msg":"Stopped"/);
        assert.deepEqual(await machine.processes(), []);
      },
    );

    await t.step("commands write files where they are told to, also behind options", async () => {
      for (const options of [[], ["--data-dir", machine.dataDir]]) {
        const file = join(machine.home, "backup");
        const { code, err } = await machine.quartermaster(...options, "backup", file);
        assert.equal(code, 0, err);
        await Deno.remove(file);
      }
    });

    await t.step("exit codes and help pass through", async () => {
      assert.equal((await machine.quartermaster("frobnicate")).code, 2);
      assert.equal((await machine.quartermaster("--prot", "1")).code, 2);
      assert.equal((await machine.quartermaster("status")).code, 1);
      const { code, out } = await machine.quartermaster("--help");
      assert.equal(code, 0);
      assert.match(out, /server list [^]*--port PORT/);
      assert.doesNotMatch(out, /deno task/);
    });

    await t.step("a client can start it on its pipes", async () => {
      const params = {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "by hand", version: "1" },
      };
      const client = machine.start("quartermaster", ["--stdio"]);
      const request = { jsonrpc: "2.0", id: 1, method: "initialize", params };
      await client.write(`${JSON.stringify(request)}\n`);
      await client.said(/"serverInfo"/);
      await client.end();
      const { code, out } = await client.ended;
      assert.equal(code, 0);
      for (const line of out.trim().split("\n")) JSON.parse(line);
    });

    await t.step("on a terminal it shows its address, and Ctrl-C ends all of it", async () => {
      // With exec: a shell that waits for it, as dash does, would itself die of the Ctrl-C.
      const line = `exec '${join(machine.prefix, "bin", "quartermaster")}' start --port 0`;
      const terminal = machine.start("/usr/bin/script", ["-qec", line, "/dev/null"]);
      const url = await terminal.said(ADDRESS);
      assert.equal((await fetch(new URL("/healthz", url))).status, 200);
      await terminal.write("\x03");
      const { code, out } = await terminal.ended;
      await terminal.end();
      assert.equal(code, 0, `it ended with ${code}: ${out}`);
      assert.deepEqual(await machine.processes(), []);
    });

    await t.step("an upgrade goes on with the data of an older version", async () => {
      const location = join(machine.dataDir, "quartermaster.kv");
      using kv = await Deno.openKv(location);
      const { key, value } = schemaEntry(1);
      await kv.set(key, value);
      await install();
      const listed = await machine.quartermaster("toolset", "list");
      assert.match(listed.out, /rain/, listed.err);
      const newest = schemaEntry(newestVersion(MIGRATIONS));
      assert.deepEqual((await kv.get(key)).value, newest.value);
    });

    await t.step("uninstalling it leaves nothing but the data folder", async () => {
      const { code, err } = await machine.npm("uninstall", "-g", PACKAGE_NAME);
      assert.equal(code, 0, err);
      const left = filesBelow(machine.home);
      assert.deepEqual(
        left.filter((path) => !join(machine.home, path).startsWith(machine.dataDir)),
        [],
      );
      assert.ok(left.length > 0, "the data is gone");
      assert.deepEqual(filesBelow(machine.prefix), []);
      assert.deepEqual(filesBelow(machine.temporary), []);
    });
    await Deno.remove(output, { recursive: true });
  },
});

Deno.test("the package has the Deno that README and Dockerfile name, and cannot be published by accident", async () => {
  for (const file of ["README.md", "Dockerfile"]) {
    const text = await Deno.readTextFile(new URL(`../${file}`, import.meta.url));
    const named = [...text.matchAll(/deno@([\d.]+)/g)].map(([, version]) => version);
    assert.ok(named.length > 0, file);
    for (const version of named) assert.equal(version, TESTED_DENO, file);
  }
  const { dependencies, private: isPrivate } = npmManifest();
  assert.equal(isPrivate, true);
  for (const version of Object.values(dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/);
  assert.equal(dependencies.deno, TESTED_DENO);
});
