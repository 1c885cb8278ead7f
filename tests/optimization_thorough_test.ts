import assert from "node:assert/strict";
import * as z from "zod";
import { CANONICAL, OptimizationJob } from "../lib/core/optimization.ts";
import { OptimizationReport } from "../lib/core/optimization_report.ts";
import { type EndpointClient, must } from "./combined_endpoints.ts";
import { findBooksOf, heldOutOf, optimizeSays } from "./fixtures/library_numbers.ts";
import { LIBRARY_PROMPTS, LIBRARY_WRITES } from "./fixtures/library_prompts.ts";
import { LIBRARY_TOOLS } from "./fixtures/library_server.ts";
import { openShop, SHOP_PROMPT } from "./fixtures/shop.ts";
import {
  countsText,
  ended,
  eventually,
  GOOD,
  GREEDY,
  jobOf,
  Lab,
  PROMPTS,
  propose,
  resultOf,
  savePrompts,
  startJob,
  VAGUE,
} from "./optimization.ts";

const NAMED = { server: "library", tool: "find_books" };
const Estimate = z.looseObject({ runs: z.number(), basis: z.string() });
/** Right for its own prompts, and takes those of `list_loans`. */
const TAKES_LOANS = `${GOOD.replace(/ Not for .*/, "")} Lists the loans of a member, and when due.`;

/** Has a candidate evaluated to the end. */
async function evaluate(
  manager: EndpointClient,
  candidateId: string,
  how: Record<string, unknown> = {},
): Promise<OptimizationJob> {
  const input = { tool: "find_books", candidateId, wait: 0, ...how };
  return await ended(manager, await startJob(manager, "evaluate_candidate", input));
}

async function reportOf(manager: EndpointClient): Promise<OptimizationReport> {
  const { data } = await manager.call("get_optimization_report", { server: "library" });
  return z.array(OptimizationReport).parse(data.reports)[0]!;
}

Deno.test("a thorough evaluation puts fresh prompts to both descriptions, once each, until it can tell", async () => {
  await using lab = await Lab.open({ writes: LIBRARY_WRITES });
  await using manager = await lab.manager();
  await savePrompts(manager, LIBRARY_PROMPTS);
  const good = await propose(manager, GOOD);
  const { status, runs, errors, tools } = await evaluate(manager, good);
  assert.deepEqual({ status, errors }, { status: "completed", errors: 0 }, tools[0]?.outcome);
  const asked = lab.seen.filter(({ isWriting }) => !isWriting);
  assert.deepEqual([runs, tools[0]?.runsDone, tools[0]?.runsTotal], Array(3).fill(asked.length));
  // Its author may know those that were saved before it: none of them decides.
  assert.ok(LIBRARY_PROMPTS.every(({ prompt }) => lab.given(prompt).length === 0));
  // One run for each prompt and description; two are made at once, so that one may be over.
  const pairs = [...new Set(asked.map((seen) => seen.prompt))].map((prompt) => lab.given(prompt));
  const whole = pairs.filter(({ length }) => length === 2);
  assert.ok(pairs.length - whole.length <= 1);
  assert.deepEqual(new Set(whole.map((pair) => pair.sort().join("|"))).size, 1);
  assert.ok(runs < 100, `${runs} runs`);

  const { counts, evidence } = await resultOf(manager, good);
  assert.equal(counts.overall.correct, counts.overall.total);
  assert.equal(counts.overall.total, whole.length);
  const prompted = whole.length;
  const { promote, confirmed, words, gain } = evidence!.verdict!;
  assert.deepEqual([promote, confirmed], [true, true], words);
  assert.ok(gain!.low > 0 && gain!.prompts === counts.overall.total);
  assert.match(
    words,
    new RegExp(`^Promote: confirmed, thorough evidence from ${prompted} prompts`),
  );
  const { counts: before } = await resultOf(manager, CANONICAL);

  const { totalEvals, tools: [reported] } = await reportOf(manager);
  assert.deepEqual(
    [totalEvals, reported?.status, reported?.depth, reported?.prompts, reported?.before],
    [runs, "baseline", "thorough", prompted, before],
  );
  const page = await (await fetch(`${lab.gateway.url}/optimization/library/find_books`)).text();
  assert.match(page, new RegExp(`${prompted} prompts`));
  assert.match(page, /Promote: it is confirmed and passes every rule/);
  assert.match(page, /points \(95 % interval \d+ to \d+\)/);

  await must(manager, "promote_candidate", { ...NAMED, candidateId: good });
  const { depth, prompts, after } = (await reportOf(manager)).tools[0]!;
  assert.deepEqual([depth, prompts, after], ["thorough", prompted, counts]);
});

Deno.test("prompts that were saved after a candidate are fresh for it, and no others are written", async () => {
  await using lab = await Lab.open({});
  await using manager = await lab.manager();
  const good = await propose(manager, GOOD);
  const all = LIBRARY_WRITES.find_books!.prompts;
  await savePrompts(
    manager,
    (["direct", "indirect", "negative"] as const).flatMap((category) =>
      all.filter((prompt) => prompt.category === category).slice(0, 26)
    ),
  );
  const { tools: [tool] } = await evaluate(manager, good);
  assert.equal((await resultOf(manager, good)).evidence?.verdict?.promote, true, tool?.outcome);
  const known = new Set(all.map(({ prompt }) => prompt));
  const asked = lab.seen.filter(({ isWriting }) => !isWriting);
  assert.ok(asked.every(({ prompt }) => known.has(prompt)));
});

Deno.test("what no fresh prompts can be had for is not tested thoroughly, and costs nothing", async () => {
  await using lab = await Lab.open({});
  await using manager = await lab.manager();
  await savePrompts(manager, LIBRARY_PROMPTS);
  const candidateId = await propose(manager, GOOD);
  const { tools: [tool], runs } = await evaluate(manager, candidateId);
  assert.deepEqual([tool?.failed, runs], [true, 0]);
  assert.match(tool?.outcome ?? "", /all direct and indirect and negative prompts may have been/);
});

Deno.test("a thorough job writes candidates without the prompts that decide, and promotes one", async () => {
  const candidates = [VAGUE, GREEDY, GOOD].map((description) => ({ description }));
  await using lab = await Lab.open({
    writes: { ...LIBRARY_WRITES, find_books: { ...LIBRARY_WRITES.find_books, candidates } },
  });
  await using manager = await lab.manager();
  const { data, text } = await manager.call("optimize_tools", {
    server: "library",
    tools: ["find_books"],
    candidatesPerTool: 3,
  });
  const { runs: most, basis } = Estimate.parse(data.estimate);
  assert.match(basis, /^can find gains of \d+ points or more with 240 prompts; .*usually about/);
  assert.ok(text.includes(basis), "a client is told before it waits");
  const job = await ended(manager, OptimizationJob.parse(data.job).id);
  assert.match(job.tools[0]?.outcome ?? "", /^Promoted: overall \d+ % -> 100 %, \+\d/);

  const heldOut = await heldOutOf(lab.gateway.url);
  const orders = lab.seen.filter(({ isWriting, prompt }) =>
    isWriting && prompt.includes("descriptions")
  ).map(({ prompt }) => prompt);
  assert.ok(heldOut.length > 0 && orders.length > 0);
  assert.deepEqual(heldOut.filter((prompt) => orders.some((order) => order.includes(prompt))), []);

  const { evaluations: [evaluation] } = await findBooksOf(lab.gateway.url);
  assert.equal(evaluation?.runs, job.runs);
  assert.ok(job.runs < most / 3, String(job.runs));
  const verdicts = evaluation!.results.flatMap(({ verdict }) => verdict ?? []);
  assert.deepEqual(verdicts.map(({ promote }) => promote), [false, false, true]);
  assert.equal(evaluation?.alpha, 0.03);
});

Deno.test("a thorough evaluation goes on after kill -9 without repeating finished runs", async () => {
  const finished = 41;
  let isBroken = true;
  const asked = () => lab.seen.filter(({ isWriting }) => !isWriting);
  await using lab = await Lab.open({
    writes: LIBRARY_WRITES,
    fault: ({ isWriting }) =>
      isBroken && !isWriting && asked().length > finished ? { fault: "hang" } : undefined,
  });
  let jobId: string;
  let good: string;
  {
    await using manager = await lab.manager();
    good = await propose(manager, GOOD);
    const input = { tool: "find_books", candidateId: good, wait: 0 };
    jobId = await startJob(manager, "evaluate_candidate", input);
    await eventually(async () => {
      const hanging = lab.seen.filter(({ fault }) => fault).length;
      return hanging === 2 && (await jobOf(manager, jobId)).runs === finished || undefined;
    });
  }
  await lab.gateway.stop("SIGKILL");
  isBroken = false;
  await lab.start();
  await using manager = await lab.manager();
  const { status, runs } = await ended(manager, jobId);
  const interrupted = lab.seen.filter(({ fault }) => fault).length;
  assert.deepEqual({ status, runs }, { status: "completed", runs: asked().length - interrupted });
  const answered = asked().filter(({ fault }) => !fault);
  for (const prompt of new Set(answered.map((seen) => seen.prompt))) {
    const times = answered.filter((seen) => seen.prompt === prompt).length;
    assert.ok(times <= 2, prompt);
  }
  const { evidence } = await resultOf(manager, good);
  assert.equal(evidence?.verdict?.promote, true, evidence?.verdict?.words);
});

Deno.test("a thorough job keeps to its budget of runs, and concludes nothing from too few", async () => {
  await using lab = await Lab.open({ writes: LIBRARY_WRITES });
  await using manager = await lab.manager();
  const good = await propose(manager, GOOD);
  const { runs, note, tools: [tool] } = await ended(
    manager,
    await startJob(manager, "optimize_tools", {
      tools: ["find_books"],
      candidatesPerTool: 1,
      maxRuns: 20,
    }),
  );
  assert.deepEqual([runs, lab.seen.filter(({ isWriting }) => !isWriting).length], [20, 20]);
  assert.equal(note, "Ended early: the budget of 20 runs is used up");
  assert.match(tool?.outcome ?? "", /not enough evidence: .* of about \d+ runs completed/);
  const { evidence } = await resultOf(manager, good);
  assert.equal(evidence?.verdict?.promote, false);
});

Deno.test("a thorough verdict refuses what takes a sibling's prompts, which are written if it has none", async () => {
  await using lab = await Lab.open({ writes: LIBRARY_WRITES });
  await using manager = await lab.manager();
  const greedy = await propose(manager, TAKES_LOANS);
  await evaluate(manager, greedy);
  const { results } = (await findBooksOf(lab.gateway.url)).evaluations[0]!;
  const { confusion, verdict } = results.find(({ candidateId }) => candidateId === greedy)!;
  assert.ok(confusion.list_loans!.find_books! > 0);
  assert.equal(verdict?.promote, false, verdict?.words);
  assert.match(verdict.words, /prompts? meant for "list_loans"/);
});

Deno.test("an evaluation tells the same numbers everywhere", async () => {
  await using lab = await Lab.open({ writes: LIBRARY_WRITES });
  await using manager = await lab.manager();
  const vague = await propose(manager, VAGUE);
  const said = await optimizeSays(lab.folder, "evaluate", "library.find_books", vague, "--yes");
  const { counts: { overall }, evidence } = await resultOf(manager, vague);
  assert.match(
    evidence?.verdict?.words ?? "",
    new RegExp(`evidence from ${overall.total} prompts`),
  );
  assert.equal(z.looseObject({ prompts: z.number() }).parse(evidence).prompts, overall.total);
  assert.match(said, new RegExp(`^thorough evidence, ${overall.total} prompts`, "m"));
  assert.match(said, /^ {2}Overall .* 0 points \(95 % interval -\d+ to \d+\)$/m);
});

const QUICK = { depth: "quick" };
const WITH_TOOLSET = { ...QUICK, withToolset: true };

Deno.test("withToolset shows the equipped tools of other servers, whose calls are theirs", async () => {
  await using lab = await Lab.open({});
  await using shop = await openShop(lab.gateway.url, lab.folder);
  await using manager = await lab.manager();
  const good = await propose(manager, GOOD);
  const input = { ...NAMED, candidateId: good, ...WITH_TOOLSET };
  await savePrompts(manager, [...PROMPTS, { category: "negative", prompt: SHOP_PROMPT }]);
  const none = await manager.call("evaluate_candidate", input);
  assert.match(none.text, /Cannot include the equipped toolset's tools: no toolset is equipped/);
  await must(manager, "equip-toolset", { name: shop.toolset });
  await evaluate(manager, good, WITH_TOOLSET);
  const names = [...LIBRARY_TOOLS.map(({ name }) => `library_${name}`), ...shop.equipped];
  for (const { descriptions } of lab.seen) {
    assert.deepEqual(Object.keys(descriptions).sort(), names.sort());
  }
  assert.ok(lab.seen.some(({ called }) => called === "shop_find_books"));

  // A tool of the same name at another server is another tool.
  const { counts, runs } = await resultOf(manager, good);
  assert.equal(countsText(counts), "direct 2/2, indirect 2/2, negative 3/3");
  assert.deepEqual([...new Set(runs.map(({ correct }) => correct))], [true]);
  const { evaluations: [evaluation] } = await findBooksOf(lab.gateway.url);
  const called = evaluation!.results.map(({ confusion }) => Object.keys(confusion["(none)"] ?? {}));
  assert.deepEqual(called.flat(), ["shop.find_books", "shop.find_books"]);
  assert.deepEqual(shop.calls, []);

  const { evidence } = await resultOf(manager, good);
  assert.match(evidence?.verdict?.words ?? "", /; alongside 2 tools of other servers\): overall/);
  assert.equal((await reportOf(manager)).tools[0]?.beside, 2);
  const page = await (await fetch(`${lab.gateway.url}/optimization/library/find_books`)).text();
  assert.match(page, /Quick evidence, not confirmed, .*alongside 2 tools of other servers/);

  const before = lab.seen.length;
  await evaluate(manager, good, QUICK);
  for (const { descriptions } of lab.seen.slice(before)) {
    assert.equal(Object.keys(descriptions).length, LIBRARY_TOOLS.length);
  }
});

Deno.test("what is told of an evaluation with a toolset is told of the tools it had", async () => {
  await using lab = await Lab.open({});
  await using shop = await openShop(lab.gateway.url, lab.folder);
  await using manager = await lab.manager();
  const good = await propose(manager, GOOD);
  const expectedTool = "shop.find_books";
  await savePrompts(manager, [
    ...PROMPTS,
    { category: "negative", prompt: SHOP_PROMPT, expectedTool },
  ]);
  await evaluate(manager, good, QUICK);
  await must(manager, "equip-toolset", { name: shop.toolset });
  await evaluate(manager, good, WITH_TOOLSET);
  const { results } = (await findBooksOf(lab.gateway.url)).evaluations[0]!;
  const { counts, runs } = await resultOf(manager, good);
  const Run = z.looseObject({ otherTools: z.array(z.string()) });
  const others = new Set(runs.flatMap((run) => Run.parse(run).otherTools));
  assert.deepEqual(
    {
      isTold: others.has("shop_find_books"),
      confusion: results.at(-1)?.confusion[expectedTool],
      counts: countsText(counts),
    },
    {
      isTold: true,
      confusion: { [expectedTool]: 1 },
      counts: "direct 2/2, indirect 2/2, negative 3/3",
    },
  );
});
