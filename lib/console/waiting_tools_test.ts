import assert from "node:assert/strict";
import type { Gateway } from "../compose.ts";
import { waitingTools, waitsFor } from "./waiting_tools.ts";

const ITEMS = [
  { server: "a", tool: "t", kind: "finding", state: "quarantined" },
  { server: "a", tool: "(instructions)", kind: "finding", state: "quarantined" },
  { server: "a", tool: "t", kind: "changed", state: "held" },
  { server: "a", tool: "u", kind: "changed", state: "notice" },
  { server: "b", tool: "t", kind: "added", state: "held" },
];

function gatewayWith(items: typeof ITEMS) {
  const of = (wanted: string) => items.filter(({ state }) => state === wanted).length;
  return {
    review: {
      count: () => ({ held: of("held"), quarantined: of("quarantined") }),
      list: () => items.length === 0 ? assert.fail("Nothing to compare") : { items, more: 0 },
    } as unknown as Gateway["review"],
  };
}

Deno.test("waitingTools() lists what is held or quarantined, and no texts of servers", () => {
  const all = waitingTools(gatewayWith(ITEMS));
  assert.deepEqual(all.map(({ server, tool, state }) => [server, tool, state]), [
    ["a", "t", "quarantined"],
    ["a", "t", "held"],
    ["b", "t", "held"],
  ]);
  assert.deepEqual(waitingTools(gatewayWith(ITEMS), "b").map(({ server }) => server), ["b"]);
  assert.deepEqual(waitingTools(gatewayWith([])), []);
});

Deno.test("waitsFor() puts quarantine before a change that is held", () => {
  const wait = waitsFor(waitingTools(gatewayWith(ITEMS)));
  assert.deepEqual(wait("a", "t"), { wait: "quarantined" });
  assert.deepEqual(wait("b", "t"), { wait: "held" });
  assert.deepEqual(wait("a", "u"), {});
});
