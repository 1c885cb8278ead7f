import assert from "node:assert/strict";
import { readToolsetForm, saveToolset, toolsetForm } from "./toolset_form.ts";
import { toolsetsGateway } from "./testing/toolsets_gateway.ts";

Deno.test("readToolsetForm() takes ticked and written tools, each once", () => {
  const form = new URLSearchParams([
    ["name", " dev "],
    ["tool", "git.status"],
    ["more", "git.status\r\n\n git.log "],
  ]);
  assert.deepEqual(readToolsetForm(form), {
    name: "dev",
    description: "",
    tools: ["git.status", "git.log"],
  });
});

Deno.test("toolsetForm() offers all tools, and marks what of a toolset cannot be called", async () => {
  await using open = await toolsetsGateway({ git: ["status", "log"] });
  const { gateway, toolsets } = open;
  const tools = [{ server: "git", tool: "status" }, { server: "git", tool: "old" }];
  const saved = await toolsets.save({ name: "dev", tools });
  const form = await toolsetForm(gateway, saved);
  assert.deepEqual(form.offered.map(({ namespacedName }) => namespacedName), [
    "git.log",
    "git.status",
  ]);
  assert.deepEqual(form.chosen.map(({ namespacedName, note }) => [namespacedName, note]), [
    ["git.status", undefined],
    ["git.old", "No longer there"],
  ]);
  assert.equal(form.editing, "dev");
});

Deno.test("saveToolset() keeps the place of tools that are not there, and refuses unknown ones", async () => {
  await using open = await toolsetsGateway({ git: ["status", "log"] });
  const { gateway, toolsets } = open;
  const gone = { server: "git", tool: "old", fingerprint: "then" };
  const before = await toolsets.save({ name: "dev", tools: [gone] });
  const words = { name: "dev", description: "Work", tools: ["git.old", "git.log"] };
  const saved = await saveToolset(gateway, words, before);
  assert.deepEqual(saved.tools.map(({ server, tool }) => `${server}.${tool}`), words.tools);
  assert.deepEqual(saved.tools[0], gone);
  const unknown = saveToolset(gateway, { ...words, tools: ["git.nope"] }, before);
  await assert.rejects(unknown, { code: "TOOL_NOT_FOUND" });
  await assert.rejects(saveToolset(gateway, words), { code: "TOOL_NOT_FOUND" });
  const taken = saveToolset(gateway, { ...words, tools: ["git.log"] });
  await assert.rejects(taken, { code: "CONFLICT" });
});

Deno.test("saveToolset() takes a tool that has changed as it is now", async () => {
  await using open = await toolsetsGateway({ git: ["status"] });
  const { gateway, toolsets } = open;
  const old = { server: "git", tool: "status", fingerprint: "then" };
  const before = await toolsets.save({ name: "dev", tools: [old] });
  const words = { name: "dev", description: "", tools: ["git.status"] };
  const saved = await saveToolset(gateway, words, before);
  assert.notEqual(saved.tools[0]?.fingerprint, "then");
});
