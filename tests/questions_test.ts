import assert from "node:assert/strict";
import * as z from "zod";
import { at, Endpoints } from "./combined_endpoints.ts";
import { startHttpFixture } from "./fixtures/start_fixture.ts";

const CAPABILITIES = { sampling: {}, elicitation: {}, roots: {} };
const Message = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  result: z.looseObject({ content: z.array(z.looseObject({ text: z.string() })) }).optional(),
});
const Refusal = z.object({ error: z.object({ code: z.number(), message: z.string() }) });

/** A client by hand: it answers when and where the test says, not where it was asked. */
class HandClient {
  readonly #headers = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  });

  static async open(url: string): Promise<HandClient> {
    const client = new HandClient();
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: CAPABILITIES,
      clientInfo: { name: "hand", version: "1" },
    };
    const response = await client.post(url, { id: 0, method: "initialize", params });
    client.#headers.set("mcp-session-id", response.headers.get("mcp-session-id") ?? "");
    await response.body?.cancel();
    return client;
  }

  post(url: string, message: object): Promise<Response> {
    return fetch(url, {
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  }

  /** Calls a tool that asks; resolves with the question, and later with the tool's text. */
  async call(url: string, id: number, kind: string) {
    const params = { name: "chaos_ask", arguments: { kind } };
    const response = await this.post(url, { id, method: "tools/call", params });
    const messages = eventsOf(response);
    const question = await untilMessage(messages, ({ method }) => method !== undefined);
    return {
      question: z.object({ id: z.union([z.string(), z.number()]) }).parse(question).id,
      text: async () => {
        const answer = await untilMessage(messages, (message) => message.id === id);
        return answer.result?.content[0]?.text;
      },
    };
  }

  async answer(url: string, id: string | number, result: object) {
    const response = await this.post(url, { id, result });
    return { status: response.status, body: await response.text() };
  }
}

async function* eventsOf(response: Response): AsyncGenerator<z.infer<typeof Message>> {
  let rest = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: {")) yield Message.parse(JSON.parse(line.slice(6)));
    }
  }
}

async function untilMessage(
  messages: AsyncGenerator<z.infer<typeof Message>>,
  isIt: (message: z.infer<typeof Message>) => boolean,
) {
  for (;;) {
    const { value, done } = await messages.next();
    if (done) throw new Error("The stream has ended");
    if (isIt(value)) return value;
  }
}

Deno.test("an answer reaches only its own question, from whichever gateway gets it", async (t) => {
  await using http = await startHttpFixture("chaos_http");
  await using endpoints = await Endpoints.open({ chaos: at(http, "/s/one/mcp") });
  await using sibling = await endpoints.sibling();
  await sibling.reaches("chaos", "ready");
  const [here, there] = [`${endpoints.url}/mcp`, `${sibling.url}/mcp`];
  const client = await HandClient.open(here);
  const elicited = await client.call(here, 1, "elicitation");
  const sampled = await client.call(there, 2, "sampling");
  const accept = { action: "accept", content: { answer: "from a person" } };
  const message = { role: "assistant", model: "m", content: { type: "text", text: "by a model" } };

  await t.step("ids of questions cannot be guessed, and are never the same", () => {
    for (const { question } of [elicited, sampled]) {
      assert.match(String(question), /^[0-9a-f-]{36}\.[0-9a-f-]{36}$/);
    }
    assert.notEqual(elicited.question, sampled.question);
  });

  await t.step("an answer to no question is refused, and the session lives on", async () => {
    const unasked = String(elicited.question).replace(/[^.]*$/, crypto.randomUUID());
    const { status, body } = await client.answer(there, unasked, accept);
    assert.equal(status, 400);
    const { error } = Refusal.parse(JSON.parse(body));
    assert.equal(error.code, -32600);
    assert.match(error.message, /No question with the id .* is waiting/);
    const ping = await client.post(there, { id: 3, method: "ping" });
    assert.deepEqual(await ping.json(), { jsonrpc: "2.0", id: 3, result: {} });
  });

  await t.step("both questions are still open, and each gets its own answer", async () => {
    assert.equal((await client.answer(here, sampled.question, message)).status, 202);
    assert.match(await sampled.text() ?? "", /by a model/);
    assert.equal((await client.answer(there, elicited.question, accept)).status, 202);
    assert.match(await elicited.text() ?? "", /from a person/);
  });

  await t.step("answers come once, and not for what nobody asked", async () => {
    for (const id of [elicited.question, 1, "1", crypto.randomUUID()]) {
      assert.equal((await client.answer(here, id, accept)).status, 400);
    }
  });
});
