import assert from "node:assert/strict";
import pino from "pino";
import { TimeoutQueue } from "../core/timeout_queue.ts";
import { SessionManager } from "../sessions/session_manager.ts";
import type { RequestScope, Surface } from "../surfaces/surface.ts";
import { type DoorHost, handleMcp } from "./mcp_door.ts";

const [ANN, NARROW] = ["oauth:ann#1", "oauth:ann#2"];

/** A door whose tool says something before it answers, once it may. */
function openDoor() {
  const calls: RequestScope[] = [];
  const gate = Promise.withResolvers<void>();
  const surface: Surface = {
    introduce: () => Promise.resolve({ capabilities: {} }),
    open: () => ({
      async request(scope) {
        if (scope.params.name === "slow") {
          scope.send('{"jsonrpc":"2.0","method":"notifications/message","params":{}}');
          await gate.promise;
        }
        return `{"jsonrpc":"2.0","id":${JSON.stringify(scope.id)},"result":{"said":"answer"}}`;
      },
      notify: () => {},
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  };
  const sessions = new SessionManager({
    records: {
      save: () => Promise.resolve(),
      find: () => Promise.resolve(undefined),
      delete: () => Promise.resolve(),
    },
    onWarning: assert.fail,
  });
  const patience = new TimeoutQueue(50);
  const host: DoorHost = {
    sessions,
    maxBody: 1_000,
    log: pino({ enabled: false }),
    patience,
    onCall: (scope) => calls.push(scope),
    switchProject: (principal, project) => `${principal}@${project}`,
  };
  const client = { protocolVersion: "2025-11-25", capabilities: {} };
  const session = sessions.create({ door: "mcp?", principal: ANN, client }, surface);
  const visit = (principal: string, init: RequestInit) => {
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-session-id": session.id,
      ...init.headers,
    };
    const request = new Request("http://localhost/mcp", { ...init, headers });
    return handleMcp(host, { door: { key: "mcp?", surface }, request, principal });
  };
  return {
    calls,
    answerNow: () => gate.resolve(),
    call(principal: string, params: object): Promise<Response> {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
      return visit(principal, { method: "POST", body });
    },
    listen: (principal: string, lastEventId?: string) =>
      visit(principal, lastEventId ? { headers: { "last-event-id": lastEventId } } : {}),
    async [Symbol.asyncDispose]() {
      await sessions[Symbol.asyncDispose]();
      patience[Symbol.dispose]();
    },
  };
}

Deno.test("handleMcp() lets a lost stream be taken up with the token that its call was made with alone", async () => {
  await using door = openDoor();
  const answer = await door.call(NARROW, { name: "slow" });
  const reader = answer.body!.getReader();
  const first = new TextDecoder().decode((await reader.read()).value);
  const id = /^id: (.*)$/m.exec(first)?.[1];
  await reader.cancel();
  const refused = await door.listen(ANN, id);
  assert.equal(refused.status, 400);
  await refused.body?.cancel();
  const resumed = await door.listen(NARROW, id);
  assert.equal(resumed.status, 200);
  door.answerNow();
  assert.match(await resumed.text(), /"said":"answer"/);
});

Deno.test("handleMcp() lets nobody listen to a session but with the token that it was made with", async () => {
  await using door = openDoor();
  const refused = await door.listen(NARROW);
  assert.equal(refused.status, 403);
  await refused.body?.cancel();
  const admitted = await door.listen(ANN);
  assert.equal(admitted.status, 200);
  await admitted.body?.cancel();
});

Deno.test("handleMcp() notes who called, where that is not who the session was made for", async () => {
  await using door = openDoor();
  const inProject = { name: "quick", _meta: { projectId: "web" } };
  for (
    const [principal, params] of [[ANN, { name: "quick" }], [NARROW, { name: "quick" }], [
      ANN,
      inProject,
    ]] as const
  ) {
    await (await door.call(principal, params)).text();
  }
  assert.deepEqual(door.calls.map(({ principal }) => principal), [
    undefined,
    NARROW,
    `${ANN}@web`,
  ]);
});
