import assert from "node:assert/strict";
import { stubGateway } from "../../../../lib/console/testing/stub_gateway.ts";
import { serversPage } from "./model.ts";

const gateway = stubGateway({
  servers: [
    { name: "slow", latencyMs: 900, tools: [{ name: "a" }] },
    { name: "broken", state: "failed", reason: "command not found" },
    { name: "fast", latencyMs: 5, tools: [{ name: "a" }, { name: "b" }] },
    { name: "off", state: "disabled", source: { kind: "store" } },
  ],
});

function names(query: string): string[] {
  return serversPage(gateway, new URLSearchParams(query)).list.rows.map(({ name }) => name);
}

Deno.test("serversPage() sorts by name unless the address says otherwise", () => {
  assert.deepEqual(names(""), ["broken", "fast", "off", "slow"]);
  assert.deepEqual(names("sort=tools&dir=desc"), ["fast", "slow", "broken", "off"]);
  assert.deepEqual(names("sort=state"), ["broken", "fast", "slow", "off"]);
  assert.deepEqual(names("sort=latency"), ["fast", "slow", "broken", "off"]);
});

Deno.test("serversPage() filters by state and by words in name, reason or source", () => {
  assert.deepEqual(names("state=failed"), ["broken"]);
  assert.deepEqual(names("q=not+found"), ["broken"]);
  assert.deepEqual(names("q=console"), ["off"]);
  assert.deepEqual(names("state=nonsense").length, 4);
});

Deno.test("serversPage() counts the states before any filter", () => {
  const page = serversPage(gateway, new URLSearchParams("q=zzz"));
  assert.equal(page.list.total, 0);
  assert.deepEqual(page.states, [
    { state: "failed", count: 1 },
    { state: "ready", count: 2 },
    { state: "disabled", count: 1 },
  ]);
});

Deno.test("serversPage() shows one page of many servers", () => {
  const servers = Array.from({ length: 400 }, (_, index) => ({ name: `s${index}` }));
  const page = serversPage(stubGateway({ servers }), new URLSearchParams("page=4"));
  assert.equal(page.list.rows.length, 100);
  assert.equal(page.list.total, 400);
});
