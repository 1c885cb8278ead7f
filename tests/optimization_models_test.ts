import assert from "node:assert/strict";
import * as z from "zod";
import { ModelResult, Verdict } from "../lib/core/optimization.ts";
import { chooseTool } from "./fixtures/choosing_model.ts";
import { LIBRARY_WRITES } from "./fixtures/library_prompts.ts";
import {
  claudeTest,
  ended,
  evaluate,
  GOOD,
  Lab,
  PROMPTS,
  propose,
  savePrompts,
  startJob,
} from "./optimization.ts";

const Body = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.string() })),
  tools: z.array(z.looseObject({
    function: z.looseObject({ name: z.string(), description: z.string().default("") }),
  })),
});

/** An OpenAI-compatible API whose model chooses by the descriptions, as it `reads` them. */
function openaiStandIn(
  reads: (description: string, name: string) => string = (description) => description,
) {
  const asked: { model: string; prompt: string }[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { model, messages, tools } = Body.parse(await request.json());
    const prompt = messages.at(-1)!.content;
    asked.push({ model, prompt });
    const descriptions = Object.fromEntries(
      tools.map(({ function: { name, description } }) => [name, reads(description, name)]),
    );
    const chosen = chooseTool(prompt, descriptions);
    const isCalled = chosen !== undefined;
    const call = { id: "1", type: "function", function: { name: chosen, arguments: "{}" } };
    return Response.json({
      model: `${model}-1`,
      choices: [{
        finish_reason: "stop",
        message: { content: "So be it", tool_calls: isCalled ? [call] : [] },
      }],
      usage: { prompt_tokens: 100, completion_tokens: 10 },
    });
  });
  return {
    asked,
    env: { OPENAI_BASE_URL: `http://127.0.0.1:${server.addr.port}/v1`, OPENAI_API_KEY: "any" },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const Results = z.array(z.looseObject({
  candidateId: z.string(),
  evidence: z.looseObject({
    models: z.array(ModelResult).optional(),
    verdict: Verdict.optional(),
  }).nullable(),
}));

await claudeTest(
  "the real CLI and an OpenAI-compatible API judge in one evaluation",
  async (claude) => {
    const models = ["claude-cli:stand-in", "openai-api:gpt-5-mini"];
    await using other = openaiStandIn();
    await using lab = await Lab.open({ claude, env: other.env });
    await using manager = await lab.manager();
    await savePrompts(manager);
    const good = await propose(manager, GOOD);
    const how = { tool: "find_books", candidateId: good, depth: "quick", models, wait: 0 };
    const { data: { estimate } } = await manager.call("evaluate_candidate", {
      ...how,
      dryRun: true,
    });
    assert.match(JSON.stringify(estimate), /at most 24 runs with 2 models/);
    const job = await ended(manager, await startJob(manager, "evaluate_candidate", how));
    assert.deepEqual([job.status, job.errors, job.runs], ["completed", 0, 24], job.note);
    assert.deepEqual(job.options.models, models);
    assert.equal(other.asked.length, 2 * PROMPTS.length);
    assert.ok(other.asked.every(({ model }) => model === "gpt-5-mini"));
    const asked = lab.seen.filter(({ isFollowUp, isWriting }) => !isFollowUp && !isWriting);
    assert.equal(asked.length, 2 * PROMPTS.length);
    const { data, text } = await manager.call("get_eval_results", { server: "library" });
    const found = Results.parse(data.candidates).find(({ candidateId }) => candidateId === good);
    assert.deepEqual(
      found?.evidence?.models?.map((
        { model, family, metrics, baseline },
      ) => [model, family, metrics.overall, baseline?.overall.correct]),
      models.map((model, at) => [model, at === 0 ? undefined : "gpt", { correct: 6, total: 6 }, 2]),
    );
    for (const model of models) {
      assert.ok(text.includes(`${model}: overall 2/6 (33 %, 95 % interval`), text);
    }
    // The price table has the second one; the first says what it cost.
    assert.ok((job.cost.costUsd ?? 0) > 0 && job.cost.costKnown !== false);
  },
);

Deno.test("what one family of models gains by and another loses by may be promoted for the first", async () => {
  const models = ["messages-api:claude-sonnet-4-5", "openai-api:gpt-5-mini"];
  await using other = openaiStandIn((description, name) => {
    if (!name.endsWith("find_books")) return description;
    // It knows the tool by heart, until it is told what it does.
    return description === GOOD ? "Handles things." : GOOD;
  });
  await using lab = await Lab.open({
    writes: LIBRARY_WRITES,
    env: other.env,
    flags: ["--eval-models", models.join(",")],
  });
  await using manager = await lab.manager();
  const good = await propose(manager, GOOD);
  const job = await evaluate(manager, good, "thorough");
  assert.deepEqual(job.options.models, models, "those that are set");
  const { data, text } = await manager.call("get_eval_results", { server: "library" });
  const found = Results.parse(data.candidates).find(({ candidateId }) => candidateId === good);
  const { promote, proposed, families } = found!.evidence!.verdict!;
  assert.deepEqual([promote, proposed, families], [false, true, ["claude"]], text);
  const refused = await manager.call("promote_candidate", {
    server: "library",
    tool: "find_books",
    candidateId: good,
  });
  assert.ok(refused.isError);
  assert.match(refused.text, /Promote for claude models only/);
  const promoteFor = (family: string) =>
    fetch(`${lab.gateway.url}/api/optimization.promote`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ tool: "library.find_books", candidateId: good, family }),
    });
  const without = await promoteFor("gpt");
  assert.deepEqual([without.status, (await without.json()).error.errorType], [
    409,
    "PROMOTION_REFUSED",
  ]);
  const own = await promoteFor("claude");
  assert.equal((await own.json()).promotion?.family, "claude");
});

Deno.test("an evaluator that is not set up is named before anything starts", async () => {
  await using lab = await Lab.open({});
  await using manager = await lab.manager();
  await savePrompts(manager);
  const good = await propose(manager, GOOD);
  const input = { server: "library", tool: "find_books", candidateId: good, depth: "quick" };
  const models = ["messages-api:stand-in", "openai-api:gpt-5-mini"];
  const { isError, text } = await manager.call("evaluate_candidate", { ...input, models });
  assert.ok(isError);
  assert.match(text, /Cannot evaluate with openai-api:gpt-5-mini: [^]*OPENAI_API_KEY/);
  const malformed = await manager.call("evaluate_candidate", { ...input, models: ["gpt-5-mini"] });
  assert.match(malformed.text, /EVALUATOR:MODEL/);
  assert.equal(lab.seen.length, 0);
});
