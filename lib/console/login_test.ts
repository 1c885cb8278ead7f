import assert from "node:assert/strict";
import { Access } from "../auth/access.ts";
import { hashOf } from "../auth/credentials.ts";
import type { Gateway } from "../gateway.ts";
import { AccessScope } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { consoleLoginPage, logIn } from "./login.ts";

const ENDS_AT = Date.now() + 60_000;

function gatewayFor(rights: string[], isRequired = true) {
  const access = new Access({ isRequired });
  const scope = AccessScope.parse({ rights });
  const token = { id: "aaaaaaaa", name: "a", hash: hashOf("qm_a"), scope, createdAt: 0 };
  access.load([{ ...token, expiresAt: ENDS_AT }], []);
  return {
    access,
    consoleLogins: {
      begin: () => Promise.resolve({ cookie: "c", seconds: 1 }),
    } as unknown as Gateway["consoleLogins"],
    loginAttempts: { check() {}, failed() {} } as unknown as Gateway["loginAttempts"],
  };
}

const DIRECT = new Request("http://localhost:3333/login");
const words = (token: string) => ({ token, then: "/tools", place: "127.0.0.1" });

Deno.test("logIn() lets those in who may look at the console", async () => {
  const answer = await logIn(gatewayFor(["read"]), words("qm_a"));
  assert.equal(answer.headers.get("location"), "/tools");
  await assert.rejects(
    logIn(gatewayFor(["call", "manage"]), words("qm_a")),
    (error) => error instanceof GatewayError && error.code === "ACCESS_DENIED",
  );
});

Deno.test("logIn() makes a login that ends with the token", async () => {
  const begun: unknown[] = [];
  const consoleLogins = {
    begin: (...login: unknown[]) => {
      begun.push(login);
      return Promise.resolve({ cookie: "c", seconds: 1 });
    },
  } as unknown as Gateway["consoleLogins"];
  await logIn({ ...gatewayFor(["read"]), consoleLogins }, words("qm_a"));
  assert.deepEqual(begun, [["token:aaaaaaaa", ENDS_AT]]);
});

Deno.test("logIn() takes a token that is right while it takes no guesses, and counts none of them", async () => {
  let failed = 0;
  const loginAttempts = {
    check() {
      throw new GatewayError("LIMIT_EXCEEDED");
    },
    failed: () => void failed++,
  } as unknown as Gateway["loginAttempts"];
  const gateway = { ...gatewayFor(["read"]), loginAttempts };
  assert.equal((await logIn(gateway, words("qm_a"))).headers.get("location"), "/tools");
  await assert.rejects(
    logIn(gateway, words("qm_wrong")),
    (error) => error instanceof GatewayError && error.code === "LIMIT_EXCEEDED",
  );
  assert.equal(failed, 0);
});

Deno.test("loginPage() has steps that a person can take in a form", async () => {
  const gateway = gatewayFor(["read"]);
  const error = await logIn(gateway, words("qm_wrong")).then(() => undefined, (error) => error);
  const page = consoleLoginPage(gateway, DIRECT, "/", error);
  assert.match(page.error?.message ?? "", /unknown, revoked or expired/);
  assert.match(page.error?.steps.join("\n") ?? "", /paste it below/);
  assert.doesNotMatch(JSON.stringify(page), /Authorization|`/);
});

Deno.test("loginPage() knows where no token is needed", () => {
  const proxied = new Request(DIRECT, { headers: { "x-forwarded-for": "192.0.2.7" } });
  const ways = [[false, DIRECT], [false, proxied], [true, DIRECT], [true, proxied]] as const;
  const seen = ways.map(([isRequired, request]) => {
    const { isOpen, isGuest } = consoleLoginPage(gatewayFor(["read"], isRequired), request, "/");
    return [isOpen, isGuest];
  });
  assert.deepEqual(seen, [[true, false], [false, true], [false, false], [false, false]]);
});
