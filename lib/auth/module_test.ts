import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { OWNER, ownerTicket } from "./credentials.ts";
import { buildAuth } from "./module.ts";
import type { Platform } from "../config/platform.ts";
import type { Options } from "../config/option_table.ts";
import { signingSecret } from "../storage/secrets_repository.ts";
import { Store } from "../storage/store.ts";

Deno.test("buildAuth() takes the owner's ticket for itself once the store can be read again", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const run = { pid: 7, startedAt: 1_000 };
  const ticket = ownerTicket(await signingSecret(store), run);
  await using auth = await buildAuth({
    store,
    options: { requireToken: true, host: "127.0.0.1" } as Options,
    platform: { name: "local" } as unknown as Platform,
    address: "",
    run,
    challenge: () => undefined,
    mailbox: { handle() {}, askAll: () => Promise.resolve([]) },
    bus: new EventEmitter(),
    onWarning: () => {},
  });
  const { access } = auth;
  const read = store.read;
  store.read = () => Promise.reject(new Error("The store is away"));
  await assert.rejects(async () => await access.identify(`Bearer ${ticket}`), /away/);
  store.read = read;
  assert.equal(await access.identify(`Bearer ${ticket}`), OWNER);
  const another = ownerTicket(await signingSecret(store), { ...run, pid: 8 });
  await assert.rejects(async () => await access.identify(`Bearer ${another}`), /token/);
});

Deno.test("buildAuth() tells other gateways of wrong tokens, and counts theirs", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const told: string[] = [];
  let hear: (body: string) => unknown = () => {};
  await using auth = await buildAuth({
    store,
    options: { requireToken: true, host: "127.0.0.1" } as Options,
    platform: { name: "local" } as unknown as Platform,
    address: "",
    run: { pid: 7, startedAt: 1_000 },
    challenge: () => undefined,
    mailbox: {
      handle: (_, handler) => void (hear = (body) => handler(body, {} as never)),
      askAll: (_, body) => Promise.resolve([`${told.push(body)}`]),
    },
    bus: new EventEmitter(),
    onWarning: () => {},
  });
  const place = () => "192.0.2.1";
  const guess = (token: string) => async () =>
    await auth.access.identify(`Bearer ${token}`, { place });
  await assert.rejects(guess("wrong-token-number-1"), { code: "TOKEN_REQUIRED" });
  assert.deepEqual(told, ['{"what":"token","place":"192.0.2.1"}']);
  for (let nth = 0; nth < 20; nth++) hear(told[0]!);
  await assert.rejects(guess("wrong-token-number-2"), { code: "LIMIT_EXCEEDED" });
  assert.equal(told.length, 1, "what others tell is not told again");
});
