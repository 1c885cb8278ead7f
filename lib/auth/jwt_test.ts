import assert from "node:assert/strict";
import { IdentityProvider } from "../../tests/fixtures/identity_provider.ts";
import { GatewayError } from "../core/errors.ts";
import { ownerOf } from "../core/access.ts";
import { Access } from "./access.ts";
import { IssuerKeys } from "./issuer_keys.ts";
import { JwtReader } from "./jwt.ts";

const ADDRESS = "https://tools.example.com";
const { signal } = new AbortController();

interface Setting {
  provider: IdentityProvider;
  reader: JwtReader;
  access: Access;
  now(): number;
  pass(ms: number): void;
}

async function withReader(work: (setting: Setting) => Promise<void>, alg?: string): Promise<void> {
  let at = Date.now();
  const now = () => at;
  await using provider = await IdentityProvider.open({ now, ...(alg ? { alg } : {}) });
  const { issuer } = provider;
  const keys = new IssuerKeys({ issuer, now });
  const reader = new JwtReader({ issuer, keys, audience: ADDRESS, address: ADDRESS, now });
  const access = new Access({
    isRequired: true,
    now,
    vouch: (bearer) => reader.read(bearer, signal),
  });
  await work({ provider, reader, access, now, pass: (ms) => at += ms });
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "taken";
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error.code;
  }
}

Deno.test("JwtReader.read() takes what the provider signs, by each of the algorithms", async () => {
  for (const alg of ["RS256", "PS256", "ES256", "EdDSA"]) {
    await withReader(async ({ provider, reader, now }) => {
      for (const typ of ["at+jwt", "JWT", "application/at+jwt"]) {
        const token = await provider.sign(ADDRESS, { header: { typ } });
        const vouched = await reader.read(token, signal);
        assert.match(vouched?.principal ?? "", /^oauth:[0-9a-f]{32}#[0-9a-f]{16}$/, alg);
        assert.equal(vouched?.name, "Ann Example");
        assert.deepEqual(vouched?.scope.rights, ["read", "call"]);
        assert.ok(vouched.expiresAt > now() + 600_000 && vouched.expiresAt < now() + 631_000);
        assert.equal(vouched.paths, undefined);
      }
    }, alg);
  }
});

Deno.test("JwtReader.read() leaves half a minute for clocks that differ, and no more", async () => {
  await withReader(async ({ provider, reader, now }) => {
    const seconds = Math.floor(now() / 1000);
    for (
      const [claims, isTaken] of [
        [{ exp: seconds - 25 }, true],
        [{ exp: seconds - 35 }, false],
        [{ nbf: seconds + 25 }, true],
        [{ nbf: seconds + 35 }, false],
      ] as const
    ) {
      const read = reader.read(await provider.sign(ADDRESS, { claims }), signal);
      assert.equal(
        await codeOf(read),
        isTaken ? "taken" : "TOKEN_REQUIRED",
        JSON.stringify(claims),
      );
    }
  });
});

Deno.test("JwtReader.read() asks for no keys for a token that would not do anyway", async () => {
  await withReader(async ({ provider, reader }) => {
    assert.equal(await reader.read("qm_some_other_token", signal), undefined);
    assert.equal(await reader.read("no.j.wt", signal), undefined);
    const tokens = [
      await provider.forge(ADDRESS, { header: { alg: "none" } }),
      await provider.forge(ADDRESS, { header: { alg: "HS256" } }),
      await provider.sign(ADDRESS, { header: { typ: "logout+jwt" } }),
      await provider.sign(ADDRESS, { header: { typ: undefined } }),
      await provider.sign(ADDRESS, { claims: { iss: "https://other.example.com" } }),
      await provider.sign(ADDRESS, { claims: { sub: undefined } }),
      await provider.sign(ADDRESS, { claims: { exp: undefined } }),
      await provider.sign(ADDRESS, { claims: { exp: 1 } }),
      await provider.sign("https://other.example.com"),
    ];
    for (const [at, token] of tokens.entries()) {
      assert.equal(await codeOf(reader.read(token, signal)), "TOKEN_REQUIRED", `token ${at}`);
    }
    assert.deepEqual(provider.asked, []);
  });
});

Deno.test("JwtReader.read() keeps a token for one endpoint to that endpoint", async () => {
  await withReader(async ({ provider, reader, access }) => {
    const endpoint = "/servers/git/mcp";
    const token = await provider.sign(`${ADDRESS}${endpoint}`);
    assert.deepEqual((await reader.read(token, signal))?.paths, [endpoint]);
    const header = `Bearer ${token}`;
    for (let round = 0; round < 2; round++) {
      const url = `http://127.0.0.1:1${endpoint}?names=flat`;
      assert.match(await access.identify(header, { url }), /^oauth:/);
      for (const path of ["/mcp", "/servers/other/mcp", `${endpoint}/`, undefined]) {
        const url = path === undefined ? undefined : `${ADDRESS}${path}`;
        const tried = Promise.try(() => access.identify(header, { url }));
        assert.equal(await codeOf(tried), "TOKEN_REQUIRED", path);
      }
    }
    for (
      const aud of [
        `${ADDRESS}.evil.example${endpoint}`,
        `${ADDRESS}:444${endpoint}`,
        `${ADDRESS}x`,
      ]
    ) {
      assert.equal(await codeOf(reader.read(await provider.sign(aud), signal)), "TOKEN_REQUIRED");
    }
    for (const aud of [`${ADDRESS}/`, ["https://other.example.com", ADDRESS]]) {
      const everywhere = await provider.sign("", { claims: { aud } });
      assert.equal((await reader.read(everywhere, signal))?.paths, undefined);
    }
  });
});

Deno.test("JwtReader.read() tells one person's tokens apart by what they may do", async () => {
  await withReader(async ({ provider, access }) => {
    const enter = async (claims: Record<string, unknown>) =>
      await access.identify(`Bearer ${await provider.sign(ADDRESS, { claims })}`);
    const first = await enter({ scope: "mcp:read" });
    const second = await enter({ scope: "mcp:read mcp:call" });
    const third = await enter({ scope: "mcp:read", mcp_servers: ["git"] });
    assert.equal(new Set([first, second, third]).size, 3);
    assert.equal(new Set([first, second, third].map((text) => text.slice(0, 38))).size, 1);
    // Each may do what it says, whichever came last.
    assert.deepEqual([first, second, third].map((one) => access.grants(one).may("call")), [
      false,
      true,
      false,
    ]);
    assert.deepEqual([first, third].map((one) => access.admitsServer(one, "files")), [true, false]);
    assert.equal(await enter({ scope: "other mcp:read", jti: "another" }), first);
    assert.notEqual(await enter({ scope: "mcp:read", sub: "bob" }), first);
  });
});

Deno.test("Access goes on with the longest of one person's tokens, and each ends by itself", async () => {
  await withReader(async ({ provider, access, now, pass }) => {
    const seconds = Math.floor(now() / 1000);
    const sign = async (exp: number) =>
      `Bearer ${await provider.sign(ADDRESS, { claims: { exp: seconds + exp } })}`;
    const [long, short] = [await sign(600), await sign(10)];
    const principal = await access.identify(long);
    assert.equal(await access.identify(short), principal);
    pass(45_000);
    assert.equal(await codeOf(Promise.try(() => access.identify(short))), "TOKEN_REQUIRED");
    assert.equal(await access.identify(long), principal);
    assert.equal(access.grants(principal).may("call"), true);
    assert.deepEqual(access.takeExpired(), new Set());
    pass(600_000);
    assert.deepEqual(access.takeExpired(), new Set([ownerOf(principal)]));
  });
});

Deno.test("Access lets nobody in any more by a key that was withdrawn", async () => {
  await withReader(async ({ provider, access, pass }) => {
    const claims = { exp: Math.floor(Date.now() / 1000) + 86_400 };
    const header = `Bearer ${await provider.sign(ADDRESS, { claims })}`;
    await access.identify(header);
    await provider.rotate();
    pass(10 * 60_000);
    assert.equal(await codeOf(Promise.try(() => access.identify(header))), "TOKEN_REQUIRED");
  });
});
