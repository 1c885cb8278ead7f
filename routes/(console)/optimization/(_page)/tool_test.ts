import assert from "node:assert/strict";
import { confirmCandidate, draft, GOOD } from "../../../../lib/mcp/testing/open_optimization.ts";
import { type ToolOptimizationPage, toolOptimizationPage } from "./tool.ts";
import { optimizationGateway } from "../../../../lib/console/testing/optimization_gateway.ts";

const NAMED = { server: "weather", tool: "forecast" };
type Opened = Awaited<ReturnType<typeof optimizationGateway>>;

async function open({ gateway }: Opened, query = ""): Promise<ToolOptimizationPage> {
  const input = { ...NAMED, query: new URLSearchParams(query) };
  const found = await toolOptimizationPage(gateway, input);
  assert.ok(!("missing" in found));
  return found;
}

Deno.test("toolOptimizationPage() compares the best candidate before one is promoted", async () => {
  await using opened = await optimizationGateway();
  await opened.admin.propose({ ...NAMED, description: "Nothing in particular" }, "person");
  await draft(opened);
  await opened.evaluate();
  const { comparison, status, candidates, baseline } = await open(opened);
  assert.deepEqual(baseline?.overall, { correct: 1, total: 3 });
  assert.equal(status, "baseline");
  assert.equal(comparison?.candidate.description, GOOD);
  assert.match(comparison.candidate.refusal ?? "", /^Proposed, not confirmed/);
  assert.equal(comparison.verdict?.proposed, true);
  assert.equal(comparison.tested, "Tested against 3 prompts (1 direct, 1 indirect, 1 negative)");
  assert.match(comparison.how ?? "", /^Quick evidence, not confirmed, once each, by messages-api/);
  assert.equal(comparison.scores.at(-1)?.after?.short, "3/3 (100 %)");
  assert.deepEqual(candidates.map(({ isBest }) => isBest), [false, true]);
  const ranked = comparison.ranks.map(({ category }) => category);
  assert.ok(ranked.includes("direct") && ranked.includes("indirect"));
  assert.ok(comparison.warnings.every((warning) => !/cand_/.test(warning)));
  const matrix = comparison.confusion?.after;
  assert.deepEqual(matrix?.rows.map(({ should, counts }) => [should, counts.map((c) => c.count)]), [
    ["forecast", [2, 0]],
    ["(none)", [0, 1]],
  ]);
});

Deno.test("toolOptimizationPage() shows a candidate that is named in the address", async () => {
  await using opened = await optimizationGateway();
  const { id } = await opened.admin.propose({ ...NAMED, description: "Another one" }, "person");
  await draft(opened);
  await opened.evaluate();
  const { comparison } = await open(opened, `candidate=${id}`);
  assert.equal(comparison?.candidate.id, id);
  assert.match(comparison.candidate.refusal ?? "", /Do not promote/);
});

Deno.test("toolOptimizationPage() calls no candidate the best if no verdict allows promotion", async () => {
  await using opened = await optimizationGateway();
  const { candidateId } = await draft(opened, "Another one");
  await opened.evaluate();
  const { candidates } = await open(opened);
  assert.deepEqual(candidates.map(({ id, isBest }) => [id, isBest]), [[candidateId, false]]);
  assert.match(candidates[0]?.refusal ?? "", /Do not promote/);
});

Deno.test("toolOptimizationPage() has numbers and verdict of what is in force from the same evidence", async () => {
  await using opened = await optimizationGateway();
  const { candidateId } = await draft(opened);
  await confirmCandidate(opened, candidateId);
  await opened.admin.promote({ ...NAMED, candidateId }, "person");
  const { candidates: [candidate], comparison } = await open(opened);
  const { correct, total } = candidate?.evidence?.metrics.overall ?? {};
  assert.equal(correct, total);
  const words = candidate?.evidence?.verdict?.words ?? "";
  assert.match(words, new RegExp(`overall ${correct}/${total} `));
  assert.deepEqual([candidate?.refusal, comparison?.verdict?.words], [undefined, words]);
  assert.match(comparison?.how ?? "", /^Thorough evidence, once each, by messages-api/);
  // The server's own text is another one: what it was promoted on stands.
  opened.describe("Does other things");
  const stale = (await open(opened)).candidates[0];
  assert.deepEqual([stale?.evidence?.metrics, stale?.refusal], [
    candidate?.evidence?.metrics,
    undefined,
  ]);
});

Deno.test("toolOptimizationPage() keeps a whole baseline over one that was cut short", async () => {
  await using opened = await optimizationGateway();
  await draft(opened);
  await opened.evaluate();
  const options = { autoPromote: false, generate: false, maxRuns: 2 };
  const job = await opened.jobs.start({
    server: "weather",
    tools: ["forecast"],
    options,
    by: "person",
  });
  await opened.jobs.wait(job.id, 10_000, AbortSignal.timeout(10_000));
  assert.deepEqual((await open(opened)).baseline?.overall, { correct: 1, total: 3 });
  opened.describe("Does other things");
  const { status, baseline } = await open(opened);
  assert.deepEqual([status, baseline], ["unoptimized", undefined], "as the report has it");
});

Deno.test("toolOptimizationPage() shows how a promotion became stale", async () => {
  await using opened = await optimizationGateway();
  const { candidateId } = await draft(opened);
  await opened.admin.promote({ ...NAMED, candidateId, reason: "a trial" }, "person");
  assert.equal((await open(opened)).stale, undefined);
  opened.describe("Does other things");
  const { stale, promotion, comparison, status } = await open(opened);
  assert.ok(
    stale?.segments?.some(({ kind, text }) => kind === "added" && /other things/.test(text)),
  );
  assert.deepEqual([status, promotion?.reason], ["optimized", "a trial"]);
  assert.equal(comparison?.candidate.isInForce, true);
});

Deno.test("toolOptimizationPage() shows the runs of the description that is asked for", async () => {
  await using opened = await optimizationGateway();
  await draft(opened);
  await opened.evaluate();
  const { prompts } = await open(opened, "tab=prompts");
  assert.equal(prompts.rate?.short, "3/3 (100 %)");
  assert.equal((await open(opened, "of=canonical")).tab, "prompts");
  const own = (await open(opened, "of=canonical")).prompts;
  assert.equal(own.rate?.short, "1/3 (33 %)");
  const [direct] = own.groups;
  assert.equal(direct?.score, "0/1 (0 %)");
  assert.equal(direct.prompts[0]?.state, "failed");
  assert.equal(direct.prompts[0]?.runs[0]?.text, "no tool called");
  // A prompt that was edited has not been tried as it is now.
  const id = direct.prompts[0]?.prompt.id ?? "";
  await opened.admin.prompts.edit({ ...NAMED, id, prompt: "Weather for Rome, please" });
  const edited = (await open(opened, "of=canonical")).prompts.groups[0]?.prompts[0];
  assert.deepEqual([edited?.isChanged, edited?.state, edited?.runs], [true, undefined, []]);
});

Deno.test("toolOptimizationPage() fills in a prompt that comes with the address", async () => {
  await using opened = await optimizationGateway();
  const query = new URLSearchParams({ prompt: "Is it raining?", category: "indirect" });
  const { tab, typed } = await open(opened, query.toString());
  assert.equal(tab, "prompts");
  assert.deepEqual(typed, { prompt: "Is it raining?", category: "indirect" });
  assert.deepEqual((await open(opened, "prompt=x&category=none")).typed, { prompt: "x" });
});

Deno.test("toolOptimizationPage() names what may have been meant", async () => {
  await using opened = await optimizationGateway();
  const input = { server: "weather", tool: "forcast", query: new URLSearchParams() };
  const found = await toolOptimizationPage(opened.gateway, input);
  assert.deepEqual(found, { missing: "forcast", nearest: ["forecast"] });
});

Deno.test("toolOptimizationPage() shows how descriptions of parameters differ, then and now", async () => {
  await using opened = await optimizationGateway();
  opened.describe("Own", { city: { description: "City name" }, day: {} });
  const parameters = { city: "City name, in any spelling", day: "Like 2026-01-31" };
  const { id } = await opened.admin.propose({ ...NAMED, description: GOOD, parameters }, "person");
  const before = await open(opened);
  assert.deepEqual(before.parameters, [{ path: "city", text: "City name" }, {
    path: "day",
    text: "",
  }]);
  const added = (page: ToolOptimizationPage) =>
    page.candidates[0]?.parameterDiffs.map(({ path, segments }) => [
      path,
      segments.filter(({ kind }) => kind === "added").map(({ text }) => text).join("").trim(),
    ]);
  const diffs = [["city", ", in any spelling"], ["day", "Like 2026-01-31"]];
  assert.deepEqual(added(before), diffs);
  await opened.admin.promote({ ...NAMED, candidateId: id, reason: "a test" }, "person");
  assert.deepEqual(added(await open(opened)), diffs, "against the server's own");
  opened.describe("Own", { city: { description: "Name of a city" }, day: {} });
  const { stale } = await open(opened);
  assert.equal(stale?.segments, undefined);
  assert.deepEqual(stale?.parameterDiffs.map(({ path }) => path), ["city"]);
});
