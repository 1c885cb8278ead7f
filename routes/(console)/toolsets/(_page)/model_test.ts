import assert from "node:assert/strict";
import { EVERYONE } from "../../../../lib/core/access.ts";
import { endpointAudience, equippedAudience, toolsetPage, toolsetsPage } from "./model.ts";
import { toolsetsGateway } from "../../../../lib/console/testing/toolsets_gateway.ts";
import type { Gateway } from "../../../../lib/gateway.ts";

const NO_QUERY = new URLSearchParams();

Deno.test("toolsetsPage() lists by name, with what is equipped", async () => {
  await using open = await toolsetsGateway({ git: ["status", "log"] });
  const { gateway, toolsets } = open;
  await gateway.toolsets.build({ name: "review", tools: ["git.status", "git.log"] });
  await gateway.toolsets.build({ name: "dev", tools: ["git.status"] });
  await toolsets.equip(EVERYONE, "review");
  const page = await toolsetsPage(gateway, NO_QUERY);
  assert.deepEqual(page.list.rows.map(({ name }) => name), ["dev", "review"]);
  assert.deepEqual(page.equipped, { name: "review", registered: 2 });
  assert.equal(page.available, 2);
  assert.deepEqual(page.list.rows.map(({ registered, toolCount }) => [registered, toolCount]), [
    [1, 1],
    [2, 2],
  ]);
});

Deno.test("toolsetsPage() says of a cost that it is not known rather than wait for it", async () => {
  await using open = await toolsetsGateway({ git: ["status"] }, { isCounting: true });
  const { gateway } = open;
  await gateway.toolsets.build({ name: "dev", tools: ["git.status"] });
  assert.equal((await toolsetsPage(gateway, NO_QUERY)).list.rows[0]?.tokens, undefined);
});

Deno.test("toolsetPage() has its endpoint, what is equipped instead, and how each tool stands", async () => {
  await using open = await toolsetsGateway({ git: ["status"], files: ["read"] });
  const { gateway, toolsets, away } = open;
  await gateway.toolsets.build({ name: "dev", tools: ["git.status", "files.read"] });
  await gateway.toolsets.build({ name: "other", tools: ["git.status"] });
  await toolsets.equip(EVERYONE, "other");
  away.add("files");
  const page = await toolsetPage(gateway, "dev", NO_QUERY);
  assert.ok("tools" in page);
  assert.deepEqual(page.tools.rows.map(({ server, tool, state }) => [server, tool, state]), [
    ["git", "status", "registered"],
    ["files", "read", "waiting"],
  ]);
  assert.equal(page.endpoint, "http://127.0.0.1:3333/toolsets/dev/mcp");
  assert.ok(page.snippets.some(({ code }) => code.includes("/toolsets/dev/mcp")));
  assert.deepEqual(page.equipped, { name: "other", registered: 1 });
  assert.deepEqual(page.toolset.notes, ["1 tool is waiting for a disconnected server"]);
  const missing = await toolsetPage(gateway, "de", NO_QUERY);
  assert.deepEqual(missing, { missing: "de", nearest: ["dev"] });
});

Deno.test("toolsetPage() shows one page of a large toolset", async () => {
  const names = Array.from({ length: 250 }, (_, index) => `tool_${index}`);
  await using open = await toolsetsGateway({ git: names });
  const { gateway } = open;
  await gateway.toolsets.build({ name: "all", tools: ["git.*"] });
  const page = await toolsetPage(gateway, "all", new URLSearchParams("page=3"));
  assert.ok("tools" in page);
  assert.deepEqual([page.tools.rows.length, page.tools.total, page.names.length], [50, 250, 250]);
});

Deno.test("toolsetPage() says of each tool whether it waits for a decision", async () => {
  const waiting = [{ server: "git", tool: "log", state: "quarantined" as const }];
  await using open = await toolsetsGateway({ git: ["status", "log"] }, { waiting });
  const { gateway } = open;
  await gateway.toolsets.build({ name: "dev", tools: ["git.status", "git.log"] });
  const page = await toolsetPage(gateway, "dev", NO_QUERY);
  assert.ok("tools" in page);
  assert.deepEqual(page.tools.rows.map(({ wait }) => wait), [undefined, "quarantined"]);
});

interface Client {
  endpoint: string;
  info?: unknown;
  idleMs?: number;
  principal?: string;
}

function gatewayWith(...clients: Client[]): Pick<Gateway, "endpoints"> {
  const list = () =>
    clients.map(({ endpoint, info, idleMs = 0, principal = EVERYONE }) => ({
      endpoint,
      principal,
      profile: { clientInfo: info },
      idleMs: () => idleMs,
    }));
  return { endpoints: { host: { sessions: { list } } } as unknown as Gateway["endpoints"] };
}

Deno.test("equippedAudience() has those whose list is what is equipped, by name", () => {
  const gateway = gatewayWith(
    { endpoint: "mcp?default", info: { name: "cursor" } },
    { endpoint: "mcp?toolset&flat", info: { name: "claude-code", title: "Claude Code" } },
    { endpoint: "mcp?default", info: { title: "Claude Code" } },
    { endpoint: "mcp?default", info: "nonsense" },
    { endpoint: "mcp?all", info: { name: "sees everything" } },
    { endpoint: "servers/git?flat", info: { name: "elsewhere" } },
  );
  assert.deepEqual(equippedAudience(gateway), {
    count: 4,
    names: ["Claude Code (2)", "a client without a name", "cursor"],
    more: 0,
  });
});

Deno.test("equippedAudience() leaves out who has long been silent, and other people's clients", () => {
  const gateway = gatewayWith(
    { endpoint: "mcp?default", info: { name: "left" }, idleMs: 10 * 60_000 },
    { endpoint: "mcp?default", info: { name: "theirs" }, principal: "somebody" },
  );
  assert.equal(equippedAudience(gateway).count, 0);
});

Deno.test("equippedAudience() has a person's clients, whichever tokens they and the person came with", () => {
  const gateway = gatewayWith(
    { endpoint: "mcp?default", info: { name: "same" }, principal: "oauth:ann#1" },
    { endpoint: "mcp?default", info: { name: "other" }, principal: "oauth:ann#2@web" },
    { endpoint: "mcp?default", info: { name: "theirs" }, principal: "oauth:bob#1" },
  );
  assert.deepEqual(equippedAudience(gateway, "oauth:ann#1").names, ["other", "same"]);
});

Deno.test("equippedAudience() names a few of many", () => {
  const clients = Array.from({ length: 8 }, (_, index) => ({
    endpoint: "mcp?default",
    info: { name: `client ${index}` },
  }));
  const { count, names, more } = equippedAudience(gatewayWith(...clients));
  assert.deepEqual([count, names.length, more], [8, 5, 3]);
});

Deno.test("endpointAudience() has the clients at that toolset's endpoint alone", () => {
  const gateway = gatewayWith(
    { endpoint: "toolsets/dev?", info: { name: "a" } },
    { endpoint: "toolsets/develop?", info: { name: "b" } },
  );
  assert.deepEqual(endpointAudience(gateway, "dev").names, ["a"]);
});
