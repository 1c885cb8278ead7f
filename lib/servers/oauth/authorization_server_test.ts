import assert from "node:assert/strict";
import { Loopback } from "../transports/testing/loopback.ts";
import { discoverLogin, resourceOf } from "./authorization_server.ts";
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
    response_types_supported: ["code"],
    // What an OpenID provider must name as well.
    jwks_uri: `${origin}/keys`,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
}

Deno.test("discoverLogin() takes the server itself for one that names nobody", async () => {
  await using old = serving((origin) => ({
    "/.well-known/oauth-authorization-server": issuer(origin),
  }));
  const found = await discoverLogin(new OAuthHttp({}, signal), new URL(old.url), {});
  assert.equal(found.issuer.issuer, old.origin);
  assert.equal(found.resource, old.url);
  assert.deepEqual(found.scopes, []);
});

Deno.test("discoverLogin() finds the metadata of an issuer with a path, in all three places", async () => {
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
    const found = await discoverLogin(new OAuthHttp({}, signal), url, { scope: "b c" });
    assert.equal(found.issuer.issuer, `${server.origin}/tenant`, place);
    assert.equal(found.resource, server.origin);
    assert.deepEqual(found.scopes, ["b", "c"], "what the refusal asks for comes first");
  }
});

Deno.test("discoverLogin() follows redirects of metadata only where each address is allowed", async () => {
  await using target = serving((origin) => ({ "/inner": issuer(origin) }));
  await using server = serving(() => ({
    "/.well-known/oauth-authorization-server": Response.redirect(`${target.origin}/inner`, 302),
  }));
  const allowUrl = (url: URL) =>
    url.origin === target.origin ? Promise.reject(new Error("kept out")) : Promise.resolve();
  await assert.rejects(
    discoverLogin(new OAuthHttp({ allowUrl }, signal), new URL(server.url), {}),
    /kept out/,
  );
  assert.deepEqual(target.received, []);
});

Deno.test("discoverLogin() says so where nobody tells how to log in", async () => {
  await using server = serving(() => ({}));
  await assert.rejects(
    discoverLogin(new OAuthHttp({}, signal), new URL(server.url), {}),
    /Cannot find out how to log in/,
  );
});

Deno.test("discoverLogin() takes the server and what it is part of, and nothing beside it", async () => {
  let resource = "";
  await using server = serving((origin) => ({
    "/.well-known/oauth-protected-resource": { resource },
    "/.well-known/oauth-authorization-server": issuer(origin),
  }));
  const url = new URL("/team/mcp", server.origin);
  const asked = () => discoverLogin(new OAuthHttp({}, signal), url, {});
  for (const path of ["", "/team", "/team/mcp"]) {
    resource = `${server.origin}${path}`;
    assert.equal((await asked()).resource, resource);
  }
  for (const other of [`${server.origin}/tea`, "https://b.example/team/mcp"]) {
    resource = other;
    await assert.rejects(asked(), /identifies itself as another server/, other);
  }
  resource = "x";
  await assert.rejects(asked(), /returned invalid metadata of the server/);
});

Deno.test("resourceOf() is the address without what may be secret in it", () => {
  assert.equal(resourceOf(new URL("https://a.example/#x")), "https://a.example");
  assert.equal(resourceOf(new URL("https://a.example/mcp?key=1#x")), "https://a.example/mcp");
});
