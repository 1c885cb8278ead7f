import assert from "node:assert/strict";
import { rejects } from "../remote/testing/loopback.ts";
import { LoginBench } from "./testing/login_bench.ts";

Deno.test("ServerLogin.authorization() gives the token, and at once the second time", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  const login = bench.serverLogin();
  const header = await login.authorization();
  assert.match(header ?? "", /^Bearer canary-access-/);
  assert.equal(login.authorization(), header);
  assert.equal(bench.authority.count("/token", "refresh_token"), 0);
});

Deno.test("ServerLogin gives nothing to a server at another address", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  const login = bench.serverLogin("a", "http://127.0.0.1:1/mcp");
  assert.equal(await login.authorization(), undefined);
  assert.equal(await login.renew(undefined), false);
  assert.equal(bench.authority.count("/token", "refresh_token"), 0);
});

Deno.test("ServerLogin renews before the end, once for all who ask, on all gateways", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  const [a, b] = [bench.serverLogin("a"), bench.serverLogin("b")];
  const old = await a.authorization();
  assert.equal(await b.authorization(), old);
  const asked = await Promise.all(
    [a, b, a, b, a].map((login) => login.renew(old).then(() => login.authorization())),
  );
  assert.equal(new Set(asked).size, 1);
  assert.notEqual(asked[0], old);
  assert.equal(bench.authority.count("/token", "refresh_token"), 1);
  // The token for the next renewal was kept too: one that is used twice ends all.
  assert.equal(await a.renew(asked[0]), true);
  assert.equal(await b.renew(asked[0]), true);
  assert.equal(bench.authority.count("/token", "refresh_token"), 2);
  for (const secret of bench.authority.secrets()) {
    assert.ok(bench.learned.includes(secret), "the log knows what it must not show");
  }
});

Deno.test("ServerLogin.authorization() renews what is about to run out by itself", async () => {
  await using bench = await LoginBench.open({ lifetime: 1 });
  await bench.logIn();
  const login = bench.serverLogin();
  const old = await login.authorization();
  bench.authority.behavior.lifetime = 3_600;
  await new Promise((resolve) => setTimeout(resolve, 850));
  const next = await login.authorization();
  assert.notEqual(next, old);
  assert.equal(login.authorization(), next);
});

Deno.test("ServerLogin.renew() ends the login where it is refused, and says why", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  const login = bench.serverLogin();
  const old = await login.authorization();
  bench.authority.revokeAll();
  assert.equal(await login.renew(old), false);
  assert.match(login.trouble ?? "", /The login has ended: .* "invalid_grant"/);
  assert.equal(login.authorization(), undefined);
  const [outline] = await bench.repository.outlines();
  assert.equal(outline?.hasTokens, false);
  const other = bench.serverLogin("b");
  assert.equal(await other.authorization(), undefined);
  assert.match(other.trouble ?? "", /invalid_grant/);
});

Deno.test("ServerLogin.renew() keeps the login where the other side is only out of order", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  const login = bench.serverLogin();
  const old = await login.authorization();
  bench.authority.behavior.tokenStatus = 503;
  await rejects(login.renew(old), "lost", /Cannot renew the login: .*HTTP 503/);
  delete bench.authority.behavior.tokenStatus;
  assert.equal(await login.renew(old), true);
});

Deno.test("ServerLogin.renew() says what is wrong where there is nothing to renew with", async () => {
  await using bench = await LoginBench.open({ givesRefreshToken: false });
  await bench.logIn();
  const login = bench.serverLogin();
  const header = await login.authorization();
  assert.equal(await login.renew(header), false);
  assert.match(login.trouble ?? "", /does not accept the token that 127\.0\.0\.1:\d+ gave/);
});
