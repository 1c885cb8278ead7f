import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { keys } from "../../storage/keys.ts";
import { FinishFailed } from "./server_login.ts";
import { LoginBench } from "./testing/login_bench.ts";

Deno.test("LoginFlow asks for the server's own token with PKCE, state and resource", async () => {
  await using bench = await LoginBench.open();
  const { authority } = bench;
  const started = await bench.start();
  const query = new URL(started.url).searchParams;
  assert.equal(started.issuer, authority.issuer);
  assert.equal(query.get("resource"), authority.url);
  assert.equal(query.get("code_challenge_method"), "S256");
  assert.equal(query.get("scope"), "files:read");
  assert.ok((query.get("state") ?? "").length >= 40);
  assert.deepEqual(await bench.finish(await bench.visit(started.url)), {
    server: "files",
    attempt: started.attempt,
  });
  const found = await bench.repository.find("files");
  assert.match(found?.login.accessToken ?? "", /^canary-access-/);
  assert.equal(found?.login.resource, authority.url);
  assert.deepEqual((await bench.flow.findAttempt(started.attempt))?.outcome, { kind: "done" });
});

Deno.test("LoginFlow keeps secrets sealed, and has the log learn them", async () => {
  await using bench = await LoginBench.open();
  const started = await bench.start();
  const state = new URL(started.url).searchParams.get("state") ?? "";
  const dump = async () => {
    const prefixes = [keys.logins(), keys.pendingLogins()];
    const lists = prefixes.map((prefix) => Array.fromAsync(bench.store.list({ prefix })));
    return JSON.stringify(await Promise.all(lists));
  };
  assert.ok(!(await dump()).includes(state));
  await bench.finish(await bench.visit(started.url));
  const stored = await dump();
  for (const secret of bench.authority.secrets()) {
    assert.ok(!stored.includes(secret));
    assert.ok(bench.learned.includes(secret));
  }
  assert.ok(bench.learned.includes(state));
});

Deno.test("LoginFlow.finish() takes an answer once, and none that nobody asked for", async () => {
  await using bench = await LoginBench.open();
  const { url } = await bench.start();
  const answer = await bench.visit(url);
  await bench.finish(answer);
  await assert.rejects(bench.finish(answer), /No login is waiting for this response/);
  const invented = new URLSearchParams({ state: "x", code: "y" });
  await assert.rejects(bench.finish(invented), /No login is waiting for this response/);
});

Deno.test("LoginFlow.finish() trades one code where the same answer comes twice at once", async () => {
  await using bench = await LoginBench.open();
  const answer = await bench.visit((await bench.start()).url);
  const ends = await Promise.allSettled([bench.finish(answer), bench.finish(answer)]);
  assert.deepEqual(ends.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  assert.equal(bench.authority.count("/token"), 1);
});

Deno.test("LoginFlow.finish() refuses an answer of another authorization server", async () => {
  for (const iss of ["wrong", "announced only"] as const) {
    await using bench = await LoginBench.open({ iss });
    const { url, attempt } = await bench.start();
    await assert.rejects(
      bench.finish(await bench.visit(url)),
      (error) =>
        error instanceof FinishFailed && error.attempt === attempt &&
        /different authorization server|does not name its issuer/.test(error.message),
    );
    assert.equal(bench.authority.count("/token"), 0, "the code went nowhere");
    assert.equal(await bench.repository.find("files"), undefined);
    assert.equal((await bench.flow.findAttempt(attempt))?.outcome?.kind, "failed");
  }
});

Deno.test("LoginFlow.finish() says what the authorization server refused", async () => {
  await using bench = await LoginBench.open({ denies: true });
  const answer = await bench.visit((await bench.start()).url);
  await assert.rejects(bench.finish(answer), /refused the login: "access_denied"/);
});

Deno.test("LoginFlow.finish() refuses where the server has another address by then", async () => {
  await using bench = await LoginBench.open();
  const answer = await bench.visit((await bench.start()).url);
  await assert.rejects(bench.finish(answer, () => false), /changed or removed/);
  assert.equal(bench.authority.count("/token"), 0);
});

Deno.test("LoginFlow.start() refuses an authorization server that is not safe, in words", async () => {
  const cases: [Parameters<typeof LoginBench.open>[0], RegExp][] = [
    [{ challengeMethods: ["plain"] }, /does not support PKCE with S256/],
    [{ challengeMethods: [] }, /does not support PKCE with S256/],
    [{ authorizeUrl: "javascript:alert(1)" }, /login page .* is neither https nor http/],
    [{ authorizeUrl: "file:///etc/passwd" }, /is neither https nor http/],
    [{ authorizeUrl: "http://login.example/a" }, /is not https/],
    [{ authorizeUrl: "https://a@login.example/a" }, /name or password/],
    [{ issuer: "https://honest.example" }, /identifies itself as another one/],
    [{ resource: "https://honest.example/mcp" }, /identifies itself as another server/],
    [{ canRegister: false }, /does not support client registration/],
  ];
  for (const [behavior, words] of cases) {
    await using bench = await LoginBench.open(behavior);
    await assert.rejects(
      bench.start(),
      (error) =>
        error instanceof GatewayError && error.code === "LOGIN_FAILED" && words.test(error.message),
      String(words),
    );
    assert.equal(bench.authority.count("/register"), 0, String(words));
  }
});

Deno.test("LoginFlow.start() asks whether it may reach each address before it does", async () => {
  const asked: string[] = [];
  await using bench = await LoginBench.open({}, {
    allowUrl(url) {
      asked.push(url.pathname);
      return url.pathname === "/register"
        ? Promise.reject(new Error("not that one"))
        : Promise.resolve();
    },
  });
  await assert.rejects(bench.start(), /not that one/);
  assert.equal(bench.authority.count("/register"), 0);
  assert.deepEqual(asked, [
    "/mcp",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/register",
  ]);
});

Deno.test("LoginFlow.start() finds the metadata where no refusal names it", async () => {
  await using bench = await LoginBench.open({ namesMetadata: false });
  assert.equal((await bench.start()).issuer, bench.authority.issuer);
});

Deno.test("LoginFlow.start() prefers a client id that was given, and keeps it", async () => {
  await using bench = await LoginBench.open();
  const redirectUris = ["http://127.0.0.1:1/oauth/callback"];
  bench.authority.clients.set("mine", { secret: "canary & secret", redirectUris });
  await bench.logIn({ client: { id: "mine", secret: "canary & secret" } });
  assert.equal(bench.authority.count("/register"), 0);
  assert.equal((await bench.repository.find("files"))?.login.clientAuth, "client_secret_basic");
  const again = await bench.start();
  assert.equal(new URL(again.url).searchParams.get("client_id"), "mine");
  const found = await bench.repository.find("files");
  assert.ok(found);
  await bench.repository.replace({ ...found.login, issuer: "https://other.example" });
  const elsewhere = new URL((await bench.start()).url).searchParams.get("client_id");
  assert.match(elsewhere ?? "", /^client-/, "it is no client of another authorization server");
});

Deno.test("LoginFlow.start() names its metadata document where both sides can use it", async () => {
  const documentUrl = "https://tools.example.com/oauth/client.json";
  await using bench = await LoginBench.open({ canUseDocument: true }, { documentUrl });
  const { url } = await bench.start();
  assert.equal(new URL(url).searchParams.get("client_id"), documentUrl);
  assert.equal(bench.authority.count("/register"), 0);
});

Deno.test("LoginFlow.end() forgets the login and has its tokens revoked", async () => {
  await using bench = await LoginBench.open();
  await bench.logIn();
  assert.equal(bench.authority.liveTokens, 2);
  const signal = new AbortController().signal;
  assert.deepEqual(await bench.flow.end("files", signal), { existed: true, revoked: true });
  assert.equal(bench.authority.liveTokens, 0);
  assert.equal(await bench.repository.find("files"), undefined);
  assert.deepEqual(await bench.flow.end("files", signal), { existed: false, revoked: false });
});
