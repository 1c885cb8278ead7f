import assert from "node:assert/strict";
import { Loopback } from "../transports/testing/loopback.ts";
import { covers, discover, resourceOf } from "./discovery.ts";
import { OAuthHttp } from "./oauth_http.ts";

const signal = new AbortController().signal;

/** Answers each path that is named, and 404 to others. */
function serving(answers: (origin: string) => Record<string, unknown>): Loopback {
  const loopback: Loopback = new Loopback(({ path }) => {
    const body = answers(loopback.origin)[path];
    if (body instanceof Response) return body;
    return body === undefined ? new Response("", { status: 404 }) : Response.json(body);
  });
  return loopback;
}

function issuer(origin: string, path = "") {
  return {
    issuer: `${origin}${path}`,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    code_challenge_methods_supported: ["S256"],
  };
}

Deno.test("discover() takes the server itself for one that names nobody", async () => {
  await using old = serving((origin) => ({
    "/.well-known/oauth-authorization-server": issuer(origin),
  }));
  const found = await discover(new OAuthHttp(), new URL(old.url), {}, signal);
  assert.equal(found.issuer.issuer, old.origin);
  assert.equal(found.resource, old.url);
  assert.deepEqual(found.scopes, []);
});

Deno.test("discover() finds the metadata of an issuer with a path, in all three places", async () => {
  const places = [
    "/.well-known/oauth-authorization-server/tenant",
    "/.well-known/openid-configuration/tenant",
    "/tenant/.well-known/openid-configuration",
  ];
  for (const place of places) {
    await using server = serving((origin) => ({
      "/.well-known/oauth-protected-resource": {
        resource: origin,
        authorization_servers: [`${origin}/tenant`],
        scopes_supported: ["a"],
      },
      [place]: issuer(origin, "/tenant"),
    }));
    const url = new URL(server.url);
    const found = await discover(new OAuthHttp(), url, { scope: "b c" }, signal);
    assert.equal(found.issuer.issuer, `${server.origin}/tenant`, place);
    assert.equal(found.resource, server.origin);
    assert.deepEqual(found.scopes, ["b", "c"], "what the refusal asks for comes first");
  }
});

Deno.test("discover() follows redirects of metadata only where each address is allowed", async () => {
  await using target = serving((origin) => ({ "/inner": issuer(origin) }));
  await using server = serving(() => ({
    "/.well-known/oauth-authorization-server": Response.redirect(`${target.origin}/inner`, 302),
  }));
  const allowUrl = (url: URL) =>
    url.origin === target.origin ? Promise.reject(new Error("kept out")) : Promise.resolve();
  await assert.rejects(
    discover(new OAuthHttp({ allowUrl }), new URL(server.url), {}, signal),
    /kept out/,
  );
  assert.deepEqual(target.received, []);
});

Deno.test("discover() says so where nobody tells how to log in", async () => {
  await using server = serving(() => ({}));
  await assert.rejects(
    discover(new OAuthHttp(), new URL(server.url), {}, signal),
    /Cannot find out how to log in/,
  );
});

Deno.test("covers() takes the server and what it is part of, and nothing beside it", () => {
  const url = new URL("https://a.example/team/mcp");
  for (
    const good of ["https://a.example", "https://a.example/team", "https://a.example/team/mcp"]
  ) {
    assert.ok(covers(good, url), good);
  }
  const others = ["https://a.example/tea", "https://b.example/team/mcp", "http://a.example", "x"];
  for (const bad of others) assert.ok(!covers(bad, url), bad);
});

Deno.test("resourceOf() is the address without what may be secret in it", () => {
  assert.equal(resourceOf(new URL("https://a.example/#x")), "https://a.example");
  assert.equal(resourceOf(new URL("https://a.example/mcp?key=1#x")), "https://a.example/mcp");
});
