import assert from "node:assert/strict";
import { readToolsetForm, saveToolset } from "./save_toolset.ts";
import { toolsetsGateway } from "./testing/toolsets_gateway.ts";

Deno.test("readToolsetForm() keeps the order of the list, then what was added, each once", () => {
  const form = new URLSearchParams([
    ["name", " dev "],
    ["tools", '["git.first","a\\nb"]'],
    ["tool", "git.status"],
    ["tools", '["git.last"]'],
    ["add", "git.log"],
    ["more", "git.status\r\n\n git.* "],
    ["version", "0012"],
    ["from", "other"],
  ]);
  assert.deepEqual(readToolsetForm(form), {
    name: "dev",
    description: "",
    tools: ["git.first", "a\nb", "git.status", "git.last", "git.log", "git.*"],
    from: "other",
    version: "0012",
  });
  const broken = new URLSearchParams({ tools: "{" });
  assert.throws(() => readToolsetForm(broken), { code: "INVALID_ARGUMENTS" });
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

Deno.test("saveToolset() copies what is not there from the one it is a copy of", async () => {
  await using open = await toolsetsGateway({ git: ["status"] });
  const { gateway, toolsets } = open;
  const gone = { server: "git", tool: "old", fingerprint: "then" };
  await toolsets.save({ name: "dev", tools: [gone] });
  const words = { name: "two", description: "", tools: ["git.old", "git.status"], from: "dev" };
  const saved = await saveToolset(gateway, words);
  assert.deepEqual(saved.tools[0], gone);
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

Deno.test("saveToolset() takes all that a pattern or a category means, each once", async () => {
  await using open = await toolsetsGateway({ git: ["read_log", "commit"], files: ["read"] });
  const { gateway } = open;
  const { category } = gateway.guide.metadata(gateway.guide.table.find("files", "read")!);
  const names = async (name: string, ...tools: string[]) =>
    (await saveToolset(gateway, { name, description: "", tools }))
      .tools.map(({ server, tool }) => `${server}.${tool}`);
  assert.deepEqual(await names("a", "*read*"), ["files.read", "git.read_log"]);
  assert.deepEqual(await names("b", "git.read_log", "git.*"), ["git.read_log", "git.commit"]);
  assert.ok((await names("c", `category:${category}`)).includes("files.read"));
  await assert.rejects(names("d", "*nothing*"), { code: "TOOL_NOT_FOUND" });
});

Deno.test("saveToolset() does not overwrite what somebody else has saved meanwhile", async () => {
  await using open = await toolsetsGateway({ git: ["status"] });
  const { gateway, toolsets } = open;
  const before = await toolsets.save({ name: "dev", tools: [{ server: "git", tool: "status" }] });
  const words = { name: "dev", description: "", tools: ["git.status"] };
  const version = toolsets.versionOf("dev") ?? "";
  // In the same millisecond or with a clock that was set back, for all that times say.
  await toolsets.save({ name: "dev", description: "Theirs", tools: before.tools, replace: true });
  const stale = saveToolset(gateway, { ...words, version }, before);
  await assert.rejects(stale, { code: "CONFLICT", message: /Somebody else has saved dev/ });
  assert.equal(toolsets.find("dev")?.description, "Theirs");
  await saveToolset(gateway, { ...words, version: toolsets.versionOf("dev") ?? "" }, before);
});
