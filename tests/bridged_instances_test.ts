import assert from "node:assert/strict";
import * as z from "zod";
import { at, Endpoints, type RemoteStore } from "./combined_endpoints.ts";
import { fixtureCommand, startHttpFixture } from "./fixtures/start_fixture.ts";
import { remotePlaces } from "../lib/storage/testing/places.ts";
import { until } from "./gateway.ts";

const REVISION = "2026-07-28";
const KEY = "io.modelcontextprotocol";
const Result = z.looseObject({
  resultType: z.string().optional(),
  requestState: z.string().optional(),
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string() })).optional(),
  content: z.array(z.looseObject({ text: z.string() })).optional(),
  structuredContent: z.looseObject({}).optional(),
});
const Answer = z.looseObject({
  id: z.number(),
  result: Result.optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});

interface Sent {
  name: string;
  arguments: Record<string, unknown>;
  requestState?: string | undefined;
  inputResponses?: Record<string, unknown>;
}

function post(url: string, params: Sent, { id = 1, signal, token }: {
  id?: number;
  signal?: AbortSignal;
  token?: string;
} = {}): Promise<Response> {
  const _meta = {
    [`${KEY}/protocolVersion`]: REVISION,
    [`${KEY}/clientInfo`]: { name: "round robin", version: "1" },
    [`${KEY}/clientCapabilities`]: { elicitation: { form: {} }, sampling: {} },
    progressToken: "p",
  };
  return fetch(`${url}/servers/chaos/mcp?names=original`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": REVISION,
      "mcp-method": "tools/call",
      "mcp-name": params.name,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { ...params, _meta },
    }),
    ...(signal ? { signal } : {}),
  });
}

/** The last message of a response, which is the answer. */
async function call(...request: Parameters<typeof post>) {
  const text = await (await post(...request)).text();
  const messages = text.match(/(?<=^data: ).*$/gm) ?? [text];
  return { ...Answer.parse(JSON.parse(messages.at(-1)!)), messages };
}

const ASK = { name: "ask", arguments: { kind: "elicitation" } };

/** The same request with the answer to its question. */
function retry(asking: Sent, { result }: z.infer<typeof Answer>): Sent {
  assert.equal(result?.resultType, "input_required", JSON.stringify(result));
  const accepted = { action: "accept", content: { answer: "from a person" } };
  const ids = Object.keys(result.inputRequests ?? {});
  return {
    ...asking,
    requestState: result.requestState,
    inputResponses: Object.fromEntries(ids.map((id) => [id, accepted])),
  };
}

Deno.test("the state of a bridged call reaches the gateway that holds it from any other", async (t) => {
  await bridge(t);
});

Deno.test("a task is asked about at any gateway, and ends clearly with its own", () =>
  askAboutTask());

for (const { name, ignore, use } of remotePlaces()) {
  const onKv = (title: string, run: (t: Deno.TestContext, store: RemoteStore) => Promise<void>) =>
    Deno.test({
      name: `${title}, if the gateways have only a KV server in common [${name}]`,
      ignore,
      fn: (t) =>
        use((location) => {
          const key = crypto.getRandomValues(new Uint8Array(32)).toBase64();
          return run(t, { flags: ["--kv", location], env: { QUARTERMASTER_SECRET_KEY: key } });
        }),
    });
  onKv("the state of a bridged call reaches its gateway", bridge);
  onKv("a task is asked about at any gateway", (_, store) => askAboutTask(store));
}

async function bridge(t: Deno.TestContext, store?: RemoteStore): Promise<void> {
  await using http = await startHttpFixture("chaos_http", ["--stats"]);
  await using endpoints = await Endpoints.open({ chaos: at(http, "/s/one/mcp") }, ["chaos"], store);
  /** How many calls the server was ever given. */
  const executions = async () =>
    Number((await (await fetch(http.url.replace("/mcp", "/stats"))).json()).calls);
  await using sibling = await endpoints.sibling();
  await sibling.reaches("chaos", "ready");
  const [here, there] = [endpoints.url, sibling.url];

  await t.step("an answer to the other gateway continues the call, once", async () => {
    const before = await executions();
    const asking = await call(here, ASK);
    const answered = retry(ASK, asking);
    const wrong = { ...answered, arguments: { kind: "sampling" } };
    assert.match((await call(there, wrong)).error?.message ?? "", /belongs to a call with another/);
    const { id, result } = await call(there, answered, { id: 7 });
    assert.match(result?.content?.[0]?.text ?? "", /from a person/);
    assert.equal(id, 7);
    for (const url of [here, there]) {
      const again = await call(url, answered);
      assert.match(again.error?.message ?? "", /already used, or has expired/);
    }
    assert.equal(await executions(), before + 1);
  });

  await t.step("somebody else's state is unknown there too", async () => {
    const { value } = await endpoints.api("POST", "/api/token.create", { name: "other" });
    const { text: token } = z.looseObject({ text: z.string() }).parse(value);
    const answered = retry(ASK, await call(here, ASK));
    const isKnown = async () =>
      (await call(there, { name: "pid", arguments: {} }, { token })).result;
    await until(isKnown);
    const foreign = await call(there, answered, { token });
    assert.match(foreign.error?.message ?? "", /Unknown request state/);
    assert.match((await call(there, answered)).result?.content?.[0]?.text ?? "", /from a person/);
  });

  await t.step("a client that leaves the other gateway cancels the call", async () => {
    const slow = { name: "ask", arguments: { kind: "elicitation", then_ms: 600_000 } };
    const answered = retry(slow, await call(here, slow));
    const leaving = new AbortController();
    const response = await post(there, answered, { signal: leaving.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let heard = "";
    while (!heard.includes("notifications/progress")) heard += (await reader.read()).value ?? "";
    assert.equal(await running(here), 2);
    leaving.abort();
    await reader.cancel().catch(() => {});
    await until(async () => (await running(here)) === 1 || undefined);
  });

  await t.step(
    "after a kill of its gateway the state gives a clear error, and no second call",
    async () => {
      const before = await executions();
      const answered = retry(ASK, await call(here, ASK));
      await endpoints.restart("SIGKILL");
      for (const url of [there, endpoints.url]) {
        const { error } = await call(url, answered);
        assert.equal(error?.code, -32602);
        assert.match(error?.message ?? "", /the gateway that held the call has stopped/);
      }
      assert.equal(await executions(), before + 1);
    },
  );
}

/** How many calls the server has under way, this one included. */
async function running(url: string): Promise<number> {
  const { result } = await call(url, { name: "cancelled", arguments: {} });
  return Number(result?.structuredContent?.running);
}

async function askAboutTask(store?: RemoteStore): Promise<void> {
  const tasks = fixtureCommand("matrix_sessions", ["--stdio", "tasks"]);
  await using endpoints = await Endpoints.open({ tasks }, ["tasks"], store);
  await using sibling = await endpoints.sibling();
  await sibling.reaches("tasks", "ready");
  const path = "/servers/tasks/mcp?names=original";
  const { value } = await endpoints.api("POST", "/api/token.create", { name: "worker" });
  const { text: token } = z.looseObject({ text: z.string() }).parse(value);
  const headers = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${token}`,
  });
  const send = async (url: string, method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body });
    const session = response.headers.get("mcp-session-id");
    if (session !== null) headers.set("mcp-session-id", session);
    const text = await response.text();
    return Answer.parse(JSON.parse(text.match(/(?<=^data: )\{.*$/gm)?.at(-1) ?? text));
  };
  await send(endpoints.url, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: { tasks: {} },
    clientInfo: { name: "raw", version: "1" },
  });
  const call = { name: "work", arguments: {}, task: {} };
  const { result } = await send(endpoints.url, "tools/call", call);
  const { taskId } = z.looseObject({ task: z.looseObject({ taskId: z.string() }) })
    .parse(result).task;
  await until(async () => {
    const { result } = await send(sibling.url, "tasks/get", { taskId });
    return result?.status === "completed" || undefined;
  });
  const done = await send(sibling.url, "tasks/result", { taskId });
  assert.match(JSON.stringify(done.result), /worked/);
  const foreign = await send(sibling.url, "tasks/get", { taskId: "another" });
  assert.match(foreign.error?.message ?? "", /not found/);
  await endpoints.faulty.gateway.stop();
  const ended = await send(sibling.url, "tasks/get", { taskId });
  assert.match(ended.error?.message ?? "", /has ended with the gateway that started it/);
}
