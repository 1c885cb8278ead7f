import assert from "node:assert/strict";
import { Access } from "../../../../lib/auth/access.ts";
import { ADMIN } from "../../../../lib/auth/credentials.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { securityOverview } from "./model.ts";
import { stubGateway } from "../../../../lib/console/testing/stub_gateway.ts";

const COOKIE = "__Host-quartermaster";

function gatewayWith(
  options: Partial<Gateway["options"]["options"]>,
  platform: "local" | "deploy" = "local",
) {
  const stub = stubGateway({ options });
  const isRequired = options.requireToken === true || platform === "deploy" ||
    options.host !== undefined || options.publicUrl !== undefined;
  return {
    ...stub,
    platform: { ...stub.platform, name: platform },
    access: new Access({ isRequired, adminToken: "a".repeat(20) }),
    accessAdmin: {
      tokens: () => Promise.resolve([{ expiresAt: 1 }, {}]),
      projects: () => Promise.resolve([{}]),
    } as unknown as Gateway["accessAdmin"],
    secrets: () =>
      Promise.resolve({ list: () => Promise.resolve({ secrets: [{}, {}, {}] }) } as never),
    approvals: () => Promise.resolve({ list: () => [{}] } as never),
    consents: () => Promise.resolve({ count: () => Promise.resolve(2) } as never),
    consoleLogins: {
      find: (cookie: string) => cookie === "good" ? ADMIN : undefined,
    } as unknown as Gateway["consoleLogins"],
  };
}

const request = (cookie = "none") =>
  new Request("http://localhost/security", { headers: { cookie: `${COOKIE}=${cookie}` } });

Deno.test("securityOverview() says whether a token is needed, and why", async () => {
  const reasons = async (...given: Parameters<typeof gatewayWith>) => {
    const overview = await securityOverview(gatewayWith(...given), "everyone", request());
    return [overview.isRequired, overview.reasons.join(" ")] as const;
  };
  assert.match((await reasons({}))[1], /only this machine can reach it/);
  assert.deepEqual(await reasons({ requireToken: true }), [
    true,
    "It was started with --require-token.",
  ]);
  assert.match((await reasons({ host: "0.0.0.0" }))[1], /listens on 0\.0\.0\.0/);
  assert.match(
    (await reasons({ publicUrl: "https://a.example" }))[1],
    /URL is https:\/\/a\.example/,
  );
  assert.match((await reasons({}, "deploy"))[1], /Deno Deploy/);
});

Deno.test("securityOverview() knows who looks, and whether that browser can be logged out", async () => {
  const gateway = gatewayWith({ requireToken: true });
  const overview = await securityOverview(gateway, ADMIN, request("good"));
  assert.equal(overview.isLoggedIn, true);
  assert.deepEqual(overview.caller, {
    name: "admin",
    isAdmin: true,
    rights: ["read", "call", "manage", "optimize"],
  });
  assert.deepEqual([overview.tokens, overview.expired, overview.projects], [2, 1, 1]);
  assert.equal(overview.secrets, 3);
  assert.deepEqual(overview.waiting, { review: 0, approvals: 1, consents: 2 });
  const open = await securityOverview(gatewayWith({}), "everyone", request());
  assert.equal(open.caller, undefined);
  assert.equal(open.isLoggedIn, false);
});
