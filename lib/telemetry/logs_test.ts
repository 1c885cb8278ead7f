import assert from "node:assert/strict";
import { join } from "@std/path";
import { Logs, type LogsOptions, ServerLines } from "./logs.ts";

const quiet: LogsOptions = {
  level: "info",
  development: false,
  keepFiles: 3,
};

async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_logs_" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("Logs.open() names the run's file by ISO time and writes JSON to it", async () => {
  await withFolder(async (folder) => {
    const lines: string[] = [];
    const logs = await Logs.open({ ...quiet, folder, console: (line) => lines.push(line) });
    logs.module("http").info({ requestId: "r1", duration: 2 }, "Request");
    logs.module("http").debug("not at this level");
    const path = logs.filePath!;
    await logs[Symbol.asyncDispose]();
    assert.match(path, /quartermaster_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.log$/);
    const written = (await Deno.readTextFile(path)).trim().split("\n").map((line) =>
      JSON.parse(line)
    );
    assert.equal(written.length, 1);
    const { time, ...rest } = written[0];
    assert.ok(!Number.isNaN(Date.parse(time)));
    assert.deepEqual(rest, {
      level: "info",
      module: "http",
      requestId: "r1",
      duration: 2,
      msg: "Request",
    });
    assert.equal(lines.length, 1);
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
  });
});

Deno.test("Logs never writes a secret, wherever it was put", async () => {
  await withFolder(async (folder) => {
    const canaries = Array.from(
      { length: 12 },
      (_, index) => `canary-${index}-${crypto.randomUUID()}`,
    );
    const [a, b, c, d, e, f, g, h, i, j, k, l] = canaries as [string, ...string[]];
    const lines: string[] = [];
    const logs = await Logs.open({ ...quiet, folder, console: (line) => lines.push(line) });
    logs.redactor.learn([a, b!, c!, d!]);
    const log = logs.module("servers");
    log.info(`message with ${a}`);
    log.info({ args: [`x${b}y`] }, "deep %s", c);
    log.child({ bound: d }).info("child");
    log.info({ headers: { Authorization: `Bearer ${e}`, "X-Api-Key": f } }, "headers");
    log.info({ headers: new Headers({ cookie: g! }) }, "Headers object");
    log.info({ env: { TOKEN: h, NAME: i } }, "env");
    log.error({ err: new Error(`failed with Bearer ${j}`) }, "error");
    log.warn({ url: `https://host/mcp?api_key=${k}` }, "url");
    log.info({ config: { secret: { inner: l } } }, "secret object");
    const path = logs.filePath!;
    await logs[Symbol.asyncDispose]();
    const all = lines.join("") + await Deno.readTextFile(path);
    assert.equal(lines.length, 9);
    for (const canary of canaries) assert.ok(!all.includes(canary), `${canary} in ${all}`);
  });
});

Deno.test("Logs.level changes every module's logger at run time", async () => {
  const lines: string[] = [];
  await using logs = await Logs.open({ ...quiet, console: (line) => lines.push(line) });
  const log = logs.module("search");
  log.debug("unseen");
  logs.level = "debug";
  log.debug("seen");
  assert.equal(lines.length, 1);
});

Deno.test("Logs.open() falls back to the console where no file can be written", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "file"), "");
    const lines: string[] = [];
    await using logs = await Logs.open({
      ...quiet,
      folder: join(folder, "file", "logs"),
      console: (line) => lines.push(line),
    });
    logs.module("http").info("still here");
    assert.equal(logs.filePath, undefined);
    assert.match(lines[0]!, /Cannot create a log file/);
    assert.match(lines[1]!, /still here/);
  });
});

Deno.test("Logs prunes old files, follows a long one by a new one, and leaves others alone", async () => {
  await withFolder(async (folder) => {
    for (let day = 10; day < 20; day++) {
      await Deno.writeTextFile(join(folder, `quartermaster_2025-01-${day}T00-00-00.log`), "");
    }
    await Deno.writeTextFile(join(folder, "notes.log"), "mine");
    const logs = await Logs.open({ ...quiet, folder, maxFileBytes: 2_000, console: () => {} });
    const first = logs.filePath;
    for (let line = 0; line < 2_000 && logs.filePath === first; line++) {
      logs.module("http").info("a line of some length to fill the file");
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.notEqual(logs.filePath, first);
    await logs[Symbol.asyncDispose]();
    const names = Array.from(Deno.readDirSync(folder), (entry) => entry.name).sort();
    assert.ok(names.includes("notes.log"));
    assert.ok(names.length <= 4, names.join(" "));
  });
});

Deno.test("Logs in development tell the place in the source and the stack", async () => {
  const lines: string[] = [];
  await using logs = await Logs.open({
    ...quiet,
    development: true,
    console: (line) => lines.push(line),
  });
  logs.module("http").error({ err: new Error("boom") }, "Failed");
  const line = JSON.parse(lines[0]!);
  assert.match(line.source, /^logs_test\.ts:\d+$/);
  assert.match(line.err.stack, /boom/);
});

Deno.test("Logs.open() shows the formatted entry, and writes the entry itself to the file", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const lines: string[] = [];
  {
    await using logs = await Logs.open({
      ...quiet,
      folder,
      format: (json) => json.includes("routine") ? undefined : "seen\n",
      console: (line) => lines.push(line),
    });
    logs.module("http").info("routine");
    logs.module("http").warn("trouble");
  }
  assert.deepEqual(lines, ["seen\n"]);
  const [file] = Array.from(Deno.readDirSync(folder), ({ name }) => name);
  assert.match(await Deno.readTextFile(`${folder}/${file}`), /routine.*\n.*trouble/);
  await Deno.remove(folder, { recursive: true });
});

const entry = (fields: object) =>
  JSON.stringify({
    level: "info",
    time: new Date(5).toISOString(),
    msg: "Server ready",
    ...fields,
  });

Deno.test("ServerLines.take() keeps what the log says of a server, newest first", () => {
  const lines = new ServerLines();
  lines.take(entry({ server: "git", reason: "Connected" }));
  lines.take(entry({ server: "git", level: "warn", msg: "Broken", err: { message: "why" } }));
  lines.take(entry({ server: "other" }));
  lines.take(entry({ module: "http" }));
  lines.take(entry({ server: "git", msg: "stderr", line: "its own" }));
  lines.take('{"server":"git", half a li');
  assert.deepEqual(lines.of("git"), [
    { time: 5, level: "warn", text: "Broken: why" },
    { time: 5, level: "info", text: "Server ready: Connected" },
  ]);
  lines.forget("git");
  assert.deepEqual(lines.of("git"), []);
  assert.equal(lines.of("other").length, 1);
});

Deno.test("ServerLines.take() keeps the last 200 lines of a server", () => {
  const lines = new ServerLines();
  for (let at = 0; at < 250; at++) lines.take(entry({ server: "git", reason: `${at}` }));
  assert.equal(lines.of("git").length, 200);
  assert.equal(lines.of("git")[0]?.text, "Server ready: 249");
});

Deno.test("Logs.about keeps a server's lines without their secrets", async () => {
  await using logs = await Logs.open({
    level: "info",
    development: false,
    keepFiles: 1,
    console: () => {},
  });
  logs.redactor.learn(["s3cret-value"]);
  const log = logs.module("servers");
  log.warn({ serverName: "git", reason: "refused s3cret-value" }, "Server failed");
  log.debug({ serverName: "git" }, "Not at this level");
  const kept = logs.about.of("git");
  assert.deepEqual(kept.map(({ text }) => text), ["Server failed: refused [redacted]"]);
});
