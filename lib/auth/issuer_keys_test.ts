import assert from "node:assert/strict";
import { IdentityProvider } from "../../tests/fixtures/identity_provider.ts";
import { GatewayError } from "../core/errors.ts";
import { IssuerKeys, type IssuerKeysOptions } from "./issuer_keys.ts";

const { signal } = new AbortController();
const MINUTE = 60_000;

/** A provider, and its keys by a clock of the test's. */
async function withKeys(
  work: (provider: IdentityProvider, keys: IssuerKeys, pass: (ms: number) => void) => Promise<void>,
  options: Partial<IssuerKeysOptions> = {},
): Promise<void> {
  let now = Date.now();
  await using provider = await IdentityProvider.open();
  const keys = new IssuerKeys({ issuer: provider.issuer, now: () => now, ...options });
  await work(provider, keys, (ms) => now += ms);
}

function isUnavailable(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "ISSUER_UNAVAILABLE";
}

Deno.test("IssuerKeys.resolve() finds the keys by either kind of metadata", async () => {
  for (
    const [path, place] of [
      ["", "/.well-known/openid-configuration"],
      ["", "/.well-known/oauth-authorization-server"],
      ["/realms/a", "/realms/a/.well-known/openid-configuration"],
      ["/realms/a", "/.well-known/openid-configuration/realms/a"],
      ["/realms/a/", "/.well-known/oauth-authorization-server/realms/a"],
    ] as const
  ) {
    await using provider = await IdentityProvider.open();
    provider.metadataPath = place;
    const issuer = `${provider.issuer}${path}`;
    provider.said = { issuer };
    const found = await new IssuerKeys({ issuer }).resolve(provider.key.kid, signal);
    assert.equal(found.issuer, issuer);
    assert.deepEqual(found.keys.map(({ kid }) => kid), [provider.key.kid], place);
  }
});

Deno.test("IssuerKeys.resolve() asks once for all who wait, and again when the keys are old", async () => {
  await withKeys(async (provider, keys, pass) => {
    await Promise.all(Array.from({ length: 5 }, () => keys.resolve(provider.key.kid, signal)));
    pass(9 * MINUTE);
    await keys.resolve(provider.key.kid, signal);
    assert.equal(provider.fetches, 1);
    const withdrawn = await provider.rotate();
    pass(MINUTE);
    const { keys: left } = await keys.resolve(withdrawn.kid, signal);
    assert.deepEqual(left.map(({ kid }) => kid), [provider.key.kid]);
    assert.equal(provider.fetches, 2);
  });
});

Deno.test("IssuerKeys.resolve() looks for an unknown key at once, and then once a minute at most", async () => {
  await withKeys(async (provider, keys, pass) => {
    await keys.resolve(provider.key.kid, signal);
    await provider.rotate();
    const { keys: found } = await keys.resolve(provider.key.kid, signal);
    assert.equal(found[0]?.kid, provider.key.kid);
    assert.equal(provider.fetches, 2);
    for (let at = 0; at < 20; at++) await keys.resolve(`made up ${at}`, signal);
    assert.equal(provider.fetches, 2);
    pass(MINUTE);
    for (let at = 0; at < 20; at++) await keys.resolve(`made up ${at}`, signal);
    assert.equal(provider.fetches, 3);
  });
});

Deno.test("IssuerKeys.resolve() goes on for an hour with what it has, and does not press a provider that fails", async () => {
  const warnings: string[] = [];
  await withKeys(async (provider, keys, pass) => {
    await keys.resolve(undefined, signal);
    provider.said = { status: 500 };
    pass(30 * MINUTE);
    const before = provider.asked.length;
    for (let at = 0; at < 5; at++) await keys.resolve(undefined, signal);
    const asked = provider.asked.length - before;
    assert.ok(asked > 0 && asked <= 3, `${asked}`);
    pass(30 * MINUTE);
    await assert.rejects(keys.resolve(undefined, signal), isUnavailable);
    provider.said = {};
    await assert.rejects(keys.resolve(undefined, signal), isUnavailable, "asked again too soon");
    pass(10_000);
    await keys.resolve(undefined, signal);
  }, { onWarning: (message) => warnings.push(message) });
  assert.equal(warnings.length, 2);
});

Deno.test("IssuerKeys.resolve() takes no keys from where others could put them", async () => {
  const issuer = "https://login.example.com";
  await using provider = await IdentityProvider.open();
  /** Every place there is has keys: what is not taken was not asked for. */
  async function find(said: { issuer?: string; jwks_uri?: string }): Promise<number> {
    const stub = (input: string | URL | Request) => {
      const isMetadata = String(input).includes("/.well-known/");
      return Promise.resolve(Response.json(
        isMetadata ? { issuer, jwks_uri: `${issuer}/keys`, ...said } : { keys: provider.published },
      ));
    };
    return (await new IssuerKeys({ issuer, fetch: stub }).resolve(undefined, signal)).keys.length;
  }
  assert.equal(await find({}), 1);
  for (
    const said of [
      { jwks_uri: "http://login.example.com/keys" },
      { jwks_uri: "https://keys.example.com/keys" },
      { jwks_uri: "https://login.example.com:8443/keys" },
      { jwks_uri: "https://login.example.com.evil.example/keys" },
      { jwks_uri: "http://127.0.0.1/keys" },
      { jwks_uri: "file:///etc/passwd" },
      { jwks_uri: "no address" },
      { issuer: "https://other.example.com" },
    ]
  ) {
    await assert.rejects(find(said), isUnavailable, JSON.stringify(said));
  }
});

Deno.test("IssuerKeys.resolve() follows no redirect, and reads no more than it should", async () => {
  await withKeys(async (provider, keys) => {
    provider.said = { keysUrl: `${provider.issuer}/moved` };
    await assert.rejects(keys.resolve(undefined, signal), isUnavailable);
    assert.equal(provider.fetches, 0);
  });
  await withKeys(async (provider, keys) => {
    provider.said = { padding: 300_000 };
    await assert.rejects(keys.resolve(undefined, signal), isUnavailable);
    assert.equal(provider.fetches, 1);
  });
});

Deno.test("IssuerKeys.resolve() leaves out what is no public key for signatures", async () => {
  await withKeys(async (provider, keys) => {
    provider.published = [
      { kty: "oct", k: "c2VjcmV0", kid: "shared" },
      { ...provider.key.jwk, kid: "other use", use: "enc" },
      { ...provider.key.jwk, use: "sig" },
    ];
    const found = await keys.resolve(undefined, signal);
    assert.deepEqual(found.keys.map(({ kid }) => kid), [provider.key.kid]);
  });
});
