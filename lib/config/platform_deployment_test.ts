import assert from "node:assert/strict";
import { detectPlatform } from "./platform.ts";

const CASES: [Record<string, string>, "local" | "deploy"][] = [
  [{}, "local"],
  [{ DENO_DEPLOYMENT_ID: "" }, "local"],
  [{ DENO_DEPLOYMENT_ID: "abc" }, "deploy"],
  [{ DENO_DEPLOY: "1" }, "deploy"],
  [{ QUARTERMASTER_PLATFORM: "deploy" }, "deploy"],
  [{ DENO_DEPLOYMENT_ID: "abc", QUARTERMASTER_PLATFORM: "local" }, "local"],
];

for (const [values, name] of CASES) {
  Deno.test(`detectPlatform() says ${name} for ${JSON.stringify(values)}`, () => {
    const local = name === "local";
    assert.deepEqual(
      detectPlatform({ get: (key) => values[key] }),
      { name, canSpawn: local, canWrite: local },
    );
  });
}

Deno.test("detectPlatform() refuses a platform it does not know", () => {
  assert.throws(
    () => detectPlatform({ get: () => "mars" }),
    { code: "CONFIG_INVALID", message: /QUARTERMASTER_PLATFORM "mars"/ },
  );
});
