import assert from "node:assert/strict";
import { nonEmpty, systemEnv } from "./env.ts";

Deno.test("systemEnv() has the variables of this process, one by one and all together", () => {
  const env = systemEnv();
  assert.equal(env.get("PATH"), Deno.env.get("PATH"));
  assert.deepEqual(env.toObject?.(), Deno.env.toObject());
});

Deno.test("nonEmpty() takes an empty variable for one that is not set", () => {
  const env = { get: (name: string) => name === "A" ? "" : name === "B" ? "b" : undefined };
  assert.deepEqual(["A", "B", "C"].map((name) => nonEmpty(env, name)), [undefined, "b", undefined]);
});
