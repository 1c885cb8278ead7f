import assert from "node:assert/strict";
import { estimateTokens, TokenCounter } from "./token_counter.ts";

/** The tokenizer takes seconds to load, and a busy machine many times that. */
const PATIENT = { limitMs: 300_000 };

Deno.test("TokenCounter.count() counts each text, known or new, empty ones too", async () => {
  using counter = new TokenCounter(PATIENT);
  assert.deepEqual(await counter.count([]), []);
  const [short, long, none] = await counter.count(["git status", "git status ".repeat(100), ""]);
  assert.ok(short! >= 2 && short! <= 4, String(short));
  assert.ok(long! > 150 && long! < 400, String(long));
  assert.equal(none, 0);
  const [again, fresh] = await Promise.all([counter.count(["git status"]), counter.count(["a b"])]);
  assert.deepEqual(again, [short]);
  assert.ok(fresh[0]! > 0);
});

Deno.test("TokenCounter.count() does not hang when its worker is ended", async () => {
  const counter = new TokenCounter(PATIENT);
  const counting = counter.count(["never counted"]);
  counter[Symbol.dispose]();
  assert.deepEqual(await counting, [0]);
  const [again] = await counter.count(["never counted"]);
  assert.ok(again! > 0, "it is counted by the next one");
  counter[Symbol.dispose]();
});

Deno.test("TokenCounter.count() does not wait for ever for a worker that says nothing", async () => {
  const worker = new URL("data:application/javascript,");
  using counter = new TokenCounter({ worker, limitMs: 50 });
  assert.deepEqual(await Promise.all([counter.count(["a"]), counter.count(["b"])]), [[0], [0]]);
});

Deno.test("estimateTokens() is within a fifth of the tokenizer for what the gateway sends", async () => {
  using counter = new TokenCounter();
  const tools = ["create_issue", "listDirectory", "browser_take_screenshot"].map((toolName, n) => ({
    toolKey: `tk_aB3dE5gH7jK${n}`,
    toolName,
    serverName: "github",
    description: "Create a new issue in a GitHub repository, with labels and assignees if given",
    relevance: 0.697,
    inputSchema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
  }));
  const texts = [
    JSON.stringify({ tools }),
    tools.map(({ description }) => description).join("\n"),
    JSON.stringify(tools.map(({ toolKey, toolName }) => ({ toolKey, toolName }))),
  ];
  for (const [index, counted] of (await counter.count(texts)).entries()) {
    const estimated = estimateTokens(texts[index]!);
    assert.ok(Math.abs(estimated / counted - 1) < 0.2, `${estimated} for ${counted}`);
  }
  assert.equal(estimateTokens(""), 0);
});
