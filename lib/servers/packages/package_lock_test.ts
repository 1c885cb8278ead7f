import assert from "node:assert/strict";
import { join } from "node:path";
import { NpmRegistry, serverProgram } from "../../../tests/fixtures/npm_registry.ts";
import type { ProgramSpec } from "../../core/server.ts";
import { npxFolder } from "../processes/installer.ts";
import type { PooledServer } from "../server.ts";
import type { PackageLock } from "./package_lock.ts";
import { LockStage } from "./testing/lock_stage.ts";

const NAME = "@acme/notes";
const DAY_MS = 86_400_000;
const { signal } = new AbortController();

const ignore = Deno.build.os === "windows" ||
  !await new Deno.Command("npx", { args: ["--version"], stdout: "null", stderr: "null" }).output()
    .then(({ success }) => success, () => false);

class NpmStage implements AsyncDisposable {
  readonly registry = new NpmRegistry();
  readonly #stage: LockStage;

  private constructor(stage: LockStage) {
    this.#stage = stage;
    this.registry.publish({ name: "dep", version: "1.0.0", files: { "index.js": "" } });
    this.publish("1.0.0");
  }

  static async open(coolDownDays = 0): Promise<NpmStage> {
    return new NpmStage(await LockStage.open(coolDownDays));
  }

  get folder(): string {
    return this.#stage.folder;
  }

  get lock(): PackageLock {
    return this.#stage.lock;
  }

  get audited(): string[] {
    return this.#stage.audited;
  }

  /** Publishes the server's package as `latest`. */
  publish(version: string, description = version, at = new Date(Date.now() - DAY_MS)): void {
    const files = { "index.js": serverProgram([{ name: "note", description }]) };
    const dependencies = { dep: "^1.0.0" };
    this.registry.publish({ name: NAME, version, bin: "index.js", files, dependencies, at });
  }

  entry(spec = NAME, more: Partial<ProgramSpec> = {}): PooledServer {
    const env = {
      npm_config_cache: this.#stage.cache,
      npm_config_registry: this.registry.url,
      npm_config_audit: "false",
      npm_config_fund: "false",
      npm_config_update_notifier: "false",
    };
    const program = { command: "npx", args: ["-y", spec], env, cwd: this.folder, ...more };
    return { name: "notes", spec: { type: "stdio", ...program }, source: { kind: "store" } };
  }

  run(entry = this.entry()): Promise<string> {
    return this.#stage.run(entry);
  }

  forgetTrees(): Promise<void> {
    return this.#stage.forgetTrees();
  }

  clearCache(): Promise<void> {
    return this.#stage.clearCache();
  }

  npxFolder(spec: string): Promise<string> {
    return npxFolder({ packages: [spec], env: {}, cache: this.#stage.cache }, { env: {} });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stage[Symbol.asyncDispose]();
    await this.registry[Symbol.asyncDispose]();
  }
}

Deno.test({
  name: "what `latest` was at the first start is what runs, on this machine and on others",
  ignore,
  async fn() {
    await using stage = await NpmStage.open();
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
    await using stage = await NpmStage.open();
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
    await using stage = await NpmStage.open();
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
    await using stage = await NpmStage.open();
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
    await using stage = await NpmStage.open();
    assert.equal(await stage.run(), "1.0.0");
    const modules = join(await stage.npxFolder(`${NAME}@1.0.0`), "node_modules");
    const path = join(modules, ".package-lock.json");
    const text = await Deno.readTextFile(path);
    const { packages } = JSON.parse(text);
    await Deno.writeTextFile(
      path,
      text.replace(packages["node_modules/dep"].integrity, "sha512-x"),
    );
    assert.match(await stage.run(), /is not what was pinned: dep 1\.0\.0 has another hash/);
    // As a repair does.
    await Deno.remove(await stage.npxFolder(`${NAME}@1.0.0`), { recursive: true });
    assert.equal(await stage.run(), "1.0.0");
  },
});

Deno.test({
  name: "without its stored list, what is installed is compared with the list's hash",
  ignore,
  async fn() {
    await using stage = await NpmStage.open();
    assert.equal(await stage.run(), "1.0.0");
    await stage.forgetTrees();
    assert.equal(await stage.run(), "1.0.0");
    stage.registry.publish({ name: "dep", version: "1.1.0", files: { "index.js": "" } });
    await stage.clearCache();
    assert.match(await stage.run(), /is not what was pinned: it was installed with other packages/);
  },
});

Deno.test({
  name: "without the registry, what is pinned and installed runs, and what was cached is pinned",
  ignore,
  async fn() {
    await using stage = await NpmStage.open();
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
    await using stage = await NpmStage.open();
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
  name: "an update of an isolated server runs nothing of its packages or its project outside",
  ignore,
  async fn() {
    await using stage = await NpmStage.open();
    const { spec, ...rest } = stage.entry();
    assert.ok(spec.type === "stdio");
    const env = { ...spec.env, XDG_CACHE_HOME: join(stage.folder, "caches") };
    assert.equal(await stage.run({ ...rest, spec: { ...spec, env } }), "1.0.0");
    const ran = join(stage.folder, "ran");
    const scripts = { install: `touch '${ran}'` };
    stage.registry.publish({ name: "dep", version: "1.1.0", files: { "x.js": "" }, scripts });
    stage.publish("1.1.0");
    const shell = join(stage.folder, "shell");
    await Deno.writeTextFile(shell, `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
    await Deno.writeTextFile(join(stage.folder, ".npmrc"), `script-shell=${shell}\n`);
    const own = join(stage.folder, "node_modules", NAME);
    await Deno.mkdir(own, { recursive: true });
    const planted = JSON.stringify({ name: NAME, version: "1.1.0" });
    await Deno.writeTextFile(join(own, "package.json"), planted);
    const entry = { ...rest, spec: { ...spec, env, isolation: { kind: "sandbox" as const } } };
    const offer = await stage.lock.check(entry, signal);
    assert.ok(offer);
    const { tree } = await stage.lock.install(entry, offer, signal);
    assert.notEqual(tree, "");
    await assert.rejects(Deno.stat(ran));
    const events = { onLog: () => {} };
    const program = { ...entry.spec, baseEnv: Deno.env.toObject() };
    await stage.lock.accept(entry, { ...offer, tree });
    await stage.lock.prepare(entry, program, events, signal);
    await assert.rejects(Deno.stat(ran));
    const places = { packages: [`${NAME}@1.1.0`], env: {} };
    const cache = join(env.XDG_CACHE_HOME, "quartermaster", "isolated", "npm");
    await Deno.stat(join(await npxFolder({ ...places, cache }, { env: {} }), "node_modules"));
    await assert.rejects(Deno.stat(await stage.npxFolder(`${NAME}@1.1.0`)));
  },
});

Deno.test({
  name: "a release that is younger than the cool-down is neither pinned nor offered",
  ignore,
  async fn() {
    await using stage = await NpmStage.open(3);
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
    await using stage = await NpmStage.open();
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
  name: "a program that a folder above or a global install has runs from there",
  ignore,
  async fn() {
    await using stage = await NpmStage.open();
    const linked = async (bin: string, name: string) => {
      await Deno.mkdir(bin, { recursive: true });
      const program = serverProgram([{ name: "note", description: name }]);
      await Deno.writeTextFile(join(bin, name), program, { mode: 0o755 });
      await Deno.writeTextFile(join(bin, "package.json"), JSON.stringify({ version: "1.0.0" }));
    };
    const global = join(stage.folder, "global");
    await linked(join(stage.folder, "node_modules", ".bin"), "above");
    await linked(join(global, "bin"), "everywhere");
    const cwd = join(stage.folder, "project");
    await Deno.mkdir(cwd);
    await Deno.writeTextFile(join(cwd, "package.json"), "{}");
    for (const name of ["above", "everywhere"]) {
      const entry = stage.entry(name, { cwd });
      assert.ok(entry.spec.type === "stdio");
      entry.spec.env.npm_config_prefix = global;
      // Somebody else's package of this name.
      const files = { "index.js": serverProgram([{ name: "note", description: "foreign" }]) };
      stage.registry.publish({ name, version: "9.0.0", bin: "index.js", files });
      assert.equal(await stage.run(entry), name);
      assert.equal(stage.lock.pinOf(entry), undefined);
    }
  },
});

Deno.test({
  name: "an mcp.lock beside the config file decides, and an entry that it does not fit is refused",
  ignore,
  async fn() {
    await using stage = await NpmStage.open();
    const source = { kind: "file" as const, path: join(stage.folder, ".mcp.json") };
    const entry = { ...stage.entry(), source };
    assert.equal(await stage.run(entry), "1.0.0");
    const file = await stage.lock.lockFile([entry]);
    await Deno.writeTextFile(join(stage.folder, "mcp.lock"), JSON.stringify(file));
    // On another machine, where neither a pin nor a cache is.
    await using other = await NpmStage.open();
    await Deno.copyFile(join(stage.folder, "mcp.lock"), join(other.folder, "mcp.lock"));
    other.publish("1.1.0");
    const theirs = {
      ...other.entry(),
      source: { ...source, path: join(other.folder, ".mcp.json") },
    };
    const changed = { ...theirs, ...other.entry(`${NAME}@1.1.0`), source: theirs.source };
    assert.equal(await other.run(theirs), "1.0.0");
    assert.match(await other.run(changed), /The entry of server "notes" is not what was pinned/);
    await Deno.writeTextFile(join(other.folder, "mcp.lock"), "{");
    assert.match(await other.run(theirs), /Cannot read .*mcp\.lock/);
  },
});
