import assert from "node:assert/strict";
import { failure } from "../../storage/testing/failures.ts";
import { openOptimization, PROMPTS } from "../../mcp/testing/open_optimization.ts";
import type { WrittenPrompt } from "./schemas.ts";

async function openSets(equipped: Record<string, string[]> = {}) {
  const opened = await openOptimization({ equipped });
  return {
    ...opened,
    save: (prompts: readonly WrittenPrompt[], tool = "forecast") =>
      opened.admin.prompts.save({ server: "weather", tool, prompts }, "caller"),
    saved: () => opened.prompts.list("weather", "forecast"),
  };
}

Deno.test("PromptSets.save() takes what should happen from the category", async () => {
  await using sets = await openSets();
  const { saved, prompts, warnings } = await sets.save(PROMPTS);
  assert.deepEqual([saved, warnings], [3, []]);
  assert.deepEqual(prompts.map(({ expectedBehavior }) => expectedBehavior.shouldCallTool), [
    true,
    true,
    false,
  ]);
  assert.deepEqual(await sets.saved(), prompts, "in the order in which they were written");
});

Deno.test("PromptSets.save() saves none where one will not do, and says what is wrong with each", async () => {
  await using sets = await openSets();
  const good = PROMPTS[0];
  const bad: [WrittenPrompt, RegExp][] = [
    [{ ...good, prompt: " too short  " }, /prompts\[1\]: a prompt must have 10 to 4000 .*got 9/],
    [{ ...good, prompt: good.prompt.toUpperCase() }, /prompts\[1\]: .*same as prompts\[0\]/],
    [
      { ...PROMPTS[1], expectedBehavior: { shouldCallTool: false } },
      /shouldCallTool must be true for an indirect prompt/,
    ],
    [
      { ...PROMPTS[2], expectedBehavior: { shouldCallTool: true } },
      /shouldCallTool must be false for a negative prompt/,
    ],
    [
      { ...PROMPTS[2], expectedBehavior: { expectedTool: "forecast" } },
      /expectedTool of a negative prompt cannot be "forecast" itself: name the sibling/,
    ],
    [
      { ...PROMPTS[1], expectedBehavior: { expectedTool: "alerts" } },
      /an indirect prompt .* expectedTool cannot be "alerts": only a negative prompt can name a sibling/,
    ],
    [
      { ...PROMPTS[2], expectedBehavior: { expectedTool: "alert" } },
      /expectedTool is "alert", but weather has no such tool; did you mean alerts\?$/,
    ],
    [
      { ...PROMPTS[2], expectedBehavior: { expectedTool: "booking" } },
      /expectedTool is "booking", but weather has no such tool$/,
    ],
    [{ ...PROMPTS[1], toolName: "alerts" }, /it is for the tool "alerts"/],
  ];
  for (const [draft, words] of bad) {
    const error = await failure(sets.save([good, draft]), "INVALID_ARGUMENTS");
    assert.match(error.message, words);
  }
  assert.deepEqual(await sets.saved(), []);
  await sets.save([good]);
  const { prompts } = await sets.save([PROMPTS[1], good]);
  assert.equal(prompts[1]?.version, 1, "a prompt that is there already stays as it is");
  assert.equal((await sets.saved()).length, 2);
});

Deno.test("PromptSets.save() makes a version of a prompt whose id it knows, and keeps the ids of others", async () => {
  await using sets = await openSets();
  const { prompts: [first] } = await sets.save([{ ...PROMPTS[0], id: "mine" }]);
  assert.equal(first?.id, "mine", "the caller's own ids are kept");
  const id = first!.id;
  const next = { ...PROMPTS[0], id, prompt: "Show the weather in Oslo on Monday" };
  const { saved, prompts: [second] } = await sets.save([next]);
  assert.deepEqual([saved, second?.id, second?.version], [1, id, 2]);
  const { prompts: [same] } = await sets.save([next]);
  assert.equal(same?.version, 2, "what did not change is no version of its own");
  assert.deepEqual((await sets.saved()).map(({ prompt }) => prompt), [next.prompt]);
  assert.equal((await sets.prompts.all("weather", "forecast")).length, 2);
  const other = await failure(sets.save([next], "alerts"), "INVALID_ARGUMENTS");
  assert.match(other.message, /its id belongs to a prompt for the tool "forecast"/);
});

Deno.test("PromptSets.save() warns of what tells little", async () => {
  await using sets = await openSets();
  const { warnings } = await sets.save([
    { category: "direct", prompt: "Get the weather in Paris for tomorrow" },
    { category: "direct", prompt: "Get the weather in Paris for tomorrow, please" },
    { category: "indirect", prompt: "Call weather.forecast for my trip to Rome" },
    { category: "negative", prompt: "Book me a table for two at eight" },
  ]);
  const all = warnings.join("\n");
  assert.match(all, /asks for nearly the same as "Get the weather in Paris for tomorrow"/);
  assert.match(all, /Prompt "Call weather\.forecast for my trip to Rome": /);
  assert.equal(warnings.length, 2, all);
});

Deno.test("PromptSets.save() takes the name of a sibling also with its server's, and of itself", async () => {
  await using sets = await openSets();
  const { prompts } = await sets.save([
    { ...PROMPTS[0], expectedBehavior: { expectedTool: "forecast" } },
    { ...PROMPTS[2], expectedBehavior: { expectedTool: "weather.alerts" } },
  ]);
  assert.deepEqual(prompts.map(({ expectedBehavior }) => expectedBehavior.expectedTool), [
    undefined,
    "alerts",
  ]);
});

Deno.test("PromptSets.edit() lets a sibling that is gone stand, and warns of it", async () => {
  await using sets = await openSets();
  const draft = { ...PROMPTS[2], expectedBehavior: { expectedTool: "alerts" } };
  const { prompts: [saved] } = await sets.save([draft]);
  sets.listTools(["forecast"]);
  const { expectedBehavior, warnings } = await sets.save([
    { ...draft, id: saved!.id, prompt: "Which city is the capital of France?" },
  ]).then(({ prompts, warnings }) => ({ ...prompts[0]!, warnings }));
  assert.equal(expectedBehavior.expectedTool, "alerts");
  assert.match(
    warnings.join(),
    /should call "alerts", which weather does not have or which is disabled/,
  );
  const other = {
    ...PROMPTS[2],
    prompt: "Warn me of storms",
    expectedBehavior: draft.expectedBehavior,
  };
  await failure(sets.save([other]), "INVALID_ARGUMENTS");
});

Deno.test("PromptSets.edit() keeps what it is not told, and retire() asks no more", async () => {
  await using sets = await openSets();
  const { admin } = sets;
  const draft = { ...PROMPTS[2], expectedBehavior: { notes: "General", expectedTool: "alerts" } };
  const { prompts: [saved] } = await sets.save([draft]);
  const named = { server: "weather", tool: "forecast", id: saved!.id };
  const edited = await admin.prompts.edit({ ...named, prompt: "Who wrote the book Ulysses?" });
  assert.deepEqual(edited.expectedBehavior, saved?.expectedBehavior);
  assert.deepEqual([edited.version, edited.origin, edited.category], [2, "person", "negative"]);
  const turned = await admin.prompts.edit({ ...named, category: "direct" });
  assert.deepEqual(turned.expectedBehavior, { shouldCallTool: true, notes: "General" });
  await admin.prompts.retire({ server: "weather", tool: "forecast", id: named.id });
  assert.deepEqual(await sets.saved(), []);
  await failure(admin.prompts.edit({ ...named, category: "negative" }), "NOT_FOUND");
  await failure(
    admin.prompts.retire({ server: "weather", tool: "forecast", id: "prompt_none" }),
    "NOT_FOUND",
  );
});

Deno.test("PromptSets.save() takes a tool of another server by server.tool, and says when it is shown", async () => {
  await using sets = await openSets({ shop: ["forecast"] });
  const meantFor = (expectedTool: string) => [
    PROMPTS[0],
    PROMPTS[1],
    { ...PROMPTS[2], expectedBehavior: { expectedTool } },
  ];
  await failure(sets.save(meantFor("shop.refund")), "INVALID_ARGUMENTS");
  const { prompts, warnings } = await sets.save(meantFor("shop.forecast"));
  assert.equal(prompts[2]?.expectedBehavior.expectedTool, "shop.forecast");
  assert.match(warnings.join(), /"shop\.forecast", which is shown only with the equipped toolset$/);
});

Deno.test("PromptSets.judgeLabel() keeps, relabels or drops a prompt, each as a version", async () => {
  await using sets = await openSets();
  const { prompts } = await sets.save(PROMPTS);
  const judge = (index: number, decision: "keep" | "relabel" | "drop") =>
    sets.admin.prompts.judgeLabel({
      server: "weather",
      tool: "forecast",
      id: prompts[index]!.id,
      decision,
    });
  const kept = await judge(0, "keep");
  assert.deepEqual([kept?.version, kept?.isConfirmed, kept?.category], [2, true, "direct"]);
  const relabeled = await judge(2, "relabel");
  assert.deepEqual(
    [relabeled?.category, relabeled?.expectedBehavior.shouldCallTool, relabeled?.isConfirmed],
    ["direct", true, undefined],
  );
  assert.equal(await judge(1, "drop"), undefined);
  assert.deepEqual((await sets.saved()).map(({ id }) => id), [prompts[0]!.id, prompts[2]!.id]);
});

Deno.test("PromptSets.save() keeps expected arguments, of prompts that call the tool", async () => {
  await using sets = await openSets();
  const expectedBehavior = { expectedArguments: { city: "Rome" } };
  const [first] = (await sets.save([{ ...PROMPTS[0], expectedBehavior }])).prompts;
  assert.deepEqual(first?.expectedBehavior.expectedArguments, { city: "Rome" });
  const again = (await sets.save([{ ...PROMPTS[0], expectedBehavior }])).prompts[0];
  assert.equal(again?.version, 1);
  const other = { expectedArguments: { city: "Oslo" } };
  const changed = (await sets.save([{ ...PROMPTS[0], expectedBehavior: other }])).prompts[0];
  assert.equal(changed?.version, 2);
  const error = await failure(
    sets.save([{ ...PROMPTS[2], expectedBehavior }]),
    "INVALID_ARGUMENTS",
  );
  assert.match(error.message, /negative prompt calls no tool that expectedArguments/);
});
