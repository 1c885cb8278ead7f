import assert from "node:assert/strict";
import { startGateway, until } from "../gateway.ts";
import { bearer, Guarded, Listening } from "./guarded.ts";

const COOKIE = "__Host-quartermaster";

let guarded: Guarded;

Deno.test.beforeAll(async () => {
  guarded = await Guarded.open({});
});

Deno.test.afterAll(async () => {
  await guarded?.[Symbol.asyncDispose]();
});

function post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  return fetch(`${guarded.url}${path}`, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers,
    redirect: "manual",
  });
}

async function logIn(token: string, then = ""): Promise<{ response: Response; cookie: string }> {
  const response = await post("/login", { token, then }, { origin: guarded.url });
  await response.body?.cancel();
  const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  return { response, cookie };
}

async function statusOf(path: string, cookie: string): Promise<number> {
  const response = await fetch(`${guarded.url}${path}`, { headers: { cookie } });
  await response.body?.cancel();
  return response.status;
}

Deno.test("a login's cookie cannot be read, sent elsewhere or set by another host", async () => {
  const { response, cookie } = await logIn(guarded.owner);
  assert.equal(response.status, 303);
  const attributes = (response.headers.get("set-cookie") ?? "").split("; ").slice(1);
  for (const wanted of ["Path=/", "Secure", "HttpOnly", "SameSite=Strict"]) {
    assert.ok(attributes.includes(wanted), attributes.join("; "));
  }
  assert.ok(attributes.every((attribute) => !attribute.startsWith("Domain")));
  assert.match(cookie, new RegExp(`^${COOKIE}=`));
  assert.ok(!cookie.includes(guarded.owner), "the token itself is not in it");
  assert.equal(await statusOf("/api/servers", cookie), 200);
  assert.equal(await statusOf("/api/servers", cookie.slice(0, -1)), 401);
  // It opens the console, and no endpoint.
  assert.equal(await statusOf("/mcp", cookie), 401);
});

Deno.test("a login leads to a page of this gateway alone", async () => {
  for (
    const then of ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:1"]
  ) {
    const { response } = await logIn(guarded.owner, then);
    assert.equal(response.headers.get("location"), "/", then);
  }
  const { response } = await logIn(guarded.owner, "/servers?q=1");
  assert.equal(response.headers.get("location"), "/servers?q=1");
});

Deno.test("a change by cookie has to come from a page of this gateway", async () => {
  const { cookie } = await logIn(guarded.owner);
  const forms: [string, Record<string, string>][] = [
    ["/security/projects", { action: "create", name: "forged" }],
    ["/security/tokens", { change: "create", filled: "yes", right: "read", name: "forged" }],
    ["/logout", { everywhere: "yes" }],
  ];
  const foreign: Record<string, string>[] = [
    {},
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { referer: `${guarded.url}/security/projects` },
  ];
  for (const [path, fields] of forms) {
    for (const headers of foreign) {
      const response = await post(path, fields, { cookie, ...headers });
      assert.equal(response.status, 403, `${path} ${JSON.stringify(headers)}`);
      await response.body?.cancel();
    }
  }
  const json = { "content-type": "application/json", cookie };
  const body = JSON.stringify({ name: "forged", rights: ["read"] });
  const refused = await fetch(`${guarded.url}/api/tokens`, { method: "POST", headers: json, body });
  assert.equal(refused.status, 403);
  await refused.body?.cancel();
  assert.equal(await statusOf("/api/servers", cookie), 200, "it was not logged out");
  assert.deepEqual(await guarded.admin.projects(), []);
  assert.ok((await guarded.admin.tokens()).every(({ name }) => name !== "forged"));
  const [path, fields] = forms[0]!;
  const own = await post(path, fields, { cookie, origin: guarded.url });
  assert.equal(own.status, 303);
});

Deno.test("to log out everywhere ends the other browser too, at every gateway", async () => {
  const [here, there, other] = await Promise.all([
    logIn(guarded.owner),
    logIn(guarded.owner),
    guarded.token({ rights: ["read"] }).then(({ text }) => logIn(text)),
  ]);
  const alone = await post("/logout", {}, { cookie: here.cookie, origin: guarded.url });
  assert.match(alone.headers.get("set-cookie") ?? "", /Max-Age=0/);
  assert.equal(await statusOf("/api/servers", here.cookie), 401);
  assert.equal(await statusOf("/api/servers", there.cookie), 200);
  const { cookie } = await logIn(guarded.owner);
  await post("/logout", { everywhere: "yes" }, { cookie, origin: guarded.url });
  assert.equal(await statusOf("/api/servers", there.cookie), 401);
  assert.equal(await statusOf("/api/servers", other.cookie), 200, "somebody else's");
});

Deno.test("a login ends with its token", async () => {
  const token = await guarded.token({ rights: ["read", "manage"] });
  const { cookie } = await logIn(token.text);
  assert.equal(await statusOf("/api/servers", cookie), 200);
  await guarded.revoke(token);
  assert.equal(await statusOf("/api/servers", cookie), 401);
});

Deno.test("a console's live channel ends with the login or the token that opened it", async () => {
  const token = await guarded.token({ rights: ["read"] });
  const { cookie } = await logIn(token.text);
  const events = `${guarded.url}/api/events`;
  await using byCookie = await Listening.open(events, { cookie });
  await using byToken = await Listening.open(events, bearer(token.text));
  await until(() =>
    byCookie.text.includes("status") && byToken.text.includes("status") || undefined
  );
  await post("/logout", {}, { cookie, origin: guarded.url });
  // Whatever is said next is not for whoever has left.
  const { text: other } = await guarded.token({ rights: ["read", "manage"] });
  await guarded.api("POST", "/api/tokens", { name: "next", rights: ["read"] }, other);
  await guarded.revoke(token);
  await Promise.all([byCookie.over(), byToken.over()]);
});

Deno.test("a narrow token does not log in", async () => {
  const { text } = await guarded.token({ servers: ["x"] });
  const { response, cookie } = await logIn(text);
  assert.equal(response.status, 403);
  assert.equal(cookie, "");
});

Deno.test("guessing tokens is slowed down, for those who guess", async () => {
  const statuses = new Set<number>();
  let limited: Response | undefined;
  for (let guess = 0; guess < 20 && !limited; guess++) {
    const { response } = await logIn(`qm_guess_${guess}`);
    assert.equal(response.headers.get("set-cookie"), null);
    if (response.status === 429) limited = response;
    else statuses.add(response.status);
  }
  assert.deepEqual([...statuses], [403]);
  assert.ok(limited, "guesses go on for ever");
  assert.match(limited.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
  // Who guesses may share an address with everybody, and a token of ours cannot be guessed.
  assert.equal((await logIn(guarded.owner)).response.status, 303);
  assert.equal((await logIn("qm_guess_more")).response.status, 429);
});

Deno.test("the admin token, which a person chose, is not taken while guesses are not", async () => {
  const admin = "chosen-by-a-person-1234";
  await using gateway = await startGateway(["--require-token"], {
    env: { QUARTERMASTER_ADMIN_TOKEN: admin },
  });
  const statusOf = async (token: string) => {
    const response = await fetch(`${gateway.url}/login`, {
      method: "POST",
      body: new URLSearchParams({ token, then: "" }),
      headers: { origin: gateway.url },
      redirect: "manual",
    });
    await response.body?.cancel();
    return response.status;
  };
  assert.equal(await statusOf(admin), 303);
  for (let guess = 0; guess < 5; guess++) assert.equal(await statusOf(`${admin}${guess}`), 403);
  // Or one could try on and see.
  assert.deepEqual([await statusOf(`${admin}5`), await statusOf(admin)], [429, 429]);
});
