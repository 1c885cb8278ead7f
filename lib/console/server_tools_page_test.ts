import assert from "node:assert/strict";
import type { Gateway } from "../compose.ts";
import { saveServerTools } from "./server_tools_page.ts";

async function save(
  enabled: string[] | null,
  shown: string[],
  chosen: string[],
): Promise<string[] | null | undefined> {
  let saved: string[] | null | undefined;
  const admin = {
    enabledTools: () => ({ enabled, all: ["a", "b", "c"] }),
    setEnabledTools(_: string, tools: string[] | null) {
      saved = tools;
      return Promise.resolve();
    },
  } as unknown as Gateway["admin"];
  const form = new URLSearchParams([
    ...shown.map((name) => ["shown", name]),
    ...chosen.map((name) => ["tool", name]),
  ]);
  await saveServerTools({ admin }, "s", form);
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
