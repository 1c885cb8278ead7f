import assert from "node:assert/strict";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import type { ServerStatus } from "../../../../../lib/core/server.ts";
import type { LoginAdmin } from "../../../../../lib/operations/login_admin.ts";
import { callBy, servicesOf } from "../../../../../lib/operations/testing/services.ts";
import { beginLogin, finishLogin, loginPage } from "./login.ts";

const SERVER: ServerStatus = {
  name: "files",
  type: "http",
  source: { kind: "store" },
  state: "needs_login",
  reason: "It asks",
  since: 1,
  toolCount: 0,
};

function gatewayWith(logins: Partial<LoginAdmin>) {
  const none = {
    refusal: () => undefined,
    describe: () => Promise.resolve(undefined),
    attempt: () => Promise.resolve(undefined),
  };
  return servicesOf({
    admin: { describe: () => ({ server: SERVER }) } as unknown as Gateway["admin"],
    serverLogins: () => Promise.resolve({ ...none, ...logins } as unknown as LoginAdmin),
  });
}

Deno.test("beginLogin() leads to the page of what was begun, with the client that was written", async () => {
  const asked: unknown[] = [];
  const gateway = gatewayWith({
    start(...words: unknown[]) {
      asked.push(words);
      const started = { attempt: "a&b", url: "", issuer: "", scopes: [] };
      return Promise.resolve({ ...started, expiresAt: 1 });
    },
  });
  const fields = new URLSearchParams({ client_id: " mine ", client_secret: "" });
  const path = await beginLogin(gateway, "files", fields, callBy("everyone"));
  assert.equal(path, "/servers/files/~login?attempt=a%26b");
  assert.deepEqual(asked, [["files", { id: "mine", secret: undefined }]]);
});

Deno.test("beginLogin() shows the form again with what is wrong, and without the secret", async () => {
  const gateway = gatewayWith({
    start: () => Promise.reject(new GatewayError("LOGIN_FAILED", { message: "No PKCE" })),
  });
  const fields = new URLSearchParams({ client_id: "mine", client_secret: "canary" });
  const page = await beginLogin(gateway, "files", fields, callBy("everyone"));
  assert.ok(typeof page !== "string");
  assert.equal(page.error?.message, "No PKCE");
  assert.equal(page.clientId, "mine");
  assert.doesNotMatch(JSON.stringify(page), /canary/);
});

Deno.test("loginPage() says that a login has run out", async () => {
  const page = await loginPage(gatewayWith({}), "files", "gone");
  assert.equal(page.isAttemptOver, true);
  assert.equal((await loginPage(gatewayWith({}), "files", null)).isAttemptOver, false);
});

Deno.test("finishLogin() leads back to the login that failed, and nowhere where none is known", async () => {
  const error = new GatewayError("LOGIN_FAILED", { message: "Forged" });
  const known = gatewayWith({ finish: () => Promise.resolve({ failed: "files", error }) });
  const failed = await finishLogin(known, new URLSearchParams());
  assert.ok(failed.kind === "failed");
  assert.equal(failed.error.message, "Forged.");
  assert.equal(failed.href, "/servers/files/~login");
  const unknown = gatewayWith({ finish: () => Promise.reject(error) });
  assert.equal((await finishLogin(unknown, new URLSearchParams())).href, "/servers");
  const fine = gatewayWith({ finish: () => Promise.resolve({ server: SERVER }) });
  assert.equal((await finishLogin(fine, new URLSearchParams())).href, "/servers/files");
});
