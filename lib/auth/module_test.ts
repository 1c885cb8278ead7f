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
