import assert from "node:assert/strict";
import type { ServerSpec } from "../../core/server.ts";
import { Logins } from "./logins.ts";
import { LoginBench } from "./testing/login_bench.ts";

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
