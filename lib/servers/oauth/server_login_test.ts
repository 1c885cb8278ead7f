import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { rejects } from "../transports/testing/loopback.ts";
import { LoginBench } from "./testing/login_bench.ts";
import type { ServerSpec } from "../../core/server.ts";
import { Logins } from "./server_login.ts";

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
  assert.match(login.trouble ?? "", /does not accept the token that 127\.0\.0\.1:\d+ issued/);
});

Deno.test("ServerLogin keeps a token that works where the store is away for a moment", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  const { repository } = bench;
  const find = repository.find.bind(repository);
  const login = bench.serverLogin();
  const away = () => Promise.reject(new GatewayError("STORAGE_UNAVAILABLE"));
  repository.find = away;
  await rejects(Promise.resolve(login.authorization()), "lost", /Cannot read the login: /);
  repository.find = find;
  const header = await login.authorization();
  repository.find = away;
  await rejects(login.renew(header), "lost", /Cannot renew the login: /);
  assert.equal(login.authorization(), header);
  assert.equal(login.trouble, undefined);
  repository.find = () => Promise.reject(new GatewayError("SECRET_UNREADABLE"));
  assert.equal(await login.renew(header), false);
  assert.equal(login.authorization(), undefined);
  assert.match(login.trouble ?? "", /cannot be decrypted/);
});

Deno.test("ServerLogin.renew() goes on with what was renewed and could not be kept", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  const { repository, authority } = bench;
  const save = repository.saveRenewed.bind(repository);
  const login = bench.serverLogin();
  const old = await login.authorization();
  repository.saveRenewed = () => Promise.reject(new GatewayError("STORAGE_FULL"));
  assert.equal(await login.renew(old), true);
  const unsaved = await login.authorization();
  assert.equal(`Bearer ${(await repository.find("files"))?.login.accessToken}`, old);
  // The used refresh token must not be sent again: that would end the login.
  await rejects(login.renew(unsaved), "lost", /Cannot renew the login: /);
  repository.saveRenewed = save;
  assert.equal(await login.renew(unsaved), true);
  const next = await login.authorization();
  assert.notEqual(next, unsaved);
  assert.equal(await bench.serverLogin("b").authorization(), next);
  assert.equal(authority.count("/token", "refresh_token"), 2);
});

/** A login that was renewed while the store could not keep that; since then it can. */
async function renewedUnsaved(bench: LoginBench) {
  await bench.logIn();
  const { repository } = bench;
  const save = repository.saveRenewed.bind(repository);
  const login = bench.serverLogin();
  repository.saveRenewed = () => Promise.reject(new GatewayError("STORAGE_FULL"));
  await login.renew(await login.authorization());
  repository.saveRenewed = save;
  return login;
}

Deno.test("ServerLogin.authorization() keeps what was not kept, and does not renew it again", async () => {
  await using bench = await LoginBench.open();
  const { repository, authority } = bench;
  const login = await renewedUnsaved(bench);
  const now = Date.now;
  Date.now = () => now() + 11_000;
  try {
    const unsaved = await login.authorization();
    // Whoever asks for another reason waits for the one that was begun.
    assert.equal(await login.renew("another"), true);
    assert.equal(`Bearer ${(await repository.find("files"))?.login.accessToken}`, unsaved);
    assert.equal(login.authorization(), unsaved);
    await login.renew("another");
    assert.equal(authority.count("/token", "refresh_token"), 1);
    assert.equal(await login.renew(unsaved), true, "one that was refused is renewed");
    assert.equal(authority.count("/token", "refresh_token"), 2);
  } finally {
    Date.now = now;
  }
});

Deno.test("ServerLogin.renew() renews what is refused while it is only being kept", async () => {
  await using bench = await LoginBench.open();
  const { authority } = bench;
  const login = await renewedUnsaved(bench);
  const now = Date.now;
  Date.now = () => now() + 11_000;
  try {
    const unsaved = await login.authorization();
    assert.equal(await login.renew(unsaved), true);
    assert.equal(authority.count("/token", "refresh_token"), 2);
  } finally {
    Date.now = now;
  }
});

Deno.test("ServerLogin.renew() takes a login that was made while its own could not be kept", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  const { repository } = bench;
  const save = repository.saveRenewed.bind(repository);
  const login = bench.serverLogin();
  repository.saveRenewed = () => Promise.reject(new GatewayError("STORAGE_FULL"));
  await login.renew(await login.authorization());
  repository.saveRenewed = save;
  await bench.logIn();
  assert.equal(await login.renew(await login.authorization()), true);
  const found = await repository.find("files");
  assert.equal(login.authorization(), `Bearer ${found?.login.accessToken}`);
});

Deno.test("ServerLogin.renew() ends no login for what somebody in between says", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  const login = bench.serverLogin();
  const old = await login.authorization();
  for (const tokenStatus of [403, 404]) {
    bench.authority.behavior.tokenStatus = tokenStatus;
    await rejects(login.renew(old), "lost", new RegExp(`HTTP ${tokenStatus}`));
  }
  delete bench.authority.behavior.tokenStatus;
  assert.equal(await login.renew(old), true);
});

function loginsOf({ repository }: LoginBench): Logins {
  return new Logins({
    owner: "a",
    repository,
    learn: () => {},
    onWarning: () => {},
    signal: new AbortController().signal,
  });
}

function at(url: string, headers: Record<string, string> = {}): ServerSpec {
  return { type: "http", url, headers };
}

Deno.test("Logins.credentialsFor() gives a login to its server's address alone", async () => {
  await using bench = await LoginBench.open();
  const { url } = bench.authority;
  const logins = loginsOf(bench);
  await logins.load();
  assert.equal(logins.credentialsFor("files", at(url)), undefined);
  await bench.logIn();
  assert.deepEqual((await logins.load()).map(({ server }) => server), ["files"]);
  const credentials = logins.credentialsFor("files", at(url));
  assert.match(await credentials?.authorization() ?? "", /^Bearer /);
  assert.equal(logins.credentialsFor("files", at(`${url}/other`)), undefined);
  assert.equal(logins.credentialsFor("other", at(url)), undefined);
  const own = at(url, { AUTHORIZATION: "Bearer mine" });
  assert.equal(logins.credentialsFor("files", own), undefined, "the user's own header counts");
});

Deno.test("Logins.load() tells of logins that came, ended or went, and of no renewal", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  const logins = loginsOf(bench);
  const changed = async () =>
    (await logins.load()).map(({ server, hasTokens }) => `${server} ${hasTokens}`);
  assert.deepEqual(await changed(), ["files true"]);
  assert.deepEqual(await changed(), []);
  const login = bench.serverLogin();
  assert.equal(await login.renew(await login.authorization()), true);
  assert.deepEqual(await changed(), []);
  bench.authority.revokeAll();
  await login.renew(await login.authorization());
  assert.deepEqual(await changed(), ["files false"]);
  await bench.repository.delete("files");
  assert.deepEqual(await changed(), ["files false"]);
  assert.deepEqual(await changed(), []);
});

Deno.test("Logins.outdated() names logins whose server has moved, and no others", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  const logins = loginsOf(bench);
  await logins.load();
  const { url } = bench.authority;
  const server = (spec: ServerSpec, problem?: string) => [{
    name: "files",
    spec,
    source: { kind: "store" } as const,
    ...(problem === undefined ? {} : { problem }),
  }];
  assert.deepEqual(logins.outdated(server(at(url))), []);
  assert.deepEqual(logins.outdated([]), []);
  assert.deepEqual(logins.outdated(server(at("https://b.example/"))), ["files"]);
  assert.deepEqual(logins.outdated(server(at("https://b.example/"), "A variable is missing")), []);
  const program: ServerSpec = { type: "stdio", command: "x", args: [], env: {} };
  assert.deepEqual(logins.outdated(server(program)), ["files"]);
});
