import assert from "node:assert/strict";
import { basename, dirname, join } from "node:path";
import { BROKEN_CACHE } from "../../core/failure_cause.ts";
import { ManagedServer } from "../server.ts";
import { silentLog, until } from "../testing/fake_server.ts";
import { Installs, type InstallTimings } from "./installs.ts";
import { npxFolder } from "./installer.ts";
import { findMarked } from "./process_group.ts";
import { StdioTransport } from "../transports/stdio.ts";
import { ownerOf } from "../transports/testing/transport_harness.ts";

// Fills its folder as npm does, but for as long as there is no file "go", and then serves MCP.
const NPX = `#!/bin/sh
folder="$npm_config_cache/_npx/$HASH"
modules="$folder/node_modules"
trap 'echo "undone $2" >> "$LOG"; rm -rf "$folder"; exit 143' TERM
if [ ! -e "$modules/.package-lock.json" ]; then
  [ -e "$modules" ] && { echo "Error: Cannot find package '$modules/zod/index.js'" >&2; exit 1; }
  echo "begin $2" >> "$LOG"
  mkdir -p "$modules/part"
  while [ ! -e "$GO" ]; do sleep 0.05; done
  touch "$modules/.package-lock.json"
  echo "end $2" >> "$LOG"
fi
[ -e "$modules/broken" ] && { echo "Error: Cannot find package '$modules/zod/index.js'" >&2; exit 1; }
exec sh -c '
echo ready >&2
while read -r line; do
  case "$line" in
    *\\"initialize\\"*) echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":0,\\"result\\":{\\"protocolVersion\\":\\"2025-11-25\\",\\"serverInfo\\":{\\"name\\":\\"x\\"}}}" ;;
  esac
done'
`;

interface Stage extends AsyncDisposable {
  installs: Installs;
  /** Aborts when the gateway begins to stop. */
  stopping: AbortController;
  cache: string;
  /** Lets every install come to its end. */
  go(): Promise<void>;
  log(): Promise<string>;
  processes(): Promise<number[]>;
  start(name: string, startTimeoutMs?: number): Promise<ManagedServer & { seen: string[] }>;
}

async function setStage(timings: Partial<InstallTimings> = {}): Promise<Stage> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "quartermaster_installs_" }));
  const [npx, cache, go, log] = ["npx", "cache", "go", "log"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  await Deno.writeTextFile(npx, NPX, { mode: 0o755 });
  await Deno.writeTextFile(log, "");
  const owner = ownerOf(crypto.randomUUID());
  const stopping = new AbortController();
  const installs = new Installs({ look: 100, firstLook: 50, ...timings }, stopping.signal);
  const servers: ManagedServer[] = [];
  return {
    installs,
    stopping,
    cache,
    go: () => Deno.writeTextFile(go, ""),
    log: () => Deno.readTextFile(log),
    processes: () => findMarked(owner.marker),
    async start(name, startTimeoutMs = 5_000) {
      const packages = [name];
      const hash = (await npxFolder({ packages, env: {}, cache }, { env: {} })).split("/").at(-1)!;
      const env = { npm_config_cache: cache, GO: go, LOG: log, HASH: hash };
      const seen: string[] = [];
      const server = new ManagedServer({
        server: {
          name,
          spec: { type: "stdio", command: npx, args: ["-y", name], env, startTimeoutMs },
          source: { kind: "store" },
        },
        log: silentLog(),
        openTransport: ({ spec }, events, signal) => {
          assert.ok(spec.type === "stdio");
          const baseEnv = Deno.env.toObject();
          return StdioTransport.open({ ...spec, name, baseEnv, owner, installs }, events, signal);
        },
        onStatus: ({ state, reason }) => void seen.push(`${state}: ${reason}`),
        knownTools: () => Promise.resolve([]),
        onTools: (_, tools) => Promise.resolve(tools.length),
      });
      servers.push(server);
      server.start();
      return Object.assign(server, { seen });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
      await installs[Symbol.asyncDispose]();
      assert.deepEqual(await findMarked(owner.marker), []);
      await owner[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "servers of one cache install one after another, and the start timeout does not count that",
  ignore,
  async fn() {
    await using stage = await setStage();
    const one = await stage.start("one", 1_000);
    await until(() => one.status.reason === "npx is installing one");
    const two = await stage.start("two", 1_000);
    await until(() => two.status.reason === "Waiting for another npx install to finish");
    assert.equal(two.status.state, "installing");
    // Longer than the start time-out of both.
    const began = Date.now();
    await until(() => Date.now() - began > 1_500);
    assert.deepEqual([one.status.state, two.status.state], ["installing", "installing"]);
    assert.equal(await stage.log(), "begin one\n");
    await stage.go();
    await until(() => one.status.state === "ready" && two.status.state === "ready");
    assert.equal(await stage.log(), "begin one\nend one\nbegin two\nend two\n");
    for (const { seen } of [one, two]) assert.ok(!seen.some((told) => /^failed/.test(told)));
    assert.ok(two.seen.includes("installing: npx is installing two"));
  },
});

Deno.test({
  name: "an installed package does not wait",
  ignore,
  async fn() {
    await using stage = await setStage();
    await stage.go();
    const two = await stage.start("two");
    await until(() => two.status.state === "ready");
    await two[Symbol.asyncDispose]();
    await Deno.remove(join(stage.cache, "..", "go"));
    const one = await stage.start("one");
    await until(() => one.status.state === "installing");
    const again = await stage.start("two");
    await until(() => again.status.state === "ready");
    assert.equal(one.status.state, "installing");
    assert.ok(!again.seen.some((told) => /^installing/.test(told)), again.seen.join());
  },
});

Deno.test({
  name: "a restart or a removal in mid-install lets the installer finish",
  ignore,
  async fn() {
    await using stage = await setStage();
    const one = await stage.start("one");
    await until(() => one.status.reason === "npx is installing one");
    await until(() => Deno.readTextFileSync(join(stage.cache, "..", "log")) !== "");
    const restarted = one.restart();
    await until(() => one.status.reason === "Waiting for another npx install to finish");
    const removed = await stage.start("removed");
    await removed[Symbol.asyncDispose]();
    assert.equal(await stage.log(), "begin one\n");
    await stage.go();
    await restarted;
    assert.equal(one.status.state, "ready");
    assert.equal(await stage.log(), "begin one\nend one\n");
    const [program] = await stage.processes();
    assert.deepEqual(await stage.processes(), [program], "the program of the first start is gone");
  },
});

Deno.test({
  name: "a stop in mid-install asks the installer to undo it, and leaves no process",
  ignore,
  async fn() {
    const stage = await setStage();
    const one = await stage.start("one");
    await until(() => Deno.readTextFileSync(join(stage.cache, "..", "log")) !== "");
    await one[Symbol.asyncDispose]();
    assert.ok((await stage.processes()).length > 0, "it goes on until the gateway stops");
    await stage.installs[Symbol.asyncDispose]();
    assert.deepEqual(await stage.processes(), []);
    assert.equal(await stage.log(), "begin one\nundone one\n");
    await stage[Symbol.asyncDispose]();
  },
});

Deno.test({
  name: "a stop of the gateway ends installers without waiting for its servers",
  ignore,
  async fn() {
    await using stage = await setStage();
    const log = join(stage.cache, "..", "log");
    const one = await stage.start("one");
    await until(() => Deno.readTextFileSync(log) !== "");
    stage.stopping.abort();
    await one[Symbol.asyncDispose]();
    await until(() => Deno.readTextFileSync(log) === "begin one\nundone one\n");
  },
});

Deno.test({
  name: "an npm that somebody else started counts only if it uses the same cache",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using stage = await setStage();
    await stage.go();
    /** An npm under its own title, as one that is stuck looks; it has no children. */
    const startNpm = (cache: string) =>
      new Deno.Command("bash", {
        // Without an argument: a title is the whole command line.
        args: ["-c", 'exec -a "npm exec one" cat'],
        stdin: "piped",
        // A relative cache is in the process's own folder.
        cwd: dirname(stage.cache),
        env: { npm_config_cache: cache },
      }).spawn();
    const folder = await npxFolder({ packages: ["one"], env: {}, cache: stage.cache }, { env: {} });
    await Deno.mkdir(join(folder, "node_modules", "part"), { recursive: true });
    const [elsewhere, here] = [startNpm("cache_of_another"), startNpm(basename(stage.cache))];
    try {
      const one = await stage.start("one");
      await until(() => one.status.reason === "Waiting for another npx install to finish");
      here.kill("SIGKILL");
      await here.status;
      await until(() => one.status.state === "ready");
    } finally {
      for (const npm of [elsewhere, here]) {
        try {
          npm.kill("SIGKILL");
        } catch { /* ended above */ }
        await npm.stdin.close().catch(() => {});
        await npm.status;
      }
    }
  },
});

Deno.test("Installs.begin() says when a wait is over, also if nothing has to be fetched", async () => {
  await using installs = new Installs({ look: 10 });
  const program = { command: "uvx", args: ["one"], env: { HOME: "/home/somebody" } };
  const first = await installs.begin(program, { onInstall: () => {} });
  const told: (string | undefined)[] = [];
  const onInstall = (reason: string | undefined) => void told.push(reason);
  const second = installs.begin({ ...program, args: ["two"] }, { onInstall });
  await until(() => told.length === 1);
  first?.end();
  (await second)?.end();
  assert.deepEqual(told, ["Waiting for another uvx install to finish", undefined]);
});

Deno.test("installs of one family wait for each other only if they share a package cache", async () => {
  await using installs = new Installs({ look: 10 });
  const env = { HOME: "/home/somebody", UV_CACHE_DIR: "/cache" };
  const begin = (program: { args: string[]; env?: Record<string, string>; command?: string }) => {
    const reasons: (string | undefined)[] = [];
    const onInstall = (reason: string | undefined) => void reasons.push(reason);
    const begun = installs.begin({ command: "uvx", env, ...program }, { onInstall });
    return { begun, reasons };
  };
  const first = await begin({ args: ["one"] }).begun;
  const others = [
    { args: ["two"], env: { ...env, UV_CACHE_DIR: "/other" } },
    { args: ["--cache-dir", "/named", "two"] },
    { command: "env", args: ["UV_CACHE_DIR=/wrapped", "uvx", "two"] },
    { args: ["two"], env: { HOME: "/home/another" } },
    { args: ["two"], env: { HOME: "/home/another", XDG_CACHE_HOME: "/xdg" } },
    { command: "npx", args: ["two"] },
  ];
  for (const program of others) {
    const { begun, reasons } = begin(program);
    const install = await begun;
    assert.ok(install);
    assert.ok(!reasons.includes("Waiting for another uvx install to finish"));
    install.end();
  }
  const { begun, reasons } = begin({ args: ["--cache-dir=/cache", "two"], env: {} });
  await until(() => reasons[0] === "Waiting for another uvx install to finish");
  first?.end();
  (await begun)?.end();
});

Deno.test("images that docker or podman fetches are told as installs", async () => {
  await using installs = new Installs();
  for (
    const [command, began, ended] of [
      ["docker", "Unable to find image 'image:latest' locally", "Status: Downloaded newer image"],
      [
        "podman",
        "Trying to pull example.org/image:latest...",
        "Writing manifest to image destination",
      ],
    ] as const
  ) {
    const told: (string | undefined)[] = [];
    const install = await installs.begin(
      { command, args: ["run", "-i", "image"], env: {} },
      { onInstall: (reason) => void told.push(reason) },
    );
    install?.wrote(began);
    install?.wrote(ended);
    assert.deepEqual(told, [`${command} is installing image`, undefined]);
  }
});

Deno.test("a docker image that is never fetched is given up", async () => {
  await using installs = new Installs({ most: 50 });
  const program = { command: "docker", args: ["run", "-i", "image"], env: {} };
  const install = await installs.begin(program, { onInstall: () => {} });
  const { promise, resolve } = Promise.withResolvers<string>();
  install?.wrote("Unable to find image 'image:latest' locally");
  install?.watch(0, resolve);
  assert.equal(await promise, "docker did not finish installing image within 0.05 s");
  install?.end();
});

Deno.test("Installs.repair() waits for an npm that is at work in the folder", async () => {
  const cache = await Deno.makeTempDir({ prefix: "quartermaster_installs_" });
  await using installs = new Installs({ look: 10 });
  const program = { command: "npx", args: ["-y", "one"], env: { npm_config_cache: cache } };
  const folder = await npxFolder({ packages: ["one"], env: {}, cache }, { env: {} });
  const lock = join(folder, "concurrency.lock");
  await Deno.mkdir(lock, { recursive: true });
  const later = new Date(Date.now() + 3_600_000);
  await Deno.utime(lock, later, later);
  await assert.rejects(installs.repair(program, AbortSignal.timeout(100)));
  assert.ok((await Deno.stat(folder)).isDirectory, "it was not removed");
  await Deno.remove(lock);
  assert.equal(await installs.repair(program), true);
  await assert.rejects(Deno.stat(folder));
  await Deno.remove(cache, { recursive: true });
});

Deno.test({
  name: "what a killed installer left is removed before the next start",
  ignore,
  async fn() {
    await using stage = await setStage();
    await stage.go();
    const folder = await npxFolder({ packages: ["one"], env: {}, cache: stage.cache }, { env: {} });
    await Deno.mkdir(join(folder, "node_modules", "half"), { recursive: true });
    await Deno.mkdir(join(folder, "concurrency.lock"));
    const past = new Date(Date.now() - 60_000);
    await Deno.utime(join(folder, "concurrency.lock"), past, past);
    const one = await stage.start("one");
    await until(() => one.status.state === "ready");
    await assert.rejects(Deno.stat(join(folder, "node_modules", "half")));
  },
});

Deno.test({
  name: "a broken npx cache is named, and a repair reinstalls it without a retry in between",
  ignore,
  async fn() {
    await using stage = await setStage();
    await stage.go();
    const folder = await npxFolder({ packages: ["one"], env: {}, cache: stage.cache }, { env: {} });
    await Deno.mkdir(join(folder, "node_modules", "broken"), { recursive: true });
    await Deno.writeTextFile(join(folder, "node_modules", ".package-lock.json"), "{}");
    const one = await stage.start("one");
    await until(() => one.status.state === "failed");
    assert.equal(
      one.status.lastError,
      'Server "one" exited with code 1 before completing the MCP handshake. Output: Error: Cannot ' +
        `find package '${folder}/node_modules/zod/index.js'. ${BROKEN_CACHE}`,
    );
    const { spec } = one.server;
    assert.ok(spec.type === "stdio");
    await one.restart(async () => {
      assert.equal(one.status.reason, "Repairing");
      assert.deepEqual(await stage.processes(), []);
      assert.equal(await stage.installs.repair(spec), true);
    });
    assert.equal(one.status.state, "ready");
    assert.equal(await stage.log(), "begin one\nend one\n");
  },
});

for (
  const [limit, words] of [
    ["most", "did not finish installing one within 0.3 s"],
    ["stalled", "made no progress installing one for 0.3 s"],
  ] as const
) {
  Deno.test({
    name: `an installer that ${words.split(" one")[0]} is given up (${limit})`,
    ignore,
    async fn() {
      await using stage = await setStage({ [limit]: 300 });
      const one = await stage.start("one");
      await until(() => one.seen.some((told) => told.startsWith(`failed: npx ${words}`)));
      assert.match(await stage.log(), /begin one\nundone one/);
    },
  });
}
