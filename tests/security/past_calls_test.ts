import assert from "node:assert/strict";
import { join } from "@std/path";
import { ActivityRepository } from "../../lib/storage/activity_repository.ts";
import { Store } from "../../lib/storage/store.ts";
import * as z from "zod";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { until } from "../gateway.ts";
import { Guarded, Visitor } from "./guarded.ts";

const CREATE = tool("create_issue", {
  description: "Create an issue",
  inputSchema: {
    type: "object",
    properties: { title: { type: "string" }, password: { type: "string" } },
    required: ["title"],
  },
});
const Found = z.looseObject({
  tools: z.array(z.looseObject({
    toolKey: z.string(),
    serverName: z.string(),
    explanation: z.string().optional(),
  })),
});

async function answerOf(visitor: Visitor, name: string, args: object): Promise<unknown> {
  const { result } = await visitor.request("tools/call", { name, arguments: args });
  return result?.structuredContent;
}

async function find(visitor: Visitor) {
  const args = { query: "make a new issue", detailLevel: "full" };
  return Found.parse(await answerOf(visitor, "tool_discovery", args)).tools;
}

Deno.test("what a caller has called helps its own searches and examples, and nobody else's", async (t) => {
  await using alpha = new ScriptedServer([CREATE]);
  await using beta = new ScriptedServer([CREATE]);
  await using guarded = await Guarded.open(
    { alpha: at(alpha), beta: at(beta) },
    ["--require-token", "--call-examples", "--embeddings", "local"],
  );
  const { text: token } = await guarded.token();
  const ann = await Visitor.open(guarded.url, "/mcp", token);
  const bob = await Visitor.open(guarded.url, "/mcp", (await guarded.token()).text);
  const firstOf = async (visitor: Visitor) => (await find(visitor))[0]!;

  assert.equal((await firstOf(bob)).serverName, "alpha");
  const { toolKey } = (await find(ann)).find(({ serverName }) => serverName === "beta")!;
  await ann.call("tool_execute", { toolKey, arguments: { title: "Printer on fire" } });
  await ann.call("tool_execute", { toolKey, arguments: { title: "Door", password: "hunter2!" } });

  await t.step("a similar search finds it first, and says why", async () => {
    const found = await until(async () => {
      const first = await firstOf(ann);
      return first.serverName === "beta" ? first : undefined;
    });
    assert.match(found.explanation!, /called after a similar search/);
    const others = await firstOf(bob);
    assert.equal(others.serverName, "alpha");
    assert.doesNotMatch(others.explanation!, /called after/);
  });

  await t.step("its arguments are examples, without those that hold a secret", async () => {
    const describe = (visitor: Visitor) =>
      visitor.call("get_tool_description", { tool_name: "beta_create_issue" });
    assert.match(await describe(ann), /Printer on fire/);
    assert.doesNotMatch(await describe(ann), /hunter2|Door/);
    assert.doesNotMatch(await describe(bob), /Printer on fire|hunter2|Door/);
    const { status } = await guarded.api("POST", "/api/settings.set", {
      option: "callExamples",
      value: "false",
    });
    assert.equal(status, 200);
    await until(async () => /Printer on fire/.test(await describe(ann)) ? undefined : true);
  });

  await t.step("another gateway on the same data knows it too", async () => {
    // Calls are written some seconds after they were made, and read with the first search.
    await using store = await Store.open({ location: join(guarded.folder, "quartermaster.kv") });
    const records = new ActivityRepository(store);
    await until(async () => {
      const calls = await Array.fromAsync(records.recent(100));
      return calls.filter(({ tool }) => tool === "create_issue").length === 2 || undefined;
    });
    const there = await Visitor.open(await guarded.start(), "/mcp", token);
    await until(async () => (await firstOf(there)).serverName === "beta" || undefined);
  });
});
