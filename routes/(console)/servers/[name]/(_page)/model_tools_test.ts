import assert from "node:assert/strict";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { stubGateway } from "../../../../../lib/console/testing/stub_gateway.ts";
import { readToolChoice, saveServerTools, serverToolsPage } from "./model.ts";

async function save(
  enabled: string[] | null,
  shown: string[],
  chosen: string[],
  all = ["a", "b", "c"],
): Promise<string[] | null | undefined> {
  let saved: string[] | null | undefined;
  const admin = {
    enabledTools: () => ({ enabled, all }),
    setEnabledTools(_: string, tools: string[] | null) {
      saved = tools;
      return Promise.resolve();
    },
  } as unknown as Gateway["admin"];
  const form = new URLSearchParams([
    ...shown.map((name) => ["shown", name]),
    ...chosen.map((name) => ["tool", name]),
  ]);
  await saveServerTools({ admin }, "s", readToolChoice(form));
  return saved;
}

Deno.test("saveServerTools() keeps what was chosen, and null for everything", async () => {
  assert.deepEqual(await save(null, ["a", "b", "c"], ["a", "c"]), ["a", "c"]);
  assert.equal(await save(["a"], ["a", "b", "c"], ["a", "b", "c"]), null);
  assert.deepEqual(await save(null, ["a", "b", "c"], []), []);
});

Deno.test("saveServerTools() leaves alone what was not shown or is withdrawn", async () => {
  assert.deepEqual(await save(["c", "gone"], ["a", "b"], ["a"]), ["a", "c", "gone"]);
  assert.deepEqual(await save(null, ["a"], []), ["b", "c"]);
});

Deno.test("saveServerTools() keeps what was added or chosen elsewhere since the page was loaded", async () => {
  // The page knew a and b, both on; b was changed here, a elsewhere, and c came later.
  assert.deepEqual(await save(["b"], ["b"], []), []);
  assert.deepEqual(await save(null, ["b"], ["a"]), ["a", "c"]);
});

Deno.test("saveServerTools() exposes nothing more while a server lists no tools", async () => {
  assert.deepEqual(await save(["a"], ["a"], ["a"], []), ["a"]);
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
