import assert from "node:assert/strict";
import pino from "pino";
import { GatewayError } from "../core/errors.ts";
import { TimeoutQueue } from "../core/async.ts";
import { Sessions } from "./session.ts";
import { handleMcp } from "./endpoint.ts";
import type { AnsweredRequest, EndpointHost } from "./endpoint_host.ts";
import { EnvelopeReader } from "./envelope.ts";
import { HeldCalls } from "./held_calls.ts";
import type { View } from "./view.ts";

const [ANN, NARROW] = ["oauth:ann#1", "oauth:ann#2"];

const MESSAGE = '{"jsonrpc":"2.0","method":"notifications/message","params":{}}';
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"said":"answer"}}';

/** An endpoint where `quick` answers at once, `late` once it may, and `slow` says something before that. */
function openEndpoint() {
  const calls: AnsweredRequest[] = [];
  const gate = Promise.withResolvers<void>();
  const view: View = {
    introduce: () => Promise.resolve({ capabilities: {} }),
    open: () => ({
      async request(request) {
        const { name } = request.params;
        if (name === "slow") request.send(MESSAGE);
        if (name !== "quick" && name !== "denied") await gate.promise;
        if (String(name).endsWith("denied")) throw new GatewayError("ACCESS_DENIED");
        const id = JSON.stringify(request.id);
        return { text: `{"jsonrpc":"2.0","id":${id},"result":{"said":"answer"}}` };
      },
      notify: () => {},
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  };
  const sessions = new Sessions({
    records: {
      save: () => Promise.resolve(),
      find: () => Promise.resolve(undefined),
      delete: () => Promise.resolve(),
    },
    onWarning: assert.fail,
  });
  const patience = new TimeoutQueue(50);
  const host: EndpointHost = {
    sessions,
    held: new HeldCalls(),
    envelopes: new EnvelopeReader(),
    maxBody: 1_000,
    log: pino({ enabled: false }),
    patience,
    onAnswered: (answered) => calls.push(answered),
    switchProject: (principal, project) => `${principal}@${project}`,
    stepUp: (principal, error) =>
      principal.startsWith(NARROW) && GatewayError.from(error).code === "ACCESS_DENIED"
        ? new GatewayError("INSUFFICIENT_SCOPE", { message: principal })
        : undefined,
  };
  const profile = { protocolVersion: "2025-11-25", capabilities: {} };
  const session = sessions.create({ endpoint: "mcp?", principal: ANN, profile }, view);
  const visit = (principal: string, init: RequestInit, info?: Deno.ServeHandlerInfo) => {
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-session-id": session.id,
      ...init.headers,
    };
    const request = new Request("http://localhost/mcp", { ...init, headers });
    return handleMcp(host, { endpoint: { key: "mcp?", view }, request, principal, info });
  };
  return {
    calls,
    sessions,
    visit,
    answerNow: () => gate.resolve(),
    call(principal: string, params: object, id = 1): Promise<Response> {
      const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
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

Deno.test("handleMcp() refuses an answer that nobody is waiting for, and takes no answer twice", async () => {
  await using endpoint = openEndpoint();
  const [session] = endpoint.sessions.list();
  const heard: string[] = [];
  const question = '{"jsonrpc":"2.0","id":1,"method":"roots/list"}';
  const { id } = JSON.parse(session!.ask(question, 1, (text) => heard.push(text)));
  const statusOf = async (answered: unknown) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: answered, result: { roots: [] } });
    const response = await endpoint.visit(ANN, { method: "POST", body });
    await response.body?.cancel();
    return response.status;
  };
  assert.equal(await statusOf(1), 400);
  assert.deepEqual(heard, []);
  assert.equal(await statusOf(id), 202);
  assert.deepEqual(heard, ['{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}']);
  assert.equal(await statusOf(id), 400);
  assert.equal(heard.length, 1);
});

Deno.test("handleMcp() lets a lost stream be taken up with the token that its call was made with alone", async () => {
  await using endpoint = openEndpoint();
  const answer = await endpoint.call(NARROW, { name: "slow" });
  const reader = answer.body!.getReader();
  const first = new TextDecoder().decode((await reader.read()).value);
  const id = /^id: (.*)$/m.exec(first)?.[1];
  await reader.cancel();
  const refused = await endpoint.listen(ANN, id);
  assert.equal(refused.status, 400);
  await refused.body?.cancel();
  const resumed = await endpoint.listen(NARROW, id);
  assert.equal(resumed.status, 200);
  endpoint.answerNow();
  assert.match(await resumed.text(), /"said":"answer"/);
});

Deno.test("handleMcp() answers in JSON where nothing streams, else on a stream that ends with the answer", async () => {
  await using endpoint = openEndpoint();
  const typeOf = ({ headers }: Response) => headers.get("content-type");
  const dataOf = async (response: Response) => (await response.text()).match(/(?<=^data: )\{.*$/gm);
  const plain = await endpoint.call(ANN, { name: "quick" });
  assert.equal(typeOf(plain), "application/json");
  assert.equal(await plain.text(), ANSWER);

  const late = await endpoint.call(ANN, { name: "late" });
  assert.equal(typeOf(late), "text/event-stream", "not to keep a client waiting without a word");
  const speaking = await endpoint.call(ANN, { name: "slow" }, 2);
  assert.equal(typeOf(speaking), "text/event-stream");
  endpoint.answerNow();
  assert.deepEqual(await dataOf(late), [ANSWER]);
  assert.deepEqual(await dataOf(speaking), [MESSAGE, ANSWER.replace('"id":1', '"id":2')]);
});

Deno.test("handleMcp() lets nobody listen to a session but with the token that it was made with", async () => {
  await using endpoint = openEndpoint();
  const refused = await endpoint.listen(NARROW);
  assert.equal(refused.status, 403);
  await refused.body?.cancel();
  const admitted = await endpoint.listen(ANN);
  assert.equal(admitted.status, 200);
  await admitted.body?.cancel();
});

Deno.test("handleMcp() notes who called", async () => {
  await using endpoint = openEndpoint();
  const inProject = { name: "quick", _meta: { projectId: "web" } };
  for (
    const [principal, params] of [[ANN, { name: "quick" }], [NARROW, { name: "quick" }], [
      ANN,
      inProject,
    ]] as const
  ) {
    await (await endpoint.call(principal, params)).text();
  }
  assert.deepEqual(endpoint.calls.map(({ principal }) => principal), [
    ANN,
    NARROW,
    `${ANN}@web`,
  ]);
});

Deno.test("handleMcp() looks at the address when a session is made, and with no call", async () => {
  await using endpoint = openEndpoint();
  let looks = 0;
  const info: Deno.ServeHandlerInfo = {
    get remoteAddr(): Deno.NetAddr {
      looks++;
      return { transport: "tcp", hostname: "192.0.2.1", port: 1 };
    },
    completed: Promise.resolve(),
  };
  const post = async (method: string, params: object, headers = {}) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await endpoint.visit(ANN, { method: "POST", body, headers }, info);
    await response.body?.cancel();
    return endpoint.sessions.list().find(({ id }) => id === response.headers.get("mcp-session-id"));
  };
  const introduction = { protocolVersion: "2025-11-25", capabilities: {} };
  assert.equal((await post("initialize", introduction))?.from, "192.0.2.1");
  const forwarded = { "x-forwarded-for": "198.51.100.9" };
  assert.equal(
    (await post("initialize", introduction, forwarded))?.from,
    "192.0.2.1, forwarded for 198.51.100.9",
  );
  assert.equal(looks, 2);
  await post("tools/call", { name: "quick" });
  assert.equal(looks, 2);
});

Deno.test("handleMcp() has it said by status what another token would mend, unless it has begun to answer", async () => {
  await using endpoint = openEndpoint();
  const plain = await endpoint.call(ANN, { name: "denied" });
  assert.match(await plain.text(), /ACCESS_DENIED/);
  for (const [meta, message] of [[{}, NARROW], [{ projectId: "web" }, `${NARROW}@web`]] as const) {
    await assert.rejects(endpoint.call(NARROW, { name: "denied", _meta: meta }), {
      code: "INSUFFICIENT_SCOPE",
      message,
    });
  }
  assert.equal(endpoint.calls.length, 3, "each is counted");
  const late = await endpoint.call(NARROW, { name: "late denied" });
  assert.equal(late.headers.get("content-type"), "text/event-stream");
  assert.equal(late.headers.get("x-accel-buffering"), "no");
  endpoint.answerNow();
  assert.match(await late.text(), /ACCESS_DENIED/);
});
