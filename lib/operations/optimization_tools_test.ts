import assert from "node:assert/strict";
import { CANONICAL } from "../core/optimization.ts";
import { EVERYONE } from "../core/access.ts";
import { RESTART_NOTE } from "../optimizer/report.ts";
import { failure } from "../storage/testing/failures.ts";
import { BUILTIN_NAMES } from "../mcp/builtin_names.ts";
import { type BuiltinTool, callBuiltin, describeBuiltin } from "../mcp/builtin_tool.ts";
import {
  draft,
  GOOD,
  openOptimization,
  PROMPTS,
  report,
} from "../mcp/testing/open_optimization.ts";

const FORECAST = { server: "weather", tool: "forecast" };
/** What a client pays for all of them, at four characters a token. */
const MOST_TOKENS = 2_150;
const NEXT = /\n[A-Z].* with \w+\.$/;

Deno.test("the tools of optimization are fourteen reserved names, four of them gated, and cost little", async () => {
  await using opened = await openOptimization();
  const all = opened.tools;
  const isGated = ({ admit }: BuiltinTool) => admit !== undefined;
  assert.deepEqual(all.filter((tool) => !isGated(tool)).map(({ name }) => name).sort(), [
    "cancel_optimization_job",
    "get_canonical_tools",
    "get_eval_results",
    "get_optimization_job",
    "get_optimization_report",
    "promote_candidate",
    "propose_candidate",
    "record_eval_run",
    "revert_optimization",
    "save_golden_prompts",
  ]);
  assert.deepEqual(all.filter(isGated).map(({ name }) => name).sort(), [
    "evaluate_candidate",
    "generate_candidates",
    "generate_golden_prompts",
    "optimize_tools",
  ]);
  for (const { name } of all) assert.ok(BUILTIN_NAMES.includes(name), name);
  const listed = JSON.stringify({ tools: all.map((tool) => describeBuiltin(tool, EVERYONE)) });
  assert.ok(listed.length > 2_000, "nothing was counted");
  assert.ok(listed.length / 4 <= MOST_TOKENS, `${listed.length / 4} tokens`);
});

Deno.test("tools that spend model time say how to switch them on, whatever the arguments", async () => {
  await using opened = await openOptimization({ isEnabled: false });
  for (const tool of opened.tools.filter(({ admit }) => admit !== undefined)) {
    const scope = {
      id: 1,
      method: "tools/call",
      params: { name: tool.name },
      text: "",
      signal: new AbortController().signal,
      send: () => {},
    };
    const port = {
      profile: { protocolVersion: "2025-11-25", capabilities: {} },
      principal: EVERYONE,
      push: () => {},
      ask: (text: string) => text,
    };
    const error = await failure(callBuiltin(tool, scope, port), "OPTIMIZATION_DISABLED");
    const steps = error.toBody().recoverySteps.join("\n");
    assert.match(steps, /--enable-optimization/);
    assert.match(steps, /`quartermaster optimize enable`/);
    assert.match(steps, /console's settings/);
  }
  const { text } = await opened.call("get_optimization_report");
  assert.doesNotMatch(text, /optimize_tools/, "what cannot be called is not advised");
});

Deno.test("get_canonical_tools gives the server's own definitions, also under a promotion", async () => {
  await using opened = await openOptimization();
  const { admin, call } = opened;
  const { candidateId } = await draft(opened);
  await admin.promote({ ...FORECAST, candidateId, reason: "Because" }, "person");
  const { text, data } = await call("get_canonical_tools", { server: "weather" });
  assert.deepEqual(data.tools, [
    { name: "forecast", description: "Does forecast", inputSchema: { type: "object" } },
    { name: "alerts", description: "Does alerts", inputSchema: { type: "object" } },
  ]);
  assert.match(text, /"Does forecast"/);
  assert.match(text, NEXT);
  const none = await failure(call("get_canonical_tools", { server: "empty" }), "NOT_FOUND");
  assert.equal(none.message, "No canonical tools found - have you connected to the server?");
});

Deno.test("propose_candidate counts characters by itself", async () => {
  await using opened = await openOptimization();
  const propose = (description: string) =>
    opened.call("propose_candidate", { ...FORECAST, description });
  const { text, data } = await propose(GOOD);
  assert.equal(data.charCount, GOOD.length);
  assert.match(String(data.candidateId), /^cand_/);
  assert.match(text, NEXT);
  const long = await failure(propose("é".repeat(295)), "INVALID_ARGUMENTS");
  assert.equal(long.message, "Candidate exceeds 280 character limit (got 295)");
});

Deno.test("save_golden_prompts gives the ids that runs are reported with, and warns of gaps", async () => {
  await using opened = await openOptimization();
  const prompts = PROMPTS.slice(0, 2).map((prompt) => ({
    ...prompt,
    id: "p1",
    toolName: "forecast",
    expectedBehavior: { shouldCallTool: true },
  }));
  const save = (prompts: unknown) => opened.call("save_golden_prompts", { ...FORECAST, prompts });
  await failure(save(prompts), "INVALID_ARGUMENTS");
  const { text, data } = await save([prompts[0], { ...prompts[1], id: "p2" }]);
  assert.equal(data.saved, 2);
  assert.match(text, /^Saved 2 prompts for weather\.forecast:\n- p1 \(direct\): Get the/);
  assert.match(text, /\n⚠️ Warning: No negative prompts defined - /);
  assert.match(text, NEXT);
  const report = async () =>
    (await opened.call("get_optimization_report", { server: "weather" })).data;
  const standing = /"name":"forecast"[^}]*"status":"(\w+)"/;
  assert.equal(standing.exec(JSON.stringify(await report()))?.[1], "unoptimized");
  for (const promptId of ["p1", "p2"]) {
    const result = { toolCalled: true, durationMs: 9 };
    await opened.call("record_eval_run", {
      ...{ server: "weather", candidateId: "canonical", promptId, result },
    });
  }
  assert.equal(standing.exec(JSON.stringify(await report()))?.[1], "baseline");
  const [first] = prompts;
  const replaced = { ...FORECAST, prompts: [first] };
  const again = await opened.call("save_golden_prompts", { ...replaced, mode: "merge" });
  assert.equal(again.data.retired, undefined);
  // As the set of a file: what is saved again takes its place.
  const done = await opened.call("save_golden_prompts", replaced);
  assert.deepEqual([done.data.saved, done.data.retired], [1, 1]);
  assert.match(done.text, /^Saved 1 prompt for weather\.forecast, retired 1 other:/);
  const gone = opened.call("record_eval_run", {
    ...{ server: "weather", candidateId: "canonical", promptId: "p2" },
    result: { toolCalled: true, durationMs: 9 },
  });
  await failure(gone, "NOT_FOUND");
});

Deno.test("record_eval_run says when the caller judged otherwise than the prompt does", async () => {
  await using opened = await openOptimization();
  const { candidateId, promptIds: [direct, , negative] } = await draft(opened);
  const record = (promptId: string | undefined, result: Record<string, unknown>) =>
    opened.call("record_eval_run", { server: "weather", candidateId, promptId, result });
  const right = await record(direct, { toolCalled: true, correct: true, durationMs: 9 });
  assert.match(
    right.text,
    /^Recorded run run_\w+: correct\.\nFor the candidate .* report the other/,
  );
  const wrong = await record(negative, { toolCalled: true, correct: true, durationMs: 9 });
  assert.match(wrong.text, /: incorrect\.\n⚠️ Warning: You reported correct, /);
  assert.deepEqual(Object.keys(wrong.data).sort(), ["correct", "isError", "runId", "warnings"]);
  const failed = { toolCalled: false, correct: false, error: "timed out", durationMs: 9 };
  assert.match((await record(negative, failed)).text, /: error, not counted\./);
});

Deno.test("get_eval_results names what may be promoted, and what is missing", async () => {
  await using opened = await openOptimization();
  const { call } = opened;
  const { candidateId, promptIds: [direct = "", indirect = "", negative = ""] } = await draft(
    opened,
  );
  const ask = () => call("get_eval_results", FORECAST);
  const none = await ask();
  assert.match(none.text, /^No evaluation runs found - run evaluations first\nweather\.forecast:/);
  for (const id of [candidateId, CANONICAL]) {
    await report(opened, id, direct, id !== CANONICAL);
    await report(opened, id, negative, false);
  }
  assert.match((await ask()).text, new RegExp(`${candidateId} has no run for ${indirect}`));
  for (const id of [candidateId, CANONICAL]) {
    await report(opened, id, indirect, id !== CANONICAL);
  }
  const { text, data } = await ask();
  assert.match(
    text,
    /canonical \(quick, reported by the caller\): direct 0 %, .* overall 1\/3 \(33/,
  );
  assert.match(text, /direct 100 %, indirect 100 %, negative 100 %, overall 3\/3 \(100 %, 95 %/);
  assert.ok(!text.includes("promote_candidate"), "a report alone promotes nothing");
  assert.ok(Array.isArray(data.candidates) && data.candidates.length === 2);
  await call("evaluate_candidate", { ...FORECAST, candidateId, depth: "quick" });
  const quick = await ask();
  assert.ok(!quick.text.includes("promote_candidate"), "a quick look only proposes");
  assert.match(
    quick.text,
    /Proposed, not confirmed: .*gain \+66\.7 points \(95 % interval -6 to 94\)/,
  );
  opened.state.isWriting = true;
  await call("evaluate_candidate", { ...FORECAST, candidateId });
  const measured = await ask();
  assert.ok(
    measured.text.includes(`Promote ${candidateId} for forecast with promote_candidate.`),
  );
});

Deno.test("promote_candidate and revert_optimization say that running clients may lag behind", async () => {
  await using opened = await openOptimization();
  const { call, shown } = opened;
  const { candidateId } = await draft(opened);
  const promote = () => call("promote_candidate", { ...FORECAST, candidateId });
  await failure(promote(), "PROMOTION_REFUSED");
  opened.state.isWriting = true;
  await call("evaluate_candidate", { ...FORECAST, candidateId });
  const { text, data } = await promote();
  assert.equal(data.promoted, true);
  assert.deepEqual(data.metrics, {
    directSuccess: 1,
    indirectSuccess: 1,
    negativeSuccess: 1,
    overall: 1,
  });
  assert.equal(shown(), GOOD);
  assert.ok(text.includes(RESTART_NOTE));
  assert.match(text, /Promote: confirmed, thorough evidence from \d+ prompts .* gain \+\d+/);
  const summary = await call("get_optimization_report", { server: "weather" });
  assert.ok(summary.text.includes(RESTART_NOTE));
  assert.match(summary.text, NEXT);
  const reverted = await call("revert_optimization", FORECAST);
  assert.ok(reverted.text.includes(RESTART_NOTE));
  assert.deepEqual([reverted.data.promotionId, reverted.data.candidateId], [null, null]);
  assert.equal(shown(), "Does forecast");
});

Deno.test("revert_optimization goes back to an earlier promotion, and says which there are", async () => {
  await using opened = await openOptimization();
  const { admin, call, shown } = opened;
  const { candidateId } = await draft(opened);
  const other = await admin.propose({ ...FORECAST, description: "Another text" }, "caller");
  const reason = "A trial";
  const { id } = await admin.promote({ ...FORECAST, candidateId, reason }, "person");
  await admin.promote({ ...FORECAST, candidateId: other.id, reason }, "person");
  assert.equal(shown(), "Another text");
  const { text, data } = await call("revert_optimization", { ...FORECAST, to: id });
  assert.equal(shown(), GOOD);
  assert.ok(text.startsWith(`weather.forecast is back to ${candidateId}: ${GOOD}`), text);
  assert.deepEqual([data.reverted, data.candidateId], [true, candidateId]);
  const unknown = await failure(
    call("revert_optimization", { ...FORECAST, to: "promotion_none" }),
    "NOT_FOUND",
  );
  assert.ok(unknown.details.hint?.includes(`${id} (`), unknown.details.hint);
  assert.equal(shown(), GOOD);
});

Deno.test("generate_candidates uses the calling client's model where it lends it", async () => {
  await using opened = await openOptimization();
  const { call, state } = opened;
  const written = JSON.stringify({ candidates: [{ description: GOOD }] });
  const sample = () =>
    Promise.resolve({ role: "assistant", model: "m", content: { type: "text", text: written } });
  const { text, data } = await call("generate_candidates", { ...FORECAST, count: 1 }, { sample });
  assert.ok(Array.isArray(data.candidateIds) && data.candidateIds.length === 1);
  assert.ok(text.includes(`(${GOOD.length} characters): ${GOOD}`));
  assert.match(text, NEXT);
  assert.deepEqual(state.asked, [], "the gateway's own model is not asked");
});

Deno.test("generate_golden_prompts uses the gateway's model where the client lends none", async () => {
  await using opened = await openOptimization();
  const { call, state } = opened;
  state.written.push(JSON.stringify({ prompts: PROMPTS }));
  const counts = { directCount: 1, indirectCount: 1, negativeCount: 1 };
  const { text, data } = await call("generate_golden_prompts", { ...FORECAST, ...counts });
  assert.equal(data.saved, 3, text);
  assert.match(text, NEXT);
});

Deno.test("evaluate_candidate waits for the result", async () => {
  await using opened = await openOptimization();
  const { call, shown } = opened;
  const { candidateId } = await draft(opened);
  const how = { ...FORECAST, candidateId, depth: "quick" };
  const { text, data } = await call("evaluate_candidate", how);
  assert.match(text, /canonical \(quick, measured\): direct 0 %/);
  assert.match(text, new RegExp(`${candidateId} \\(quick, measured\\): direct 100 %`));
  assert.match(text, /has completed/);
  assert.match(text, /instead of forecast: \(none\) 2 times/);
  assert.match(text, /the gateway's search ranks it first for \d of 2 prompts that should call it/);
  assert.ok(Array.isArray(data.candidates) && data.candidates.length === 2);
  const { confusion, ranks } = data.candidates[1];
  assert.deepEqual(confusion, { forecast: { forecast: 2 }, "(none)": { "(none)": 1 } });
  assert.equal(ranks.length, 3, "one for every prompt");
  await failure(call("promote_candidate", { ...FORECAST, candidateId }), "PROMOTION_REFUSED");
  opened.state.isWriting = true;
  const confirmed = await call("evaluate_candidate", { ...FORECAST, candidateId });
  assert.match(confirmed.text, new RegExp(`${candidateId} \\(thorough, measured\\): direct 100 %`));
  assert.equal(shown(), "Does forecast", "nothing is promoted by itself");
  await call("promote_candidate", { ...FORECAST, candidateId });
  assert.equal(shown(), GOOD);
});

Deno.test("evaluate_candidate gives the job where it takes longer than the wait, and that can be cancelled", async () => {
  await using opened = await openOptimization();
  const { call, state } = opened;
  const { candidateId } = await draft(opened);
  state.isHanging = state.isWriting = true;
  const { text, data } = await call("evaluate_candidate", { ...FORECAST, candidateId, wait: 0 });
  const { id: jobId } = Object(data.job);
  assert.ok(text.includes(`Check job ${jobId} again with get_optimization_job.`), text);
  assert.match((await call("get_optimization_job", { jobId })).text, /is running: /);
  const cancelled = await call("cancel_optimization_job", { jobId });
  assert.match(cancelled.text, /was cancelled: /);
  assert.match(cancelled.text, /See the results with get_eval_results\./);
});

Deno.test("evaluate_candidate tells a client that waits how far its job is", async () => {
  await using opened = await openOptimization();
  const { call, state, jobs } = opened;
  const { candidateId } = await draft(opened);
  state.isHanging = state.isWriting = true;
  const told: string[] = [];
  const progress = (message: string) => void told.push(message);
  const input = { ...FORECAST, candidateId, depth: "quick", wait: 0.05 };
  const { data } = await call("evaluate_candidate", input, { progress });
  assert.match(told.join("\n"), /Waiting to start|Writing prompts|Testing/);
  await jobs.cancel(Object(data.job).id);
});

Deno.test("optimize_tools starts a job with its estimate, and get_optimization_job tells its end", async () => {
  await using opened = await openOptimization();
  const { call, jobs } = opened;
  await draft(opened);
  opened.state.isWriting = true;
  await failure(call("optimize_tools"), "INVALID_ARGUMENTS");
  const { text, data } = await call("optimize_tools", {
    server: "weather",
    tools: ["forecast"],
    candidatesPerTool: 1,
    promptsPerCategory: 30,
    threshold: 90,
  });
  assert.match(
    text,
    /^Estimate: 1 tool, about .*: can find gains of \d+ points or more with 90 prompts; .*usually about/,
  );
  const { id, options } = Object(data.job);
  assert.equal(options.thresholds.minOverall, 0.9);
  assert.ok(text.includes(`Check job ${id} again with get_optimization_job.`), text);
  await jobs.wait(id, 30_000, new AbortController().signal);
  const done = await call("get_optimization_job", { jobId: id });
  assert.ok(done.text.includes(RESTART_NOTE), done.text);
  await failure(call("get_optimization_job", { jobId: "job_none" }), "NOT_FOUND");
  await failure(call("cancel_optimization_job", { jobId: "job_none" }), "NOT_FOUND");
});

Deno.test("optimize_tools lets no caller ask for less than the gateway does", async () => {
  await using opened = await openOptimization();
  const { call, jobs } = opened;
  await draft(opened);
  const start = (threshold: number) =>
    call("optimize_tools", { server: "weather", tools: ["forecast"], threshold });
  for (const threshold of [1, 1.5, 0.5, 84.9]) {
    const error = await failure(start(threshold), "INVALID_ARGUMENTS");
    assert.match(error.message, /the minimum for callers is 85 %$/);
  }
  assert.deepEqual(await jobs.list(), []);
  for (const threshold of [0.9, 100]) {
    const { id, options } = Object((await start(threshold)).data.job);
    assert.equal(options.thresholds.minOverall, threshold < 1 ? threshold : threshold / 100);
    await jobs.wait(id, 30_000, new AbortController().signal);
  }
});

Deno.test("evaluate_candidate and optimize_tools pass on repeats and the equipped toolset", async () => {
  await using opened = await openOptimization({ equipped: { shop: ["forecast", "refund"] } });
  const { call, evaluations } = opened;
  const { candidateId } = await draft(opened);
  const how = { repeats: 2, withToolset: true, depth: "quick" };
  const { data } = await call("evaluate_candidate", { ...FORECAST, candidateId, ...how });
  const { repeats, withToolset, depth } = Object(data.job).options;
  assert.deepEqual([repeats, withToolset, depth], [2, true, "quick"]);
  const [evaluation] = await evaluations.list("weather");
  assert.deepEqual([evaluation?.repeats, evaluation?.beside], [
    2,
    ["shop_forecast", "shop_refund"],
  ]);
  const job = Object((await call("optimize_tools", { server: "weather", ...how })).data.job);
  assert.deepEqual([job.options.repeats, job.options.withToolset], [2, true]);
  const results = await call("get_eval_results", { server: "weather" });
  assert.match(results.text, /measured, alongside 2 tools of other servers\): /);
  const { text } = await call("get_optimization_report", { server: "weather" });
  assert.match(text, /quick, 3 prompts, alongside 2 tools of other servers/);
});

Deno.test("evaluate_candidate refuses to show an equipped toolset where none is", async () => {
  await using opened = await openOptimization();
  const { candidateId } = await draft(opened);
  const asked = opened.call("evaluate_candidate", { ...FORECAST, candidateId, withToolset: true });
  const error = await failure(asked, "INVALID_ARGUMENTS");
  assert.match(
    error.message,
    /^Cannot include the equipped toolset's tools: no toolset is equipped/,
  );
  assert.match(error.toBody().recoveryAction, /Equip a toolset .* or test without one/);
});
