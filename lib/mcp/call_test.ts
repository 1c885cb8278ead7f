import assert from "node:assert/strict";
import { Catalog } from "../catalog/catalog.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { FakeServer, until } from "../servers/testing/fake_server.ts";
import { startManaged } from "../servers/testing/start_managed.ts";
import { NameTables } from "../catalog/name_table.ts";
import { Builtins } from "../catalog/resolve.ts";
import { type CallerRights, type CallPolicy, callTool } from "./call.ts";
import { CombinedView } from "./combined_view.ts";
import { ServerView } from "./server_view.ts";
import { textOf } from "./testing/text_of.ts";
import type { ViewSession } from "./view.ts";

const PUSH = { name: "push", description: "Pushes", inputSchema: { type: "object" } };

const CLIENT: Client = {
  profile: { protocolVersion: "2025-11-25", capabilities: {} },
  principal: "token:ada",
  push: () => {},
  ask: (text) => text,
};

/** A tool whose calls wait for a yes, at both kinds of views. */
async function openWaiting() {
  const fake = new FakeServer();
  fake.tools = [PUSH];
  const catalog = new Catalog();
  const server = await startManaged(fake);
  const state = { isAdmitted: true, mayCall: true, agree: () => {} };
  const rights: CallerRights = {
    admits: () => state.isAdmitted,
    admitsServer: () => true,
    admitsToolset: () => true,
    demand() {
      if (!state.mayCall) throw new GatewayError("ACCESS_DENIED");
    },
    grants: () => ({ isWhole: true, may: () => true }),
  };
  const policy: CallPolicy = {
    enter: () => new Promise<void>((resolve) => state.agree = resolve),
  };
  const names = new NameTables([], 60);
  const combined = new CombinedView({
    instructions: "",
    names,
    listed: [],
    builtins: new Builtins([]),
    servers: {
      catalog,
      findServer: () => server,
      servers: () => ["git"],
      tools: () => catalog.of("git").tools,
      admits: () => state.isAdmitted,
    },
    rights,
    policy,
  });
  const own = new ServerView({ server, catalog, names, naming: "namespaced", rights, policy });
  const sessions = { combined: combined.open(CLIENT), own: own.open(CLIENT) };
  return {
    catalog,
    state,
    sessions,
    called: () => fake.links.flatMap(({ heard }) => heard).filter((name) => name === "tools/call"),
    async [Symbol.asyncDispose]() {
      for (const session of Object.values(sessions)) await session[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function call(session: ViewSession): Promise<string> {
  const params = { name: "git.push", arguments: {} };
  const answer = await session.request({
    id: 1,
    method: "tools/call",
    params,
    text: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    signal: new AbortController().signal,
    send: () => {},
  });
  return textOf(answer);
}

Deno.test("checkUnchanged() lets a call that waited be made only of what was agreed to", async () => {
  await using setting = await openWaiting();
  const { catalog, state, sessions, called } = setting;
  const changes: [string, () => void][] = [
    ["CONFLICT", () => catalog.setListed("git", [text({ description: "Deletes" })])],
    ["TOOL_DISABLED", () => catalog.setEnabled("git", [])],
    ["TOOL_NOT_FOUND", () => catalog.setListed("git", [])],
    ["TOOL_NOT_FOUND", () => state.isAdmitted = false],
    ["ACCESS_DENIED", () => state.mayCall = false],
  ];
  for (const [view, session] of Object.entries(sessions)) {
    for (const [code, change] of changes) {
      catalog.setListed("git", [text()]);
      catalog.setEnabled("git", undefined);
      Object.assign(state, { isAdmitted: true, mayCall: true, agree: undefined });
      const answer = call(session);
      await until(() => state.agree !== undefined);
      change();
      state.agree();
      await assert.rejects(answer, { code }, `${code} at ${view}`);
    }
    assert.deepEqual(called(), [], view);
  }
});

Deno.test("checkUnchanged() does not stand in the way of what is as it was", async () => {
  await using setting = await openWaiting();
  const { catalog, state, sessions, called } = setting;
  for (const session of Object.values(sessions)) {
    catalog.setListed("git", [text()]);
    Object.assign(state, { agree: undefined });
    const answer = call(session);
    await until(() => state.agree !== undefined);
    // Listed anew, with the same definition.
    catalog.setListed("git", [text(), text({ name: "pull" })]);
    state.agree();
    await answer;
  }
  assert.equal(called().length, 2);
});

function text(more: Partial<typeof PUSH> = {}): string {
  return JSON.stringify({ ...PUSH, ...more });
}

function pending() {
  const catalog = new Catalog();
  catalog.setListed("git", [text()]);
  const tool = catalog.of("git").tools[0]!;
  const request: McpRequest = {
    id: 1,
    method: "tools/call",
    params: {},
    text: "{}",
    signal: new AbortController().signal,
    send: () => {},
  };
  return { tool, request, client: CLIENT };
}

Deno.test("callTool() returns the record of a call, and its limits end, whether it fails or not", async () => {
  const failure = new GatewayError("TIMEOUT");
  for (const relay of [() => Promise.resolve("text"), () => Promise.reject(failure)]) {
    const call = pending();
    const steps: string[] = [];
    const policy: CallPolicy = {
      enter: () => void steps.push("enter"),
      leave: (_, response) => (steps.push("leave"), `${response}, cut`),
      ended: (request) => void steps.push(request === call.request ? "ended" : "?"),
    };
    const answer = await callTool({ policy }, call, {
      params: () => "{}",
      checkUnchanged: assert.fail,
      relay,
    });
    const { server, tool, sentAt, serverMs } = answer.call ?? {};
    assert.deepEqual([server, tool, typeof sentAt, typeof serverMs], [
      "git",
      "push",
      "number",
      "number",
    ]);
    if ("error" in answer) assert.equal(answer.error, failure);
    else assert.equal(answer.text, "text, cut");
    const isSent = !("error" in answer);
    assert.deepEqual(steps, ["enter", ...(isSent ? ["leave"] : []), "ended"]);
  }
});

Deno.test("callTool() records a call that a limit refused as not sent, and rejects without the right to call", async () => {
  const steps = { params: () => "{}", checkUnchanged: assert.fail, relay: assert.fail };
  const enter = () => {
    throw new GatewayError("LIMIT_EXCEEDED");
  };
  const refused = await callTool({ policy: { enter } }, pending(), steps);
  assert.ok("error" in refused);
  assert.deepEqual(refused.call, { server: "git", tool: "push" });
  const noted: string[] = [];
  const rights = {
    demand() {
      throw new GatewayError("ACCESS_DENIED");
    },
  };
  const policy: CallPolicy = {
    enter: () => assert.fail(),
    refused: ({ subject }) => void noted.push(subject),
  };
  await assert.rejects(callTool({ rights, policy }, pending(), steps), { code: "ACCESS_DENIED" });
  assert.deepEqual(noted, ["git.push"]);
});
