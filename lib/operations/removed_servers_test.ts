import assert from "node:assert/strict";
import { RemovedServers } from "./removed_servers.ts";
import type { RemovedServer } from "./servers_admin.ts";

function removed(name: string): RemovedServer {
  const spec = { type: "http" as const, url: "https://a.example/mcp", headers: {} };
  return { entry: { name, spec, addedAt: 1 }, enabled: null, tools: [] };
}

Deno.test("RemovedServers.resolve() gives a server back until it is forgotten, and not for long", () => {
  let now = 0;
  const kept = new RemovedServers(() => now);
  const id = kept.keep(removed("git"));
  assert.equal(kept.nameOf(id), "git");
  assert.equal(kept.resolve(id).entry.name, "git");
  // A restoration that failed can be tried again.
  assert.equal(kept.resolve(id).entry.name, "git");
  kept.forget(id);
  assert.throws(() => kept.resolve(id), /can no longer be undone/);
  const late = kept.keep(removed("hub"));
  now = 60_000;
  assert.equal(kept.nameOf(late), undefined);
  assert.throws(() => kept.resolve(late), /can no longer be undone/);
});

Deno.test("RemovedServers.keep() holds the last 20 alone", () => {
  const kept = new RemovedServers(() => 0);
  const ids = Array.from({ length: 25 }, (_, index) => kept.keep(removed(`s${index}`)));
  assert.deepEqual(ids.filter((id) => kept.nameOf(id) !== undefined), ids.slice(5));
});
