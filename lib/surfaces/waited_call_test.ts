import assert from "node:assert/strict";
import { Catalog } from "../catalog/catalog.ts";
import { GatewayError } from "../core/errors.ts";
import { FakeServer, until } from "../downstream/testing/fake_server.ts";
import { startManaged } from "../downstream/testing/start_managed.ts";
import { NameTables } from "../routing/name_table.ts";
import { Builtins } from "../routing/resolve.ts";
import type { CallerRights, CallGate } from "./call_gate.ts";
import { CombinedSurface } from "./combined_surface.ts";
import { ServerSurface } from "./server_surface.ts";
import type { ClientPort, SurfaceSession } from "./surface.ts";

const PUSH = { name: "push", description: "Pushes", inputSchema: { type: "object" } };

const PORT: ClientPort = {
  client: { protocolVersion: "2025-11-25", capabilities: {} },
  principal: "token:ada",
  push: () => {},
  ask: (text) => text,
};

/** A tool whose calls wait for a yes, at both kinds of doors. */
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
  const gate: CallGate = {
    enter: () => new Promise<void>((resolve) => state.agree = resolve),
  };
  const names = new NameTables([], 60);
  const combined = new CombinedSurface({
    instructions: "",
    names,
    listed: [],
    builtins: new Builtins([]),
    shown: {
      catalog,
      findServer: () => server,
      servers: () => ["git"],
      tools: () => catalog.of("git").tools,
      admits: () => state.isAdmitted,
    },
    rights,
    gate,
  });
  const own = new ServerSurface({ server, catalog, names, naming: "namespaced", rights, gate });
  const sessions = { combined: combined.open(PORT), own: own.open(PORT) };
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

function call(session: SurfaceSession): Promise<string> {
  const params = { name: "git.push", arguments: {} };
  return session.request({
    id: 1,
    method: "tools/call",
    params,
    text: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    signal: new AbortController().signal,
    send: () => {},
  });
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
  for (const [door, session] of Object.entries(sessions)) {
    for (const [code, change] of changes) {
      catalog.setListed("git", [text()]);
      catalog.setEnabled("git", undefined);
      Object.assign(state, { isAdmitted: true, mayCall: true, agree: undefined });
      const answer = call(session);
      await until(() => state.agree !== undefined);
      change();
      state.agree();
      await assert.rejects(answer, { code }, `${code} at ${door}`);
    }
    assert.deepEqual(called(), [], door);
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
