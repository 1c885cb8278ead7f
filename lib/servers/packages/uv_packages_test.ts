import assert from "node:assert/strict";
import { join } from "node:path";
import { isInstalled } from "../../../tests/installed.ts";
import { PythonIndex, pythonServer } from "../../../tests/fixtures/python_index.ts";
import type { PooledServer } from "../server.ts";
import { LockStage } from "./testing/lock_stage.ts";

const { signal } = new AbortController();

const ignore = !await isInstalled("uvx", "--version");

function entryOf(stage: LockStage, index: PythonIndex): PooledServer {
  const env = {
    UV_DEFAULT_INDEX: index.url,
    UV_CACHE_DIR: stage.cache,
    UV_PYTHON_DOWNLOADS: "never",
  };
  const program = { command: "uvx", args: ["notes"], env, cwd: stage.folder };
  return { name: "notes", spec: { type: "stdio", ...program }, source: { kind: "store" } };
}

Deno.test({
  name: "uvx runs the versions that were pinned, of dependencies too, without asking the index",
  ignore,
  async fn() {
    await using stage = await LockStage.open();
    await using index = new PythonIndex();
    index.publish("dep", "1.0", "VERSION = '1.0'");
    index.publish("notes", "1.0", `import dep\n${pythonServer("1.0")}`, ["dep"]);
    assert.equal(await stage.run(entryOf(stage, index)), "1.0");
    index.publish("dep", "2.0", "raise Exception('never seen')");
    index.publish("notes", "2.0", pythonServer("2.0"));
    const asked = index.asked.length;
    assert.equal(await stage.run(entryOf(stage, index)), "1.0");
    assert.equal(index.asked.length, asked);
    await stage.clearCache();
    assert.equal(await stage.run(entryOf(stage, index)), "1.0");
    const offer = await stage.lock.check(entryOf(stage, index), signal);
    assert.deepEqual(offer?.packages.map(({ version }) => version), ["2.0"]);
    assert.deepEqual(stage.lines.filter((line) => line.includes("Only the versions")), []);
  },
});

Deno.test({
  name: "uvx does not run an archive with another hash, whether or not the index says so",
  ignore,
  async fn() {
    await using stage = await LockStage.open();
    await using index = new PythonIndex();
    const file = index.publish("notes", "1.0", pythonServer("1.0"));
    assert.equal(await stage.run(entryOf(stage, index)), "1.0");
    const pinned = index.wheel(file);
    index.publish("notes", "1.0", pythonServer("swapped"));
    await stage.clearCache();
    assert.match(await stage.run(entryOf(stage, index)), /notes 1\.0 is not what was pinned/);
    index.swapped.set(file, index.wheel(file));
    index.publish("notes", "1.0", pythonServer("1.0"));
    assert.deepEqual(index.wheel(file), pinned);
    await stage.clearCache().catch(() => {});
    assert.match(await stage.run(entryOf(stage, index)), /notes 1\.0 is not what was pinned/);
    assert.ok(stage.audited.includes("package.changed"));
  },
});

Deno.test({
  name: "nothing of an isolated server's packages runs outside, not even their .pth files",
  ignore,
  async fn() {
    await using stage = await LockStage.open();
    await using index = new PythonIndex();
    const ran = join(stage.folder, "ran");
    const pth = { "notes.pth": `import os; open(${JSON.stringify(ran)}, "w")\n` };
    index.publish("notes", "1.0", pythonServer("1.0"), [], pth);
    const { spec, ...rest } = entryOf(stage, index);
    assert.ok(spec.type === "stdio");
    const isolated = { ...spec, isolation: { kind: "sandbox" as const } };
    const program = { ...isolated, baseEnv: Deno.env.toObject() };
    for (let start = 0; start < 2; start++) {
      const { args } = await stage.lock.prepare(
        { ...rest, spec: isolated },
        program,
        { onLog: () => {} },
        signal,
      );
      assert.deepEqual(args, ["--offline", "notes==1.0"]);
    }
    await assert.rejects(Deno.stat(ran));
    assert.equal(await stage.run({ ...rest, spec }), "1.0");
    await Deno.stat(ran);
  },
});

Deno.test({
  name: "an mcp.lock has the dependencies of what uvx runs too",
  ignore,
  async fn() {
    await using stage = await LockStage.open();
    await using other = await LockStage.open();
    await using index = new PythonIndex();
    index.publish("dep", "1.0", "VERSION = '1.0'");
    index.publish("notes", "1.0", `import dep\n${pythonServer("1.0")}`, ["dep"]);
    const source = { kind: "file" as const, path: join(other.folder, ".mcp.json") };
    const entry = { ...entryOf(stage, index), source };
    assert.equal(await stage.run(entry), "1.0");
    const file = await stage.lock.lockFile([entry]);
    await Deno.writeTextFile(join(other.folder, "mcp.lock"), JSON.stringify(file));
    index.publish("dep", "2.0", "raise Exception('never seen')");
    const theirs = { ...entryOf(other, index), source };
    assert.equal(await other.run(theirs), "1.0");
    assert.deepEqual((await other.lock.lockFile([theirs])).servers, file.servers);
  },
});

Deno.test({
  name: "a look for updates builds nothing, and added wheels are no swapped ones",
  ignore,
  async fn() {
    await using stage = await LockStage.open();
    await using index = new PythonIndex();
    index.publish("notes", "1.0", pythonServer("1.0"));
    assert.equal(await stage.run(entryOf(stage, index)), "1.0");
    await stage.clearCache();
    index.addWheel("notes", "1.0");
    assert.equal(await stage.run(entryOf(stage, index)), "1.0");
    const ran = join(stage.folder, "ran");
    index.publishSource("notes", "2.0", `open(${JSON.stringify(ran)}, "w")`);
    assert.equal(await stage.lock.check(entryOf(stage, index), signal), undefined);
    await assert.rejects(Deno.stat(ran));
  },
});

Deno.test({
  name: "without the index, what uvx has run so far is pinned",
  ignore,
  async fn() {
    await using stage = await LockStage.open();
    await using index = new PythonIndex();
    index.publish("notes", "1.0", pythonServer("1.0"));
    const entry = entryOf(stage, index);
    assert.ok(entry.spec.type === "stdio");
    const unpinned = { ...entry, spec: { ...entry.spec, pin: false } };
    assert.equal(await stage.run(unpinned), "1.0");
    index.goDown();
    assert.equal(await stage.run(entry), "1.0");
    assert.equal(stage.lock.pinOf(entry)?.pin.packages[0]?.version, "1.0");
  },
});
