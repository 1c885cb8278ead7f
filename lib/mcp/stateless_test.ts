import assert from "node:assert/strict";
import pino from "pino";
import { GatewayError } from "../core/errors.ts";
import { TimeoutQueue } from "../core/async.ts";
import { requestText } from "../core/rpc.ts";
import { until } from "../servers/testing/fake_server.ts";
import { elicitConsent } from "./client_questions.ts";
import { handleMcp } from "./endpoint.ts";
import type { AnsweredRequest, EndpointHost } from "./endpoint_host.ts";
import { EnvelopeReader } from "./envelope.ts";
import { HeldCalls } from "./held_calls.ts";
import { Listen } from "./listen.ts";
import { Sessions } from "./session.ts";
import { MAX_WAITING, StatelessSession } from "./stateless_session.ts";
import type { View } from "./view.ts";

const VERSION = "2026-07-28";
const [ANN, BOB, NARROW] = ["token:ann", "token:bob", "oauth:ann#2"];
const GATEWAY = "0123abcd";
const PROGRESS =
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}';
const ASKING = { elicitation: { form: {} } };

interface Sent {
  method?: string;
  params?: Record<string, unknown>;
  principal?: string;
  endpoint?: string;
  headers?: Record<string, string>;
  capabilities?: Record<string, unknown>;
  meta?: Record<string, unknown>;
  id?: number;
}

/** An endpoint whose tool `ask` asks the user, and says whose call it was and what was answered. */
function openEndpoint(holdMs?: number) {
  const calls: AnsweredRequest[] = [];
  const texts: string[] = [];
  const roots: string[] = [];
  const says: ((text: string) => void)[] = [];
  const subscribed: string[] = [];
  const confirmed = Promise.withResolvers<void>();
  let [runs, pending, most] = [0, 0, 0];
  const aborted = Promise.withResolvers<string>();
  const view: View = {
    introduce: (principal) =>
      Promise.resolve({
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, tasks: {} },
        serverInfo: {},
        instructions: `for ${principal}`,
      }),
    open: (client) => ({
      async request(request) {
        const { method, params, id } = request;
        texts.push(request.text);
        request.signal.addEventListener("abort", () => aborted.resolve(String(params.name)));
        if (method === "unknown/method") {
          return { text: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"no"}}` };
        }
        if (params.name === "late") {
          await new Promise<void>((resolve) => patience.add(resolve));
          return { text: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32021,"message":"no"}}` };
        }
        if (method === "resources/subscribe") {
          subscribed.push(String(params.uri));
          most = Math.max(most, ++pending);
          await confirmed.promise;
          pending--;
        }
        if (params.name === "roots") {
          request.send(client.ask(requestText(1, "roots/list"), 1, (text) => roots.push(text)));
        }
        if (params.name === "ask") says.push(request.send);
        if (params.name === "invalid") return { text: String(params.answer) };
        if (String(params.name).endsWith("denied")) {
          if (params.name !== "denied") request.send(PROGRESS);
          throw new GatewayError("ACCESS_DENIED");
        }
        if (params.name !== "ask") {
          return { text: `{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}` };
        }
        runs++;
        const said = await elicitConsent(request, client, "Sure?");
        const result = JSON.stringify({ said, principal: client.principal });
        return { text: `{"jsonrpc":"2.0","id":${id},"result":${result}}` };
      },
      notify: () => {},
      explain: (error) =>
        error instanceof GatewayError && error.code === "INVALID_PARAMS"
          ? new GatewayError(error.code, { message: error.message, recoveryAction: "Explained" })
          : error,
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
    held: new HeldCalls({ gatewayId: GATEWAY, holdMs }),
    envelopes: new EnvelopeReader(),
    maxBody: 100_000,
    log: pino({ enabled: false }),
    patience,
    onAnswered: (answered) => calls.push(answered),
    switchProject: (principal, project) => {
      if (project === "foreign") throw new GatewayError("PROJECT_MISMATCH");
      return `${principal}@${project}`;
    },
    stepUp: (principal, error) =>
      principal.startsWith(NARROW) && GatewayError.from(error).code === "ACCESS_DENIED"
        ? new GatewayError("INSUFFICIENT_SCOPE", { message: principal })
        : undefined,
  };
  async function send(sent: Sent = {}) {
    const response = await post(sent);
    const text = await response.text();
    const messages = text.match(/(?<=^data: ).*$/gm) ?? [text];
    return { status: response.status, messages, ...JSON.parse(messages.at(-1)!) };
  }
  function post(sent: Sent): Promise<Response> {
    const { method = "tools/call", params = {}, principal = ANN, endpoint = "mcp?" } = sent;
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": VERSION,
      "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": sent.capabilities ?? ASKING,
      ...sent.meta,
    };
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: sent.id ?? 1,
      method,
      params: { ...params, _meta },
    });
    const headers = new Headers({
      "content-type": "application/json",
      "mcp-protocol-version": VERSION,
      "mcp-method": method,
      ...(typeof params.name === "string" ? { "mcp-name": params.name } : {}),
    });
    for (const [name, value] of Object.entries(sent.headers ?? {})) {
      if (value === "") headers.delete(name);
      else headers.set(name, value);
    }
    const request = new Request("http://localhost/mcp", { method: "POST", headers, body });
    return handleMcp(host, {
      endpoint: { key: endpoint, isEquippable: endpoint === "mcp?", view },
      request,
      principal,
    });
  }
  return {
    calls,
    texts,
    sessions,
    host,
    view,
    send,
    post,
    roots,
    says,
    subscribed,
    mostPending: () => most,
    confirm: () => confirmed.resolve(),
    runs: () => runs,
    aborted: aborted.promise,
    async [Symbol.asyncDispose]() {
      await sessions[Symbol.asyncDispose]();
      host.held[Symbol.dispose]();
      patience[Symbol.dispose]();
    },
  };
}

const ASK = { name: "ask", arguments: { of: 1 } };

function agreement({ result }: { result: { inputRequests: object; requestState: string } }) {
  const ids = Object.keys(result.inputRequests);
  return {
    requestState: result.requestState,
    inputResponses: Object.fromEntries(
      ids.map((id) => [id, { action: "accept", content: { agree: true } }]),
    ),
  };
}

Deno.test("handleStateless() describes the endpoint, and answers without a session", async () => {
  await using endpoint = openEndpoint();
  const { status, result } = await endpoint.send({ method: "server/discover" });
  assert.equal(status, 200);
  assert.deepEqual(result.supportedVersions.slice(0, 2), [VERSION, "2025-11-25"]);
  assert.deepEqual(result.capabilities, {
    tools: { listChanged: true },
    resources: { subscribe: true },
  });
  assert.equal(result.resultType, "complete");
  assert.equal(result.instructions, `for ${ANN}`, "as its token may see it");
  assert.equal(endpoint.sessions.size, 0, "a description needs none");
  const called = await endpoint.send({ params: { name: "quick" }, meta: { kept: 1 } });
  assert.deepEqual(called.result, { resultType: "complete", content: [] });
  const listed = await endpoint.send({ method: "tools/list" });
  assert.deepEqual([listed.result.ttlMs, listed.result.cacheScope], [0, "private"]);
  assert.match(endpoint.texts[0]!, /"_meta":\{"kept":1\}/);
  assert.doesNotMatch(endpoint.texts.join(), /modelcontextprotocol/, "no envelope goes further");
  await endpoint.send({ params: { name: "quick", arguments: {} } });
  assert.match(endpoint.texts.at(-1)!, /"params":\{"name":"quick","arguments":\{\}\}/);
  assert.equal(endpoint.sessions.size, 1, "all requests of a client share one");
  assert.equal(endpoint.sessions.list()[0]?.profile.protocolVersion, VERSION);
});

Deno.test("handleStateless() refuses what headers and body say in two ways", async () => {
  await using endpoint = openEndpoint();
  const quick = { name: "quick" };
  const key = "io.modelcontextprotocol";
  const cases: [Sent, number, number][] = [
    [{ headers: { "mcp-protocol-version": "" } }, 400, -32020],
    [{ headers: { "mcp-method": "" } }, 400, -32020],
    [{ headers: { "mcp-method": "tools/list" } }, 400, -32020],
    [{ headers: { "mcp-method": "TOOLS/CALL" } }, 400, -32020],
    [{ headers: { "mcp-name": "" } }, 400, -32020],
    [{ headers: { "mcp-name": "other" } }, 400, -32020],
    [{ headers: { "mcp-name": "=?base64?cXVpY2s?=" } }, 400, -32020],
    [{ meta: { [`${key}/protocolVersion`]: "2025-11-25" } }, 400, -32020],
    [{ meta: { [`${key}/protocolVersion`]: undefined } }, 400, -32602],
    [{ meta: { [`${key}/clientCapabilities`]: undefined } }, 400, -32602],
    [{ meta: { [`${key}/logLevel`]: "loud" } }, 400, -32602],
    [
      {
        headers: { "mcp-protocol-version": "2099-01-01" },
        meta: { [`${key}/protocolVersion`]: "2099-01-01" },
      },
      400,
      -32022,
    ],
    [{ params: { name: "late" } }, 400, -32021],
    [{ method: "ping" }, 404, -32601],
    [{ method: "initialize" }, 404, -32601],
    [{ method: "unknown/method" }, 404, -32601],
  ];
  for (const [sent, status, code] of cases) {
    const answer = await endpoint.send({ params: quick, id: 7, ...sent });
    const shown = JSON.stringify(sent);
    assert.deepEqual([answer.status, answer.error?.code, answer.id], [status, code, 7], shown);
  }
  const accepted = ["quick", "  quick  ", "=?base64?cXVpY2s=?="];
  for (const name of accepted) {
    const { result } = await endpoint.send({ params: quick, headers: { "mcp-name": name } });
    assert.equal(result?.resultType, "complete", name);
  }
});

Deno.test("handleStateless() holds a call while its client answers, and makes it once", async () => {
  await using endpoint = openEndpoint();
  const asked = await endpoint.send({ params: ASK });
  assert.equal(asked.result.resultType, "input_required");
  const [question] = Object.values<{ method: string }>(asked.result.inputRequests);
  assert.equal(question?.method, "elicitation/create");
  const retry = { ...ASK, ...agreement(asked) };
  const { result, id } = await endpoint.send({ params: retry, id: 2 });
  assert.deepEqual(result, { resultType: "complete", said: "approved", principal: ANN });
  assert.equal(id, 2);
  assert.equal(endpoint.runs(), 1);
  assert.equal(endpoint.calls.length, 1, "it is one call in the log");
  const again = await endpoint.send({ params: retry, id: 3 });
  assert.equal(again.error?.code, -32602);
  assert.match(again.error?.message, /already used/);
  assert.equal(endpoint.runs(), 1);
});

Deno.test("handleStateless() asks again what was not answered, with another state", async () => {
  await using endpoint = openEndpoint();
  const first = await endpoint.send({ params: ASK });
  const { requestState } = first.result;
  const second = await endpoint.send({
    params: { ...ASK, requestState, inputResponses: { x: {} } },
  });
  assert.equal(second.result.resultType, "input_required");
  assert.deepEqual(second.result.inputRequests, first.result.inputRequests);
  assert.notEqual(second.result.requestState, requestState);
  const third = await endpoint.send({ params: { ...ASK, ...agreement(second) } });
  assert.equal(third.result.said, "approved");
  assert.equal(endpoint.runs(), 1);
});

Deno.test("handleStateless() lets nobody else continue a call, nor another call take its state", async () => {
  await using endpoint = openEndpoint();
  const asked = await endpoint.send({ params: ASK });
  const params = { ...ASK, ...agreement(asked) };
  const strangers: Sent[] = [
    { principal: BOB, params },
    { endpoint: "toolsets/x?", params },
    { meta: { projectId: "other" }, params },
    { params: { ...params, arguments: { of: 2 } } },
    { params: { ...params, name: "quick" } },
    { params: { ...params, requestState: `${params.requestState}x` } },
    { params: { ...params, requestState: `quartermaster.${GATEWAY}.00000000.guess` } },
  ];
  for (const stranger of strangers) {
    const { error } = await endpoint.send(stranger);
    assert.equal(error?.code, -32602, JSON.stringify(stranger));
  }
  assert.equal(endpoint.runs(), 1, "nothing was called");
  // Its owner is not disturbed by that.
  assert.equal((await endpoint.send({ params })).result.said, "approved");
});

Deno.test("handleStateless() keeps what belongs to one principal from all others", async () => {
  await using endpoint = openEndpoint();
  const [ann, bob] = await Promise.all([
    endpoint.send({ params: ASK }),
    endpoint.send({ params: ASK, principal: BOB }),
  ]);
  assert.equal(endpoint.sessions.size, 2);
  // The answers of one under the state of the other answer nothing.
  const swapped = { ...ASK, ...agreement(ann), requestState: bob.result.requestState };
  const again = await endpoint.send({ params: swapped, principal: BOB });
  assert.equal(again.result.resultType, "input_required");
  const forBob = await endpoint.send({ params: { ...ASK, ...agreement(again) }, principal: BOB });
  assert.deepEqual([forBob.result.said, forBob.result.principal], ["approved", BOB]);
  const forAnn = await endpoint.send({ params: { ...ASK, ...agreement(ann) } });
  assert.deepEqual([forAnn.result.said, forAnn.result.principal], ["approved", ANN]);
});

Deno.test("handleStateless() ends a held call that nobody comes back for, or whose client is put out", async () => {
  await using endpoint = openEndpoint(1);
  const asked = await endpoint.send({ params: ASK });
  assert.equal(await endpoint.aborted, "ask");
  const late = await endpoint.send({ params: { ...ASK, ...agreement(asked) } });
  assert.match(late.error?.message, /expired/);

  await using other = openEndpoint();
  const held = await other.send({ params: ASK });
  await other.sessions.end(other.sessions.list()[0]!);
  const { result } = await other.send({ params: { ...ASK, ...agreement(held) } });
  assert.equal(result.said, "expired", "the question was over before the answer");
  assert.equal(other.runs(), 1);
});

Deno.test("handleStateless() does not ask a client that cannot answer", async () => {
  await using endpoint = openEndpoint();
  const { result } = await endpoint.send({ params: ASK, capabilities: {} });
  assert.equal(result.said, "denied");
});

Deno.test("handleStateless() answers with an error if a server's answer is not valid JSON", async () => {
  await using endpoint = openEndpoint();
  const answers = [
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":NaN}}',
    String.raw`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"C:\Users"}}`,
    '{"jsonrpc":"2.0","id":1,"error"',
  ];
  for (const answer of answers) {
    const { result } = await endpoint.send({ params: { name: "invalid", answer } });
    assert.match(JSON.stringify(result), /not valid JSON/, answer);
    assert.equal(result.resultType, "complete");
  }
  const odd = '{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":{"toString":0}}}';
  const read = { method: "resources/read", params: { name: "invalid", answer: odd } };
  assert.equal((await endpoint.send(read)).error?.code, -32602);
});

Deno.test("handleStateless() counts a call as waiting until it ends", async () => {
  await using endpoint = openEndpoint(1);
  await Promise.all(Array.from({ length: MAX_WAITING }, () => endpoint.send({ params: ASK })));
  // All of them end because nobody comes back.
  await until(() => endpoint.calls.length === MAX_WAITING);
  const { result } = await endpoint.send({ params: ASK });
  assert.equal(result.resultType, "input_required");
});

Deno.test("handleStateless() rejects with an OAuth step-up, or sends the error if it has begun to answer", async () => {
  await using endpoint = openEndpoint();
  for (const [meta, message] of [[{}, NARROW], [{ projectId: "web" }, `${NARROW}@web`]] as const) {
    await assert.rejects(endpoint.send({ principal: NARROW, params: { name: "denied" }, meta }), {
      code: "INSUFFICIENT_SCOPE",
      message,
    });
  }
  const late = { principal: NARROW, params: { name: "late denied" } };
  const { result } = await endpoint.send({ ...late, meta: { progressToken: "p" } });
  assert.match(JSON.stringify(result), /ACCESS_DENIED/);
});

Deno.test("handleStateless() completes the answer to a call that could not start", async () => {
  await using endpoint = openEndpoint();
  const foreign = { params: { name: "quick" }, meta: { projectId: "foreign" } };
  const { status, result } = await endpoint.send(foreign);
  assert.equal(status, 200);
  assert.equal(result.isError, true);
  assert.equal(result.resultType, "complete");
  const requestState = `quartermaster.${GATEWAY}.00000000.unknown`;
  const { error } = await endpoint.send({ params: { name: "quick", requestState } });
  assert.match(JSON.stringify(error), /Explained/, "with advice that the client can follow");
  const ofServer = { name: "quick", requestState: "quartermaster.other.00000000.x" };
  const passed = await endpoint.send({ params: ofServer });
  assert.equal(passed.result?.resultType, "complete", "a server may be a gateway");
  assert.match(endpoint.texts.at(-1)!, /quartermaster\.other/);
});

Deno.test("handleStateless() lets clients keep lists for a while, and what they read not at all", async () => {
  await using endpoint = openEndpoint();
  const ttlOf = async (method: string) =>
    (await endpoint.send({ method, params: { name: "x" }, endpoint: "servers/git?" })).result.ttlMs;
  assert.equal(await ttlOf("tools/list"), 60_000);
  assert.equal(await ttlOf("resources/read"), 0);
  assert.equal(await ttlOf("resources/directory/read"), 0);
  assert.equal(await ttlOf("skills/get"), 0);
});

Deno.test("handleStateless() refuses a client that introduces itself at length, and makes room for an owner's clients", async () => {
  await using endpoint = openEndpoint();
  const clientInfo = "io.modelcontextprotocol/clientInfo";
  const quick = { name: "quick" };
  const wordy = { [clientInfo]: { name: "x".repeat(20_000) } };
  const { status, error } = await endpoint.send({ params: quick, meta: wordy });
  assert.deepEqual([status, error?.code], [400, -32602]);
  assert.equal(endpoint.sessions.size, 0);

  const opened: string[] = [];
  endpoint.host.countRequest = (_, method) => opened.push(method);
  await endpoint.send({ params: quick, principal: BOB });
  opened.length = 0;
  for (let nth = 0; nth < 210; nth++) {
    const long = { [clientInfo]: { name: "x".repeat(2_000), version: String(nth) } };
    await endpoint.send({ params: quick, meta: long, principal: `${ANN}@${nth}` });
  }
  assert.equal(opened.length, 210, "each session is counted");
  const of = (owner: string) =>
    endpoint.sessions.list().filter(({ principal }) => principal.startsWith(owner));
  assert.deepEqual([of(ANN).length, of(BOB).length], [200, 1]);
  assert.ok(of(ANN).every(({ key }) => key!.length < 100), "long keys are hashed");
});

Deno.test("handleStateless() asks with the next call what one that ended too soon could not ask", async () => {
  await using endpoint = openEndpoint();
  const capabilities = { roots: {}, ...ASKING };
  await endpoint.send({ method: "tools/list", params: { name: "roots" }, capabilities });
  await endpoint.send({ params: { name: "quick" }, capabilities });
  const { result } = await endpoint.send({ params: ASK, capabilities });
  const asked = Object.entries<{ method: string }>(result.inputRequests);
  assert.deepEqual(asked.map(([, { method }]) => method).sort(), [
    "elicitation/create",
    "roots/list",
  ]);
  const responses = asked.map(([id, { method }]) => [
    id,
    method === "roots/list" ? { roots: [] } : { action: "accept", content: { agree: true } },
  ]);
  const { requestState } = result;
  const params = { ...ASK, requestState, inputResponses: Object.fromEntries(responses) };
  assert.equal((await endpoint.send({ params, capabilities })).result.said, "approved");
  assert.deepEqual(endpoint.roots, ['{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}']);
});

Deno.test("handleStateless() keeps for the next round the newest progress, and not too many messages", async () => {
  await using endpoint = openEndpoint();
  const meta = { progressToken: "p", "io.modelcontextprotocol/logLevel": "info" };
  const asked = await endpoint.send({ params: ASK, meta });
  const [say] = endpoint.says;
  for (const progress of [1, 2, 3]) say!(PROGRESS.replace(/1\}\}$/, `${progress}}}`));
  for (let nth = 0; nth < 4; nth++) {
    const params = { level: "info", data: `${nth}`.repeat(400_000) };
    say!(JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params }));
  }
  const { messages } = await endpoint.send({ params: { ...ASK, ...agreement(asked) }, meta });
  const [progress, ...rest] = messages.map((text: string) => JSON.parse(text));
  assert.equal(progress.params.progress, 3);
  assert.equal(rest.length, 3, "two log messages, and the answer");
});

Deno.test("handleStateless() subscribes to a few resources at a time, once each, and ends with the session", async () => {
  await using endpoint = openEndpoint();
  const uris = Array.from({ length: 50 }, (_, nth) => `x:${nth}`);
  const notifications = { resourceSubscriptions: uris };
  const listen = { method: "subscriptions/listen", params: { notifications } };
  const first = endpoint.post(listen);
  const second = endpoint.post(listen);
  await until(() => endpoint.subscribed.length === 20);
  const [session] = endpoint.sessions.list();
  assert.ok(session instanceof StatelessSession);
  assert.deepEqual([session.listens.size, session.opening], [0, 2], "neither has heard of it yet");
  endpoint.confirm();
  const bodies = [await first, await second];
  assert.deepEqual(endpoint.subscribed.toSorted(), uris.toSorted());
  assert.equal(endpoint.mostPending(), 20);
  await endpoint.sessions.end(session);
  for (const body of bodies) assert.match(await body.text(), /"result":\{"resultType":"complete"/);
  const sink = { send() {}, heartbeat() {}, end() {} };
  const request = { id: 9, params: { notifications } };
  using held = new HeldCalls();
  const late = await Listen.open(session, endpoint.view, request, () => sink, held);
  assert.equal(session.listens.has(late), false, "nobody would end it");
});
