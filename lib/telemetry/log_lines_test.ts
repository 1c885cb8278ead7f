import assert from "node:assert/strict";
import { briefLine, readableLine } from "./log_lines.ts";

function line(fields: Record<string, unknown>): string {
  const time = new Date(2026, 10, 17, 8, 9, 7, 65).toISOString();
  return `${JSON.stringify({ level: "info", time, module: "http", msg: "Request", ...fields })}\n`;
}

Deno.test("readableLine() gives time, level, module, message and the other fields in one line", () => {
  const format = readableLine(false);
  assert.equal(format(line({ msg: "Listening" })), "08:09:07.065 INFO  http: Listening\n");
  assert.equal(
    format(line({ level: "error", msg: "No", status: 500, err: { message: "a\nb" } })),
    '08:09:07.065 ERROR http: No {"status":500,"err":{"message":"a\\nb"}}\n',
  );
  // deno-lint-ignore no-control-regex
  assert.match(readableLine(true)(line({}))!, /\x1b\[32mINFO \x1b\[39m/);
});

Deno.test("briefLine() shows warnings and errors with their cause, and nothing else", () => {
  const format = briefLine(false);
  for (const level of ["trace", "debug", "info"]) assert.equal(format(line({ level })), undefined);
  assert.equal(
    format(line({ level: "warn", msg: "Cannot renew", error: { message: "no answer" } })),
    "08:09:07 warning: Cannot renew: no answer\n",
  );
  assert.equal(
    format(line({ level: "error", method: "GET", path: "/tools", status: 500 })),
    "08:09:07 error: Request GET /tools: 500\n",
  );
  assert.equal(
    format(line({ level: "error", msg: "It is: gone", err: { message: "gone" } })),
    "08:09:07 error: It is: gone\n",
  );
});

Deno.test("what a server writes cannot steer the terminal through a log line", () => {
  const hostile = line({ level: "warn", msg: "a\x1b[2J\rb\nc\u202e", err: { message: "\x07" } });
  for (const format of [readableLine(false), briefLine(false)]) {
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(format(hostile)!.slice(0, -1), /[\x00-\x1f\u202e]/);
  }
});

Deno.test("an entry that is not JSON is shown as it is", () => {
  assert.equal(readableLine(false)("{broken\n"), "{broken\n");
  assert.equal(briefLine(false)("{broken\n"), "{broken\n");
});
