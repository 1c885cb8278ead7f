import assert from "node:assert/strict";
import { isStricter, natureOf, rulesOf, ToolsetModes } from "./modes.ts";
import type { Toolset } from "../../core/tool.ts";
import { type Setting, SettingsRepository } from "../../storage/settings_repository.ts";
import { Store } from "../../storage/store.ts";
import { pendingCall, testClient } from "./testing/pending_call.ts";

const demo = { type: "demo" } as const;

function tool(name: string, annotations?: Record<string, unknown>) {
  const inputSchema = { type: "object" as const };
  return { name, definition: { name, inputSchema, ...(annotations ? { annotations } : {}) } };
}

Deno.test("rulesOf() is undefined for an entry that says nothing of calls", () => {
  assert.equal(rulesOf({ ...demo, timeoutMs: 1_000, trust: "untrusted" }), undefined);
  assert.equal(rulesOf({ ...demo, mode: "read-only" })?.mode, "read-only");
  assert.equal(rulesOf({ ...demo, maxConcurrent: 2 })?.maxConcurrent, 2);
});

Deno.test("natureOf() takes silence for destructive, as the protocol does", () => {
  assert.equal(natureOf(tool("a"), undefined), "destroys");
  assert.equal(natureOf(tool("a", { readOnlyHint: true }), undefined), "reads");
  assert.equal(natureOf(tool("a", { readOnlyHint: false }), undefined), "destroys");
  assert.equal(natureOf(tool("a", { readOnlyHint: "true" }), undefined), "destroys");
  assert.equal(natureOf(tool("a", { destructiveHint: false }), undefined), "adds");
  assert.equal(natureOf(tool("a", { destructiveHint: true }), undefined), "destroys");
});

Deno.test("natureOf() takes the owner's word over the server's claim, the stricter of two", () => {
  const rules = rulesOf({
    ...demo,
    readOnlyTools: ["list_*", "both"],
    writingTools: ["run", "both", "purge_*", "!purge_nothing"],
  });
  const claims = { readOnlyHint: true };
  assert.equal(natureOf(tool("list_all"), rules), "reads");
  assert.equal(natureOf(tool("run", claims), rules), "destroys");
  assert.equal(natureOf(tool("run", { destructiveHint: false }), rules), "destroys");
  assert.equal(natureOf(tool("both", claims), rules), "destroys");
  assert.equal(natureOf(tool("purge_all", claims), rules), "destroys");
  assert.equal(natureOf(tool("purge_nothing", claims), rules), "reads");
  assert.equal(natureOf(tool("other", claims), rules), "reads");
});

Deno.test("isStricter() puts read-only over confirm over all", () => {
  assert.ok(isStricter("read-only", "confirm"));
  assert.ok(isStricter("confirm", "all"));
  assert.ok(!isStricter("all", "all"));
  assert.ok(!isStricter("confirm", "read-only"));
});

const toolset = (name: string, ...tools: string[]): Toolset => ({
  id: name,
  name,
  tools: tools.map((tool) => ({ server: "git", tool })),
  createdAt: 0,
  updatedAt: 0,
});

async function open(store: Store, equipped?: Toolset): Promise<ToolsetModes> {
  const saved = [toolset("dev", "commit", "push"), toolset("ops", "push")];
  const modes = new ToolsetModes({
    settings: new SettingsRepository(store),
    find: (name) => saved.find((one) => one.name === name),
    equippedBy: (principal) => principal === "token:a" ? equipped : undefined,
  });
  await modes.load();
  return modes;
}

const at = (endpoint: string | undefined, name = "commit", principal = "token:a") =>
  pendingCall({
    name,
    client: testClient({ principal, ...(endpoint === undefined ? {} : { endpoint }) }),
  });

Deno.test("ToolsetModes.set() is kept, for every gateway on the store, until it is all again", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const [one, two] = [await open(store), await open(store)];
  await Promise.all([one.set("dev", "read-only"), two.set("ops", "confirm")]);
  await one.load();
  assert.deepEqual([one.of("dev"), one.of("ops"), one.of("other")], [
    "read-only",
    "confirm",
    "all",
  ]);
  await two.set("dev", "all");
  await one.load();
  assert.equal(one.of("dev"), "all");
});

Deno.test("ToolsetModes.modeFor() counts at the toolset's own endpoint, for every call there", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const modes = await open(store);
  assert.equal(modes.modeFor(at("toolsets/dev?")), undefined);
  await modes.set("dev", "read-only");
  assert.equal(modes.modeFor(at("toolsets/dev?")), "read-only");
  assert.equal(modes.modeFor(at("toolsets/ops?")), undefined);
  assert.equal(modes.modeFor(at("servers/git?namespaced")), undefined);
});

Deno.test("ToolsetModes.modeFor() counts at the default endpoint for who has it equipped, for its tools", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const modes = await open(store, toolset("dev", "commit"));
  await modes.set("dev", "confirm");
  assert.equal(modes.modeFor(at("mcp?default")), "confirm");
  assert.equal(modes.modeFor(at("mcp?discovery", "other")), undefined);
  assert.equal(modes.modeFor(at("mcp?default", "commit", "token:b")), undefined);
});

Deno.test("ToolsetModes.modeFor() takes the strictest of all that have the tool where no endpoint is known", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const modes = await open(store);
  await modes.set("dev", "confirm");
  await modes.set("ops", "read-only");
  assert.equal(modes.modeFor(at(undefined, "push")), "read-only");
  assert.equal(modes.modeFor(at(undefined, "commit")), "confirm");
  assert.equal(modes.modeFor(at(undefined, "status")), undefined);
});

Deno.test("ToolsetModes.load() does not go back to what it read before something was set", async () => {
  await using store = await Store.open({ location: ":memory:" });
  let onRead: (() => Promise<void>) | undefined;
  class SlowSettings extends SettingsRepository {
    override async find<T>(setting: Setting<T>) {
      const found = await super.find(setting);
      const wait = onRead;
      onRead = undefined;
      await wait?.();
      return found;
    }
  }
  const modes = new ToolsetModes({
    settings: new SlowSettings(store),
    find: () => undefined,
    equippedBy: () => undefined,
  });
  onRead = () => modes.set("dev", "read-only");
  await modes.load();
  assert.equal(modes.of("dev"), "read-only");
});
