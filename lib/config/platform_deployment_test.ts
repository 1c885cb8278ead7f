import assert from "node:assert/strict";
import { deployedUrl, detectPlatform } from "./platform.ts";

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

const ADDRESSES: [timeline: string | undefined, url: string | undefined][] = [
  ["production", "https://tools.acme.deno.net"],
  ["git-branch/new-look", "https://tools--new-look.acme.deno.net"],
  ["preview/k3x9", "https://tools-k3x9.acme.deno.net"],
  ["git-branch/Feature/A_b", undefined],
  [undefined, undefined],
];

Deno.test("deployedUrl() is the address of the timeline, as far as it is known", () => {
  for (const [timeline, url] of ADDRESSES) {
    const values: Record<string, string | undefined> = {
      DENO_DEPLOY_APP_SLUG: "tools",
      DENO_DEPLOY_ORG_SLUG: "acme",
      DENO_TIMELINE: timeline,
    };
    assert.equal(deployedUrl({ get: (name) => values[name] }), url);
  }
  assert.equal(deployedUrl({ get: () => undefined }), undefined);
});
