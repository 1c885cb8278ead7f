import assert from "node:assert/strict";
import { ServerSpec } from "../core/server.ts";
import { withKept } from "../surfaces/changed_spec.ts";
import { limitWords, NO_LIMITS, readLimits, replaceLimits, withLimits } from "./server_limits.ts";

const PLAIN = ServerSpec.parse({ type: "http", url: "https://example.com/mcp" });
const LIMITED = ServerSpec.parse({
  ...PLAIN,
  mode: "confirm",
  callsPerMinute: 60,
  maxConcurrent: 4,
  maxResultTokens: 2_000,
  trust: "untrusted",
  changes: "notify",
});

Deno.test("readLimits() tells a form that does not ask from one that is empty", () => {
  assert.equal(readLimits(new URLSearchParams({ entry: "x" })), undefined);
  assert.deepEqual(readLimits(new URLSearchParams({ mode: "" })), NO_LIMITS);
});

Deno.test("limitWords() and replaceLimits() lead there and back", () => {
  assert.deepEqual(limitWords(PLAIN), NO_LIMITS);
  assert.deepEqual(limitWords(ServerSpec.parse({ ...PLAIN, mode: "all", trust: "trusted" })), {
    ...NO_LIMITS,
  });
  assert.deepEqual(replaceLimits(PLAIN, limitWords(LIMITED)), LIMITED);
});

Deno.test("replaceLimits() takes a limit away that a change would else keep", () => {
  const words = { ...limitWords(LIMITED), mode: "", callsPerMinute: "" };
  const kept = withKept(replaceLimits(PLAIN, words), LIMITED);
  const { mode: _mode, callsPerMinute: _calls, ...rest } = LIMITED;
  assert.deepEqual(JSON.parse(JSON.stringify(kept)), rest);
  assert.deepEqual(withKept(replaceLimits(PLAIN, undefined), LIMITED), LIMITED);
});

Deno.test("withLimits() adds what is written, and leaves the rest of an entry alone", () => {
  assert.deepEqual(withLimits(LIMITED, NO_LIMITS), LIMITED);
  assert.deepEqual(withLimits(PLAIN, { ...NO_LIMITS, mode: "read-only", maxConcurrent: "2" }), {
    ...PLAIN,
    mode: "read-only",
    maxConcurrent: 2,
  });
});

Deno.test("withLimits() says which field is wrong", () => {
  const wrong: [Partial<typeof NO_LIMITS>, RegExp][] = [
    [{ mode: "some" }, /let through: "some" is none of all, confirm, read-only/],
    [{ trust: "yes" }, /Trust: "yes" is none of trusted, untrusted/],
    [{ changes: "never" }, /Changes of its tools: "never"/],
    [{ callsPerMinute: "0" }, /Calls a minute: .* from 1 to 1000000/],
    [{ maxConcurrent: "1.5" }, /Calls at once/],
    [{ maxResultTokens: "99" }, /Tokens of a result: .* from 100/],
  ];
  for (const [words, message] of wrong) {
    assert.throws(() => withLimits(PLAIN, { ...NO_LIMITS, ...words }), message);
  }
});
