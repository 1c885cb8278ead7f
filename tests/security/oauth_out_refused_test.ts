import assert from "node:assert/strict";
import { AuthorizationServer, type Behavior } from "../fixtures/authorization_server.ts";
import { startGateway } from "../gateway.ts";
import { visit, withServers } from "./oauth_out.ts";

Deno.test("an authorization server that misbehaves is refused in words, before anything is sent", async () => {
  const cases: Record<string, [Partial<Behavior>, RegExp]> = {
    plain: [{ challengeMethods: ["plain"] }, /does not support PKCE with S256/],
    script: [{ authorizeUrl: "javascript:alert(1)" }, /is neither https nor http/],
    clear: [{ authorizeUrl: "http://login.example/authorize" }, /is not https/],
    posing: [{ issuer: "https://honest.example" }, /identifies itself as another one/],
    other: [{ resource: "https://honest.example/mcp" }, /identifies itself as another server/],
    closed: [{ canRegister: false }, /does not support client registration/],
  };
  await using stack = new AsyncDisposableStack();
  const authorities = Object.entries(cases).map(([name, [behavior, words]]) => ({
    name,
    words,
    authority: stack.use(new AuthorizationServer(behavior)),
  }));
  const servers = Object.fromEntries(
    authorities.map(({ name, authority }) => [name, authority.url]),
  );
  await withServers(servers, async (console) => {
    for (const { name, words, authority } of authorities) {
      const { status, error } = await console.ask("POST", `servers/${name}/login`);
      assert.equal(status, 502, name);
      assert.equal(error.errorType, "LOGIN_FAILED", name);
      assert.match(error.message, words, name);
      assert.equal(authority.count("/register"), 0, name);
    }
  });
});

Deno.test("an answer that is forged or meant for another opens nothing", async () => {
  await using wrong = new AuthorizationServer({ iss: "wrong" });
  await using silent = new AuthorizationServer({ iss: "announced only" });
  await using denying = new AuthorizationServer({ denies: true });
  await using astray = new AuthorizationServer({ audience: "https://honest.example/mcp" });
  const servers = {
    wrong: wrong.url,
    silent: silent.url,
    denying: denying.url,
    astray: astray.url,
  };
  await withServers(servers, async (console) => {
    for (const name of Object.keys(servers)) await console.reaches("needs_login", name);
    const refused: [string, RegExp][] = [
      ["wrong", /comes from a different authorization server/],
      ["silent", /does not name its issuer/],
      ["denying", /refused the login: .*access_denied/],
    ];
    for (const [name, words] of refused) {
      const { status, text } = await console.logIn(name);
      assert.equal(status, 400, name);
      assert.match(text, words, name);
    }
    assert.equal(wrong.count("/token") + silent.count("/token") + denying.count("/token"), 0);
    const forged = await visit(`${console.gateway.url}/oauth/callback?state=x&code=y`);
    assert.equal(forged.status, 400);
    assert.match(forged.text, /No login is waiting for this response/);
    assert.doesNotMatch(forged.text, /class="rail/, "nothing of the console is around it");

    // A token for another server is one that this server refuses.
    assert.match((await console.logIn("astray")).text, /does not accept the token/);
    const { reason } = await console.reaches("needs_login", "astray");
    assert.match(reason, /does not accept the token/);
  });
});

Deno.test("the gateway's client document is there where others can read it, and only there", async () => {
  await using open = await startGateway(["--public-url", "https://localhost:8443"]);
  const response = await fetch(`${open.url}/oauth/client.json`);
  const document = await response.json();
  assert.equal(document.client_id, "https://localhost:8443/oauth/client.json");
  assert.deepEqual(document.redirect_uris, ["https://localhost:8443/oauth/callback"]);
  assert.equal(document.token_endpoint_auth_method, "none");
  await using local = await startGateway();
  const missing = await fetch(`${local.url}/oauth/client.json`);
  await missing.body?.cancel();
  assert.equal(missing.status, 404);
});
