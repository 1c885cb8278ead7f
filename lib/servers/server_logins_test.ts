import assert from "node:assert/strict";
import { buildServerLogins } from "./server_logins.ts";
import { addressMark } from "./oauth/server_login.ts";
import type { PooledServer } from "./server.ts";
import type { ServerPool } from "./pool.ts";
import { LoginsRepository } from "../storage/logins_repository.ts";
import { AesBox } from "../storage/sealing.ts";
import { ServersRepository } from "../storage/servers_repository.ts";
import { Store } from "../storage/store.ts";
import { Logs } from "../telemetry/logs.ts";

Deno.test("buildServerLogins() waits for no authorization server where a login is outdated", async () => {
  const asked = Promise.withResolvers<string>();
  const answer = Promise.withResolvers<Response>();
  let isGivenUp = false;
  const slow: typeof fetch = (input, init) => {
    asked.resolve(String(input));
    init?.signal?.addEventListener("abort", () => {
      isGivenUp = true;
      answer.reject(init.signal?.reason);
    });
    return answer.promise;
  };
  await using store = await Store.open({ location: ":memory:" });
  await using logs = await Logs.open({
    level: "fatal",
    development: false,
    keepFiles: 0,
  });
  const opened = await AesBox.of(new Uint8Array(32));
  const box = () => Promise.resolve(opened);
  const repository = new LoginsRepository(store, box);
  const issuer = "https://login.example";
  await repository.replace({
    server: "files",
    addressMark: addressMark("https://a.example/mcp"),
    issuer,
    clientId: "c",
    clientAuth: "none",
    clientOrigin: "registered",
    tokenEndpoint: `${issuer}/token`,
    revocationEndpoint: `${issuer}/revoke`,
    scopes: [],
    isAdded: true,
    resource: "https://a.example/mcp",
    id: "one",
    loggedInAt: 1,
    issuedAt: 1,
    accessToken: "canary-access",
  });
  await using stack = new AsyncDisposableStack();
  const none: Pick<ServerPool, "find"> = { find: () => undefined };
  const login = buildServerLogins({
    stack,
    store,
    added: new ServersRepository(store, box),
    logs,
    self: {},
    address: "http://127.0.0.1:1",
    owner: "a",
    box,
    reach: () => Promise.resolve({ fetch: slow }),
    onWarning: assert.fail,
    signal: new AbortController().signal,
  });
  const moved: PooledServer = {
    name: "files",
    spec: { type: "http", url: "https://b.example/mcp", headers: {} },
    source: { kind: "store" },
  };
  await login.load(none as ServerPool, [moved]);
  assert.equal(await repository.find("files"), undefined);
  assert.equal(await asked.promise, `${issuer}/revoke`);
  assert.ok(!isGivenUp, "it is on its way yet");
  answer.resolve(new Response());
});
