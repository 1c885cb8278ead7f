import assert from "node:assert/strict";
import { SessionsRepository } from "./access_repositories.ts";
import { Store } from "./store.ts";

const HOUR_MS = 60 * 60_000;
const session = (id: string) => ({
  id,
  endpoint: "gateway?",
  principal: "everyone",
  client: { protocolVersion: "2025-11-25", capabilities: {} },
});

Deno.test("SessionsRepository keeps a session for a day from its last save, and prunes the rest", async () => {
  await using store = await Store.open({ location: ":memory:" });
  let now = 0;
  const sessions = new SessionsRepository(store, () => now);
  await sessions.save(session("idle"));
  await sessions.save(session("active"));
  now = 20 * HOUR_MS;
  await sessions.save(session("active"));
  now = 30 * HOUR_MS;
  assert.equal(await sessions.find("idle"), undefined);
  assert.equal((await sessions.find("active"))?.endpoint, "gateway?");
  await sessions.prune();
  assert.equal((await Array.fromAsync(store.list({ prefix: ["sessions"] }))).length, 1);
});
