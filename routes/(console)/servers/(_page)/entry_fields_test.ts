import assert from "node:assert/strict";
import { ServerSpec } from "../../../../lib/core/server.ts";
import {
  isolationFields,
  isolationValue,
  limitFields,
  limitValues,
  NO_LIMITS,
  NOT_ISOLATED,
  readIsolation,
  readLimits,
  settingsText,
  withSettings,
} from "./entry_fields.ts";

const PLAIN = ServerSpec.parse({ type: "http", url: "https://example.com/mcp" });
const LIMITED = ServerSpec.parse({
  ...PLAIN,
  mode: "confirm",
  callsPerMinute: 60,
  maxConcurrent: 4,
  maxResultTokens: 2_000,
  answers: "block",
  instance: "root",
  idleTimeoutMs: 600_000,
  trust: "untrusted",
  changes: "notify",
});

Deno.test("readLimits() tells a form that does not ask from one that is empty", () => {
  assert.equal(readLimits(new URLSearchParams({ entry: "x" })), undefined);
  assert.deepEqual(readLimits(new URLSearchParams({ mode: "" })), NO_LIMITS);
});

Deno.test("limitFields() and limitValues() lead there and back", () => {
  assert.deepEqual(limitFields(PLAIN), NO_LIMITS);
  assert.deepEqual(
    limitFields(ServerSpec.parse({ ...PLAIN, mode: "all", trust: "normal", instance: "shared" })),
    NO_LIMITS,
  );
  assert.deepEqual({ ...PLAIN, ...limitValues(limitFields(LIMITED)) }, LIMITED);
});

Deno.test("limitValues() takes away what is empty", () => {
  const { mode, callsPerMinute, maxConcurrent } = limitValues({
    ...limitFields(LIMITED),
    mode: "",
    callsPerMinute: "",
  });
  assert.deepEqual([mode, callsPerMinute, maxConcurrent], [null, null, 4]);
});

Deno.test("limitValues() says which field is wrong", () => {
  const wrong: [Partial<typeof NO_LIMITS>, RegExp][] = [
    [{ mode: "some" }, /Allowed calls: "some" is not one of all, confirm, read-only/],
    [{ trust: "yes" }, /Trust: "yes" is not one of trusted, normal, untrusted/],
    [{ changes: "never" }, /Policy for changed tools: "never"/],
    [{ callsPerMinute: "0" }, /Calls per minute: .* from 1 to 1000000/],
    [{ instance: "each" }, /Instances: "each" is not one of shared, client, root/],
    [{ idleTimeoutMs: "10" }, /Idle time in ms: .* from 1000 to 86400000/],
    [{ maxConcurrent: "1.5" }, /Concurrent calls/],
    [{ maxResultTokens: "99" }, /Tokens per result: .* from 100/],
  ];
  for (const [fields, message] of wrong) {
    assert.throws(() => limitValues({ ...NO_LIMITS, ...fields }), message);
  }
});

Deno.test("isolationFields() and isolationValue() lead there and back", () => {
  const isolation = {
    kind: "sandbox",
    read: ["/a", "/b"],
    write: ["~/notes"],
    net: ["example.com", "localhost:5432"],
  };
  const isolated = ServerSpec.parse({ type: "stdio", command: "npx", isolation });
  const form = new URLSearchParams(
    Object.entries(isolationFields(isolated)).map(([name, text]) => [`isolation.${name}`, text]),
  );
  assert.deepEqual(isolationValue(readIsolation(form)!), isolation);
  assert.equal(readIsolation(new URLSearchParams({ entry: "x" })), undefined);
  assert.equal(isolationFields(PLAIN), NOT_ISOLATED);
  assert.equal(isolationValue(NOT_ISOLATED), null);
  assert.deepEqual(isolationValue({ ...NOT_ISOLATED, read: "/a\n\n" }), {
    kind: "none",
    read: ["/a"],
  });
});

const remote: ServerSpec = { type: "http", url: "https://a.example/mcp", headers: {} };
const program: ServerSpec = { type: "stdio", command: "npx", args: [], env: { A: "1" } };

Deno.test("withSettings() reads headers for an address and variables for a program", () => {
  const headers = { Authorization: "Bearer a:b", "X-Team": "" };
  assert.deepEqual(withSettings(remote, "Authorization: Bearer a:b\n\nX-Team:"), {
    ...remote,
    headers,
  });
  assert.deepEqual(withSettings(program, " B=c=d \r\nE=", "/srv"), {
    ...program,
    env: { A: "1", B: "c=d", E: "" },
    cwd: "/srv",
  });
});

Deno.test("withSettings() names the line that cannot be read, but not what stands in it", () => {
  const failing = () => withSettings(remote, "A: b\nsecret");
  assert.throws(failing, { message: "Line 2 under headers and variables is invalid" });
  assert.throws(() => withSettings(remote, "", "/srv"), /has no working folder/);
});

Deno.test("settingsText() is read back as it was", () => {
  for (const spec of [withSettings(remote, "A: b"), withSettings(program, "C=d")]) {
    assert.deepEqual(withSettings(spec, settingsText(spec)), spec);
  }
});
