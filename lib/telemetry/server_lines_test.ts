import assert from "node:assert/strict";
import { Logs } from "./logs.ts";
import { ServerLines } from "./server_lines.ts";

const entry = (fields: object) =>
  JSON.stringify({
    level: "info",
    time: new Date(5).toISOString(),
    msg: "Server ready",
    ...fields,
  });

Deno.test("ServerLines.take() keeps what the log says of a server, newest first", () => {
  const lines = new ServerLines();
  lines.take(entry({ serverName: "git", reason: "Connected" }));
  lines.take(entry({ serverName: "git", level: "warn", msg: "Broken", err: { message: "why" } }));
  lines.take(entry({ serverName: "other" }));
  lines.take(entry({ room: "http" }));
  lines.take(entry({ serverName: "git", msg: "stderr", line: "its own" }));
  lines.take('{"serverName":"git", half a li');
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
  for (let at = 0; at < 250; at++) lines.take(entry({ serverName: "git", reason: `${at}` }));
  assert.equal(lines.of("git").length, 200);
  assert.equal(lines.of("git")[0]?.text, "Server ready: 249");
});

Deno.test("Logs.about keeps a server's lines without their secrets", async () => {
  await using logs = await Logs.open({
    level: "info",
    pretty: false,
    development: false,
    keepFiles: 1,
    console: () => {},
  });
  logs.redactor.learn(["s3cret-value"]);
  const log = logs.room("downstream");
  log.warn({ serverName: "git", reason: "refused s3cret-value" }, "Server failed");
  log.debug({ serverName: "git" }, "Not at this level");
  const kept = logs.about.of("git");
  assert.deepEqual(kept.map(({ text }) => text), ["Server failed: refused [redacted]"]);
});
