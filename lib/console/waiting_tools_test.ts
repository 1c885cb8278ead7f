import assert from "node:assert/strict";
import type { Gateway } from "../compose.ts";
import { waitingTools, waitsFor } from "./waiting_tools.ts";

const ITEMS = [
  { server: "a", tool: "t", kind: "finding", state: "quarantined" },
  { server: "a", tool: "(instructions)", kind: "finding", state: "quarantined" },
  { server: "a", tool: "t", kind: "changed", state: "held" },
  { server: "a", tool: "t", kind: "changed", state: "held" },
  { server: "a", tool: "u", kind: "changed", state: "notice" },
  { server: "b", tool: "t", kind: "added", state: "held" },
];

function gatewayWith(items: typeof ITEMS) {
  const waiting = (only?: string) =>
    items.filter(({ server }) => only === undefined || server === only);
  return { review: { waiting } as unknown as Gateway["review"] };
}

Deno.test("waitingTools() lists what is held or quarantined, each tool once and no texts of servers", () => {
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
