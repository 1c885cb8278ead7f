import assert from "node:assert/strict";
import { newToolsetForm, toolsetForm } from "./toolset_form.ts";
import { toolsetsGateway } from "./testing/toolsets_gateway.ts";
import { picked } from "./ui/tool_picks.ts";

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
