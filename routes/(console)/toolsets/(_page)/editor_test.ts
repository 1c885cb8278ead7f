import { EVERYONE } from "../../../../lib/core/access.ts";
import { callBy } from "../../../../lib/operations/testing/services.ts";
import assert from "node:assert/strict";
import { newToolsetForm, readToolsetForm, saveToolset, toolsetForm } from "./editor.ts";
import { toolsetsGateway } from "../../../../lib/console/testing/toolsets_gateway.ts";
import { picked } from "./browser.ts";

const CALL = callBy(EVERYONE);

Deno.test("toolsetForm() offers all tools, and marks what of a toolset cannot be called", async () => {
  await using open = await toolsetsGateway({ git: ["status", "log"] });
  const { gateway, toolsets } = open;
  const tools = [{ server: "git", tool: "status" }, { server: "git", tool: "old" }];
  const saved = await toolsets.save({ name: "dev", tools });
  const form = await toolsetForm(gateway, saved);
  assert.deepEqual(picked(form.picks).map(({ namespacedName }) => namespacedName), [
    "git.log",
    "git.status",
  ]);
  assert.deepEqual(form.chosen.map(({ namespacedName, note }) => [namespacedName, note]), [
    ["git.status", undefined],
    ["git.old", "No longer there"],
  ]);
  assert.equal(form.editing, "dev");
  assert.equal(form.version, toolsets.versionOf("dev"));
});

Deno.test("newToolsetForm() copies a toolset under a name that is free, in its order", async () => {
  await using open = await toolsetsGateway({ git: ["status", "log"] });
  const { gateway, toolsets } = open;
  const tools = [{ server: "git", tool: "status" }, { server: "git", tool: "old" }];
  await toolsets.save({ name: "dev", description: "Work", tools });
  await toolsets.save({ name: "dev-copy", tools });
  const form = await newToolsetForm(gateway, new URLSearchParams("from=dev"));
  assert.deepEqual(
    [form.editing, form.from, form.name, form.description],
    [undefined, "dev", "dev-copy-2", "Work"],
  );
  assert.deepEqual(form.chosen.map(({ namespacedName }) => namespacedName), [
    "git.status",
    "git.old",
  ]);
  const missing = newToolsetForm(gateway, new URLSearchParams("from=nope"));
  await assert.rejects(missing, { code: "NOT_FOUND" });
});

Deno.test("newToolsetForm() begins with all that the address asks for", async () => {
  await using open = await toolsetsGateway({ git: ["status", "log"], files: ["read"] });
  const { gateway } = open;
  const form = await newToolsetForm(gateway, new URLSearchParams("server=git"));
  assert.equal(form.name, "git");
  assert.deepEqual(form.chosen.map(({ namespacedName }) => namespacedName), [
    "git.log",
    "git.status",
  ]);
  assert.deepEqual((await newToolsetForm(gateway, new URLSearchParams())).chosen, []);
});

Deno.test("toolsetForm() says of a chosen tool that it waits for a decision", async () => {
  const waiting = [{ server: "git", tool: "old", state: "quarantined" as const }];
  await using open = await toolsetsGateway({ git: ["status"] }, { waiting });
  const tools = [{ server: "git", tool: "status" }, { server: "git", tool: "old" }];
  const saved = await open.toolsets.save({ name: "dev", tools });
  const { chosen } = await toolsetForm(open.gateway, saved);
  assert.deepEqual(chosen.map(({ note }) => note), [undefined, "Quarantined"]);
});

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
  const saved = toolsets.resolve(await saveToolset(gateway, words, CALL, before));
  assert.deepEqual(saved.tools.map(({ server, tool }) => `${server}.${tool}`), words.tools);
  assert.deepEqual(saved.tools[0], gone);
  const unknown = saveToolset(gateway, { ...words, tools: ["git.nope"] }, CALL, before);
  await assert.rejects(unknown, { code: "TOOL_NOT_FOUND" });
  const elsewhere = saveToolset(gateway, { ...words, name: "two" }, CALL);
  await assert.rejects(elsewhere, { code: "TOOL_NOT_FOUND" });
  const taken = saveToolset(gateway, { ...words, tools: ["git.log"] }, CALL);
  await assert.rejects(taken, { code: "CONFLICT" });
});

Deno.test("saveToolset() copies what is not there from the one it is a copy of", async () => {
  await using open = await toolsetsGateway({ git: ["status"] });
  const { gateway, toolsets } = open;
  const gone = { server: "git", tool: "old", fingerprint: "then" };
  await toolsets.save({ name: "dev", tools: [gone] });
  const words = { name: "two", description: "", tools: ["git.old", "git.status"], from: "dev" };
  const saved = toolsets.resolve(await saveToolset(gateway, words, CALL));
  assert.deepEqual(saved.tools[0], gone);
});

Deno.test("saveToolset() takes a tool that has changed as it is now", async () => {
  await using open = await toolsetsGateway({ git: ["status"] });
  const { gateway, toolsets } = open;
  const old = { server: "git", tool: "status", fingerprint: "then" };
  const before = await toolsets.save({ name: "dev", tools: [old] });
  const words = { name: "dev", description: "", tools: ["git.status"] };
  const saved = toolsets.resolve(await saveToolset(gateway, words, CALL, before));
  assert.notEqual(saved.tools[0]?.fingerprint, "then");
});

Deno.test("saveToolset() takes all that a pattern or a category means, each once", async () => {
  await using open = await toolsetsGateway({ git: ["read_log", "commit"], files: ["read"] });
  const { gateway, toolsets } = open;
  const { category } = gateway.toolDirectory.metadata(
    gateway.toolDirectory.table.find("files", "read")!,
  );
  const names = async (name: string, ...tools: string[]) =>
    toolsets.resolve(await saveToolset(gateway, { name, description: "", tools }, CALL))
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
  const stale = saveToolset(gateway, { ...words, version }, CALL, before);
  await assert.rejects(stale, { code: "CONFLICT", message: /Someone else saved dev/ });
  assert.equal(toolsets.find("dev")?.description, "Theirs");
  await saveToolset(gateway, { ...words, version: toolsets.versionOf("dev") ?? "" }, CALL, before);
});
