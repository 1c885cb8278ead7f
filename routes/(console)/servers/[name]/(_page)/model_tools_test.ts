import assert from "node:assert/strict";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { stubGateway } from "../../../../../lib/console/testing/stub_gateway.ts";
import { readToolChoice, selectionOf, serverToolsPage } from "./model.ts";

function save(
  enabled: string[] | null,
  shown: string[],
  chosen: string[],
  all = ["a", "b", "c"],
): string[] | null {
  const form = new URLSearchParams([
    ...shown.map((name) => ["shown", name]),
    ...chosen.map((name) => ["tool", name]),
  ]);
  return selectionOf({ enabled, all }, readToolChoice(form));
}

Deno.test("selectionOf() keeps what was chosen, and null for everything", () => {
  assert.deepEqual(save(null, ["a", "b", "c"], ["a", "c"]), ["a", "c"]);
  assert.equal(save(["a"], ["a", "b", "c"], ["a", "b", "c"]), null);
  assert.deepEqual(save(null, ["a", "b", "c"], []), []);
});

Deno.test("selectionOf() leaves alone what was not shown or is withdrawn", () => {
  assert.deepEqual(save(["c", "gone"], ["a", "b"], ["a"]), ["a", "c", "gone"]);
  assert.deepEqual(save(null, ["a"], []), ["b", "c"]);
});

Deno.test("selectionOf() keeps what was added or chosen elsewhere since the page was loaded", () => {
  // The page knew a and b, both on; b was changed here, a elsewhere, and c came later.
  assert.deepEqual(save(["b"], ["b"], []), []);
  assert.deepEqual(save(null, ["b"], ["a"]), ["a", "c"]);
});

Deno.test("selectionOf() exposes nothing more while a server lists no tools", () => {
  assert.deepEqual(save(["a"], ["a"], ["a"], []), ["a"]);
});

Deno.test("serverToolsPage() marks a tool whose change is held", async () => {
  const gateway = stubGateway({
    servers: [{ name: "s", tools: [{ name: "a" }, { name: "b" }] }],
    waiting: [{ server: "s", tool: "b", state: "held" }],
  });
  const admin = {
    describe: () => ({ server: gateway.servers.list()[0] }),
    enabledTools: () => ({ enabled: null, all: ["a", "b"] }),
  } as unknown as Gateway["admin"];
  const { tools } = await serverToolsPage({ ...gateway, admin }, "s", new URLSearchParams());
  assert.deepEqual(tools.map(({ name, wait }) => [name, wait]), [["a", undefined], ["b", "held"]]);
});
