import assert from "node:assert/strict";
import { join } from "node:path";
import { NpmRegistry, serverProgram } from "../../../tests/fixtures/npm_registry.ts";
import { isProgram, type ProgramSpec } from "../../core/server.ts";
import { Store } from "../../storage/store.ts";
import { npxFolder } from "../processes/installer.ts";
import { Installs } from "../processes/installs.ts";
import { ManagedServer, type PooledServer } from "../server.ts";
import { silentLog, until } from "../testing/fake_server.ts";
import { StdioTransport } from "../transports/stdio.ts";
import { ownerOf } from "../transports/testing/transport_harness.ts";
import { PackageLock } from "./package_lock.ts";

const NAME = "@acme/notes";
const DAY_MS = 86_400_000;
const { signal } = new AbortController();

const ignore = Deno.build.os === "windows" ||
  !await new Deno.Command("npx", { args: ["--version"], stdout: "null", stderr: "null" }).output()
    .then(({ success }) => success, () => false);

interface Stage extends AsyncDisposable {
  registry: NpmRegistry;
  folder: string;
  audited: string[];
  lock: PackageLock;
  /** Publishes the server's package as `latest`. */
  publish(version: string, description?: string, at?: Date): void;
  entry(spec?: string, more?: Partial<ProgramSpec>): PooledServer;
  start(entry: PooledServer): ManagedServer;
  /** The description of its tool, once it is ready; else why it is not. */
  outcome(server: ManagedServer): Promise<string>;
  run(entry?: PooledServer): Promise<string>;
  /** Removes what npm has cached, as on another machine. */
  clearCache(): Promise<void>;
  npxFolder(spec: string): Promise<string>;
}

async function setStage(coolDownDays = 0): Promise<Stage> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "quartermaster_lock_" }));
  const cache = join(folder, "cache");
  const registry = new NpmRegistry();
  registry.publish({ name: "dep", version: "1.0.0", files: { "index.js": "" } });
  const store = await Store.open({ location: ":memory:" });
  const owner = ownerOf(crypto.randomUUID());
  const installs = new Installs({});
  const audited: string[] = [];
  const lock = new PackageLock({
    ...{ store, owner, installs, coolDownDays },
    fill: (spec) => Promise.resolve(spec),
    onAudit: ({ action }) => void audited.push(action),
  });
  const servers: ManagedServer[] = [];
  const lists = new Map<string, string>();
  const stage: Stage = {
    ...{ registry, folder, audited, lock },
    publish(version, description = version, at = new Date(Date.now() - DAY_MS)) {
      const program = serverProgram([{ name: "note", description }]);
      const dependencies = { dep: "^1.0.0" };
      const files = { "index.js": program };
      registry.publish({ name: NAME, version, bin: "index.js", files, dependencies, at });
    },
    entry(spec = NAME, more = {}) {
      const env = {
        npm_config_cache: cache,
        npm_config_registry: registry.url,
        npm_config_audit: "false",
        npm_config_fund: "false",
        npm_config_update_notifier: "false",
      };
      const program = { command: "npx", args: ["-y", spec], env, cwd: folder, ...more };
      return { name: "notes", spec: { type: "stdio", ...program }, source: { kind: "store" } };
    },
    start(entry) {
      const server = new ManagedServer({
        server: entry,
        log: silentLog(),
        async openTransport(entry, events, signal) {
          assert.ok(isProgram(entry.spec));
          const baseEnv = Deno.env.toObject();
          const program = { ...entry.spec, name: entry.name, baseEnv, owner, installs };
          const pinned = await lock.prepare(entry, program, events, signal);
          return await StdioTransport.open(pinned, events, signal);
        },
        onStatus: () => {},
        knownTools: () => Promise.resolve([]),
        onTools(name, tools) {
          lists.set(name, tools.map((text) => JSON.parse(text).description).join());
          return Promise.resolve(tools.length);
        },
      });
      servers.push(server);
      server.start();
      return server;
    },
    async outcome(server) {
      await until(() => ["ready", "failed"].includes(server.status.state));
      await lock.load();
      const { state, name, lastError = "" } = server.status;
      return state === "ready" ? lists.get(name)! : lastError;
    },
    async run(entry = stage.entry()) {
      const server = stage.start(entry);
      const outcome = await stage.outcome(server);
      await server[Symbol.asyncDispose]();
      return outcome;
    },
    clearCache: () => Deno.remove(cache, { recursive: true }),
    npxFolder: (spec) => npxFolder({ packages: [spec], env: {}, cache }, { env: {} }),
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
      await installs[Symbol.asyncDispose]();
      await owner[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
  stage.publish("1.0.0");
  return stage;
}

Deno.test({
  name: "what `latest` was at the first start is what runs, on this machine and on others",
  ignore,
  async fn() {
    await using stage = await setStage();
    assert.equal(await stage.run(), "1.0.0");
    const [pinned] = [stage.lock.pinOf(stage.entry())?.pin];
    assert.deepEqual(pinned?.packages.map(({ version }) => version), ["1.0.0"]);
    assert.deepEqual(stage.audited, ["package.pin"]);
    stage.publish("1.1.0");
    stage.registry.publish({ name: "dep", version: "1.1.0", files: { "index.js": "" } });
    const asked = stage.registry.asked.length;
    assert.equal(await stage.run(), "1.0.0");
    // An installed package that is the pinned one starts without the registry.
    assert.equal(stage.registry.asked.length, asked);
    await stage.clearCache();
    assert.equal(await stage.run(), "1.0.0");
    assert.ok(stage.registry.asked.includes("/dep/-/1.0.0.tgz"));
    assert.ok(!stage.registry.asked.includes("/dep/-/1.1.0.tgz"));
    // Another entry is another decision.
    assert.equal(await stage.run(stage.entry(`${NAME}@latest`)), "1.1.0");
    assert.equal(await stage.run(stage.entry(NAME, { pin: false })), "1.1.0");
  },
});

Deno.test({
  name: "the same version with another archive is refused, whether it is installed or not",
  ignore,
  async fn() {
    await using stage = await setStage();
    assert.equal(await stage.run(stage.entry(`${NAME}@1.0.0`)), "1.0.0");
    stage.publish("1.0.0", "swapped");
    // What is installed is still the pinned one.
    assert.equal(await stage.run(stage.entry(`${NAME}@1.0.0`)), "1.0.0");
    await stage.clearCache();
    const downloads = () => stage.registry.asked.filter((path) => path.endsWith(".tgz")).length;
    const before = downloads();
    const refused = await stage.run(stage.entry(`${NAME}@1.0.0`));
    assert.match(refused, /@acme\/notes 1\.0\.0 is not what was pinned: its hash is sha512-/);
    assert.equal(downloads(), before);
    assert.deepEqual(stage.audited, ["package.pin", "package.changed"]);
    await stage.lock.forget("notes");
    assert.equal(await stage.run(stage.entry(`${NAME}@1.0.0`)), "swapped");
  },
});

Deno.test({
  name: "a swapped dependency is refused before any of its scripts run",
  ignore,
  async fn() {
    await using stage = await setStage();
    assert.equal(await stage.run(), "1.0.0");
    const ran = join(stage.folder, "ran");
    const scripts = { install: `touch '${ran}'` };
    stage.registry.publish({ name: "dep", version: "1.0.0", files: { "x.js": "" }, scripts });
    await stage.clearCache();
    assert.match(await stage.run(), /@acme\/notes 1\.0\.0 is not what was pinned: .*integrity/i);
    await assert.rejects(Deno.stat(ran));
    assert.ok(stage.audited.includes("package.changed"));
  },
});

Deno.test({
  name: "install scripts of what is pinned run",
  ignore,
  async fn() {
    await using stage = await setStage();
    const ran = join(stage.folder, "ran");
    const scripts = { install: `touch '${ran}'` };
    stage.registry.publish({ name: "dep", version: "1.0.0", files: { "x.js": "" }, scripts });
    assert.equal(await stage.run(), "1.0.0");
    await Deno.stat(ran);
  },
});

Deno.test({
  name: "installed files of another tree do not run",
  ignore,
  async fn() {
    await using stage = await setStage();
    assert.equal(await stage.run(), "1.0.0");
    const modules = join(await stage.npxFolder(`${NAME}@1.0.0`), "node_modules");
    const path = join(modules, ".package-lock.json");
    const text = await Deno.readTextFile(path);
    const { packages } = JSON.parse(text);
    await Deno.writeTextFile(path, text.replace(packages["node_modules/dep"].integrity, "sha512-x"));
    assert.match(await stage.run(), /is not what was pinned: dep 1\.0\.0 has another hash/);
  },
});

Deno.test({
  name: "without the registry, what is pinned and installed runs, and what was cached is pinned",
  ignore,
  async fn() {
    await using stage = await setStage();
    assert.equal(await stage.run(stage.entry(NAME, { pin: false })), "1.0.0");
    stage.registry.goDown();
    assert.equal(await stage.run(), "1.0.0");
    assert.equal(await stage.run(), "1.0.0");
    assert.match(await stage.run(stage.entry("@acme/other")), /Cannot start server "notes": .*404/);
  },
});

Deno.test({
  name: "a newer release is offered and does not run until it is accepted",
  ignore,
  async fn() {
    await using stage = await setStage();
    const entry = stage.entry(`${NAME}@^1.0.0`);
    assert.equal(await stage.run(entry), "1.0.0");
    assert.equal(await stage.lock.check(entry, signal), undefined);
    stage.publish("1.2.0");
    stage.publish("2.0.0");
    const offer = await stage.lock.check(entry, signal);
    assert.deepEqual(offer?.packages.map(({ version }) => version), ["1.2.0"]);
    assert.equal(await stage.run(entry), "1.0.0");
    assert.ok(offer);
    assert.equal(await stage.run({ ...entry, release: offer }), "1.2.0");
    assert.equal(await stage.run(entry), "1.0.0");
    const release = await stage.lock.install(entry, offer, signal);
    await stage.lock.accept(entry, { ...offer, ...release });
    assert.equal(await stage.run(entry), "1.2.0");
    assert.equal(stage.lock.pinOf(entry)?.offer, undefined);
    assert.equal(typeof stage.lock.stampOf("notes"), "number");
    // A pinned release whose archive was swapped since is noticed, though it still runs.
    stage.publish("1.2.0", "swapped");
    await assert.rejects(stage.lock.check(entry, signal), { code: "PACKAGE_CHANGED" });
    assert.deepEqual(stage.audited, ["package.pin", "package.update", "package.changed"]);
  },
});

Deno.test({
  name: "a release that is younger than the cool-down is neither pinned nor offered",
  ignore,
  async fn() {
    await using stage = await setStage(3);
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
    stage.publish("1.0.0", "1.0.0", daysAgo(9));
    stage.publish("1.1.0", "1.1.0", daysAgo(5));
    stage.publish("1.2.0-beta.1", "beta", daysAgo(4));
    stage.publish("1.2.0", "1.2.0", daysAgo(1));
    assert.equal(await stage.run(), "1.1.0");
    assert.equal(await stage.lock.check(stage.entry(), signal), undefined);
    const none = await stage.run(stage.entry(`${NAME}@~1.2.0`));
    assert.match(none, /No release of @acme\/notes@~1\.2\.0 is at least 3 days old/);
  },
});

Deno.test({
  name: "a package in the project's own node_modules runs from there",
  ignore,
  async fn() {
    await using stage = await setStage();
    const own = join(stage.folder, "node_modules", NAME);
    await Deno.mkdir(own, { recursive: true });
    const manifest = { name: NAME, version: "0.5.0", bin: { notes: "index.js" } };
    await Deno.writeTextFile(join(own, "package.json"), JSON.stringify(manifest));
    const program = serverProgram([{ name: "note", description: "own" }]);
    await Deno.writeTextFile(join(own, "index.js"), program, { mode: 0o755 });
    const bin = join(stage.folder, "node_modules", ".bin");
    await Deno.mkdir(bin);
    await Deno.symlink(join(own, "index.js"), join(bin, "notes"));
    assert.equal(await stage.run(), "own");
    assert.equal(stage.lock.pinOf(stage.entry()), undefined);
    assert.equal(await stage.run(stage.entry(`${NAME}@1.0.0`)), "1.0.0");
  },
});

Deno.test({
  name: "an mcp.lock beside the config file decides, and an entry that it does not fit is refused",
  ignore,
  async fn() {
    await using stage = await setStage();
    const source = { kind: "file" as const, path: join(stage.folder, ".mcp.json") };
    const entry = { ...stage.entry(), source };
    assert.equal(await stage.run(entry), "1.0.0");
    const file = await stage.lock.lockFile([entry]);
    await Deno.writeTextFile(join(stage.folder, "mcp.lock"), JSON.stringify(file));
    // On another machine, where neither a pin nor a cache is.
    await using other = await setStage();
    await Deno.copyFile(join(stage.folder, "mcp.lock"), join(other.folder, "mcp.lock"));
    other.publish("1.1.0");
    const theirs = { ...other.entry(), source: { ...source, path: join(other.folder, ".mcp.json") } };
    const changed = { ...theirs, ...other.entry(`${NAME}@1.1.0`), source: theirs.source };
    assert.equal(await other.run(theirs), "1.0.0");
    assert.match(await other.run(changed), /The entry of server "notes" is not what was pinned/);
    await Deno.writeTextFile(join(other.folder, "mcp.lock"), "{");
    assert.match(await other.run(theirs), /Cannot read .*mcp\.lock/);
  },
});
