import assert from "node:assert/strict";
import { OWNER, ownerTicket } from "./auth/owner_ticket.ts";
import { composeAccess } from "./compose_access.ts";
import type { Platform } from "./config/deployment.ts";
import type { Options } from "./config/option_table.ts";
import { signingSecret } from "./storage/signing_secret.ts";
import { Store } from "./storage/store.ts";

Deno.test("composeAccess() takes the owner's ticket for itself once the store can be read again", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const run = { pid: 7, startedAt: 1_000 };
  const ticket = ownerTicket(await signingSecret(store), run);
  await using stack = new AsyncDisposableStack();
  const { access } = await composeAccess({
    stack,
    store,
    options: { requireToken: true, host: "127.0.0.1" } as Options,
    platform: { name: "local" } as unknown as Platform,
    address: "",
    run,
    onChanged: () => {},
    onWarning: () => {},
  });
  const read = store.read;
  store.read = () => Promise.reject(new Error("The store is away"));
  await assert.rejects(async () => await access.identify(`Bearer ${ticket}`), /away/);
  store.read = read;
  assert.equal(await access.identify(`Bearer ${ticket}`), OWNER);
  const another = ownerTicket(await signingSecret(store), { ...run, pid: 8 });
  await assert.rejects(async () => await access.identify(`Bearer ${another}`), /token/);
});
