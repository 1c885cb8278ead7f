import assert from "node:assert/strict";
import pino from "pino";
import { InProcessLink } from "../downstream/in_process_link.ts";
import { ManagedServer } from "../downstream/managed_server.ts";
import type { TextsScreen } from "./listed_texts.ts";
import { ServerTexts } from "./server_surface_texts.ts";

/** Lists prompts, and keeps what it was asked. */
class Prompter {
  readonly asked: string[] = [];
  prompts: { name: string; description: string }[] = [];

  handle(message: unknown): Record<string, unknown> | undefined {
    const { id, method } = message as { id?: number; method: string };
    if (id === undefined) return undefined;
    this.asked.push(method);
    const info = { protocolVersion: "2025-11-25", serverInfo: { name: "prompter", version: "1" } };
    const result = method === "initialize"
      ? { ...info, capabilities: { prompts: {} } }
      : { prompts: this.prompts, tools: [] };
    return { jsonrpc: "2.0", id, result };
  }
}

async function withTexts(
  work: (texts: ServerTexts, prompter: Prompter, waived: Set<string>) => Promise<void>,
): Promise<void> {
  const prompter = new Prompter();
  await using server = new ManagedServer({
    server: { name: "prompter", spec: { type: "demo" }, source: { kind: "demo" } },
    log: pino({ level: "silent" }),
    openLink: () => new InProcessLink(prompter),
    onStatus: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => Promise.resolve(tools.length),
  });
  server.start();
  const waived = new Set<string>();
  const screen: TextsScreen = {
    instructions: (_, text) => Promise.resolve(text),
    list(_server, kind, result) {
      const isHostile = result.includes("hostile") && !waived.has("hostile");
      return Promise.resolve(isHostile ? `{"${kind}":[]}` : result);
    },
  };
  await work(new ServerTexts(server, screen), prompter, waived);
}

async function isRefused(texts: ServerTexts, name: string): Promise<boolean> {
  const params = { name };
  const answer = await texts.refusal({
    id: 1,
    method: "prompts/get",
    params,
    text: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "prompts/get", params }),
    signal: new AbortController().signal,
    send: () => {},
  });
  return answer !== undefined;
}

const OWN = { name: "own", description: "hostile" };
const GREET = { name: "greet", description: "Greets" };

Deno.test("ServerTexts.refusal() looks at a server's list once, and again when it has another one", async () => {
  await withTexts(async (texts, prompter) => {
    prompter.prompts = [GREET, OWN];
    const lists = () => prompter.asked.filter((method) => method === "prompts/list").length;
    const both = await Promise.all(["greet", "own"].map((name) => isRefused(texts, name)));
    assert.deepEqual(both, [false, true]);
    assert.equal(await isRefused(texts, "unknown"), false, "that is for the server to say");
    assert.equal(lists(), 1);
    prompter.prompts = [{ ...GREET, description: "hostile" }, { ...OWN, description: "Mine" }];
    texts.heard('{"method":"notifications/message"}');
    assert.equal(await isRefused(texts, "own"), true);
    texts.heard('{"method":"notifications/prompts/list_changed"}');
    assert.equal(await isRefused(texts, "own"), false);
    assert.equal(await isRefused(texts, "greet"), true);
    assert.equal(lists(), 2);
  });
});

Deno.test("ServerTexts.refusal() does not forget what a server lists in turns, and minds a waiver", async () => {
  await withTexts(async (texts, prompter, waived) => {
    prompter.prompts = [OWN];
    assert.equal(await isRefused(texts, "own"), true);
    prompter.prompts = [];
    texts.heard('{"method":"notifications/prompts/list_changed"}');
    assert.equal(await isRefused(texts, "own"), true);
    waived.add("hostile");
    assert.equal(await isRefused(texts, "own"), false);
  });
});

Deno.test("ServerTexts.learn() takes up what was listed to one client alone", async () => {
  await withTexts(async (texts) => {
    assert.equal(await isRefused(texts, "own"), false);
    await texts.learn("prompts", `{"id":1,"result":{"prompts":[${JSON.stringify(OWN)}]}}`);
    assert.equal(await isRefused(texts, "own"), true);
  });
});
