import assert from "node:assert/strict";
import fc from "fast-check";
import { ServerName } from "../core/server.ts";
import { usableServerName } from "./server_name.ts";

for (
  const [name, expected] of [
    ["github", "github"],
    ["Git_Hub-2", "Git_Hub-2"],
    ["my.server", "my_server"],
    ["a b/c@d", "a_b_c_d"],
    ["caf\u00e9", "caf_"],
    ["tool\u{1F527}box", "tool_box"],
    ["x".repeat(64), "x".repeat(64)],
  ] as const
) {
  Deno.test(`usableServerName() makes ${expected} of ${name}`, () => {
    assert.equal(usableServerName(name), expected);
  });
}

Deno.test("usableServerName() keeps long names that differ at the end apart", () => {
  const one = usableServerName("x".repeat(80) + "1");
  const two = usableServerName("x".repeat(80) + "2");
  assert.equal(one.length, 64);
  assert.notEqual(one, two);
  assert.equal(one, usableServerName("x".repeat(80) + "1"));
});

Deno.test("usableServerName() gives a valid name for every text that is not empty", () => {
  fc.assert(fc.property(
    fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 90 }),
    (units) => ServerName.safeParse(usableServerName(String.fromCharCode(...units))).success,
  ));
});
