import assert from "node:assert/strict";
import { z } from "zod";
import { CANONICAL, OptimizationJob, OptimizationReport } from "../lib/core/optimization.ts";
import { type EndpointClient, must } from "./combined_endpoints.ts";
import { findBooksOf, heldOutOf, optimizeSays } from "./fixtures/library_numbers.ts";
import { LIBRARY_PROMPTS } from "./fixtures/library_prompts.ts";
import { LIBRARY_TOOLS, POOR_DESCRIPTION } from "./fixtures/library_server.ts";
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
/** Twelve of each category, five of these held out. */
const HELD_OUT = 15;
/** The other negative ones, all of which name a sibling. */
const KNOWN_NEGATIVE = 7;
const REPEATS = 3;
const Estimate = z.looseObject({ runs: z.number(), basis: z.string() });
/** Right for its own prompts, and takes those of `list_loans`. */
const TAKES_LOANS = `${GOOD.replace(/ Not for .*/, "")} Lists the loans of a member, and when due.`;

const isForLoans = ({ expectedTool }: { expectedTool?: string }) => expectedTool === "list_loans";

/** Has a candidate evaluated to the end. */
async function evaluate(
  manager: EndpointClient,
  candidateId: string,
  how: Record<string, unknown> = { depth: "thorough" },
): Promise<OptimizationJob> {
  const input = { tool: "find_books", candidateId, wait: 0, ...how };
  return await ended(manager, await startJob(manager, "evaluate_candidate", input));
}

async function reportOf(manager: EndpointClient): Promise<OptimizationReport> {
  const { data } = await manager.call("get_optimization_report", { server: "library" });
  return z.array(OptimizationReport).parse(data.reports)[0]!;
}

Deno.test("a thorough evaluation is decided by held-out prompts, each asked three times", async () => {
  await using lab = await Lab.open({});
  await using manager = await lab.manager();
  const good = await propose(manager, GOOD);
  await savePrompts(manager, LIBRARY_PROMPTS);
  const { status, runs, errors, tools } = await evaluate(manager, good);
  assert.deepEqual({ status, errors }, { status: "completed", errors: 0 }, tools[0]?.outcome);
  assert.deepEqual([runs, tools[0]?.runsDone, tools[0]?.runsTotal], Array(3).fill(lab.seen.length));

  const heldOut = await heldOutOf(lab.gateway.url);
  assert.equal(heldOut.length, HELD_OUT);
  for (const { prompt, expectedTool } of LIBRARY_PROMPTS) {
    const given = lab.given(prompt);
    for (const description of [POOR_DESCRIPTION, GOOD]) {
      const times = given.filter((text) => text === description).length;
      const isAsked = heldOut.includes(prompt) || expectedTool !== undefined;
      assert.equal(times, isAsked ? REPEATS : 0, prompt);
    }
  }
  assert.equal(runs, (HELD_OUT + KNOWN_NEGATIVE) * 2 * REPEATS);

  const { counts, evidence } = await resultOf(manager, good);
  assert.equal(countsText(counts), "direct 15/15, indirect 15/15, negative 15/15");
  const { counts: before } = await resultOf(manager, CANONICAL);
  assert.equal(countsText(before), "direct 0/15, indirect 0/15, negative 15/15");
  assert.equal(counts.overall.prompts, HELD_OUT);
  const { promote, words, rules } = evidence!.verdict!;
  assert.equal(promote, true);
  assert.match(words, /thorough evidence from 15 prompts \(5 direct, 5 indirect, 5 negative; 90 /);
  assert.match(
    rules.find(({ rule }) => rule === "significance")?.words ?? "",
    /better on 10 prompts, worse on 0, same on 5 \(p < 0\.001\)/,
  );

  const { totalEvals, tools: [reported] } = await reportOf(manager);
  assert.deepEqual(
    [totalEvals, reported?.status, reported?.depth, reported?.prompts, reported?.before],
    [runs, "baseline", "thorough", HELD_OUT, before],
  );
  const page = await (await fetch(`${lab.gateway.url}/optimization/library/find_books`)).text();
  assert.match(page, /15 prompts/);
  assert.match(page, /[Tt]horough evidence/);
  assert.equal(
    (await optimizeSays(lab.folder, "show", "library.find_books")).match(/held out\)/g)?.length,
    15,
  );

  await must(manager, "promote_candidate", { ...NAMED, candidateId: good });
  const { depth, prompts, after } = (await reportOf(manager)).tools[0]!;
  assert.deepEqual([depth, prompts, after], ["thorough", HELD_OUT, counts]);
});

Deno.test("what was written in view of every prompt is not tested thoroughly, and costs nothing", async () => {
  await using lab = await Lab.open({});
  await using manager = await lab.manager();
  await savePrompts(manager, LIBRARY_PROMPTS);
  const candidateId = await propose(manager, GOOD);
  const input = { ...NAMED, candidateId, depth: "thorough" };
  const { isError, text } = await manager.call("evaluate_candidate", input);
  assert.equal(isError, true);
  assert.match(text, /all direct and indirect and negative prompts may have been visible/);
  assert.match(text, /1\. Save new prompts [^]*3\. Or use the depth quick/);
  const words = ["evaluate", "library.find_books", candidateId, "--depth", "thorough", "--yes"];
  assert.equal(await optimizeSays(lab.folder, ...words), "", "an estimate of what is refused");
  assert.equal(lab.seen.length, 0);
  assert.deepEqual(await heldOutOf(lab.gateway.url), []);
});

Deno.test("a thorough job writes candidates without the prompts that decide, and promotes one", async () => {
  const candidates = [VAGUE, GREEDY, GOOD].map((description) => ({ description }));
  await using lab = await Lab.open({ writes: { find_books: { candidates } } });
  await using manager = await lab.manager();
  await savePrompts(manager, LIBRARY_PROMPTS);
  const { data } = await manager.call("optimize_tools", {
    server: "library",
    tools: ["find_books"],
    candidatesPerTool: 3,
    depth: "thorough",
  });
  const { runs: most, basis } = Estimate.parse(data.estimate);
  assert.equal(most, (HELD_OUT + KNOWN_NEGATIVE) * (candidates.length + 1) * REPEATS);
  assert.match(basis, / and 1 request to generate text;/, "only candidates are missing");
  const job = await ended(manager, OptimizationJob.parse(data.job).id);
  assert.match(job.tools[0]?.outcome ?? "", /^Promoted: overall 33 % -> 100 %/);

  const heldOut = await heldOutOf(lab.gateway.url);
  assert.equal(heldOut.length, HELD_OUT);
  const orders = lab.seen.filter(({ isWriting }) => isWriting).map(({ prompt }) => prompt);
  assert.equal(orders.length, 1);
  const shown = LIBRARY_PROMPTS.filter(({ prompt }) => orders[0]?.includes(prompt));
  assert.ok(shown.length > 0);
  assert.deepEqual(shown.filter(({ prompt }) => heldOut.includes(prompt)), []);

  const { evaluations: [evaluation] } = await findBooksOf(lab.gateway.url);
  assert.equal(job.runs, lab.seen.length - orders.length);
  assert.deepEqual([evaluation?.runs, evaluation?.repeats], [job.runs, REPEATS]);
  // Those that cannot pass any more are given up, and three tries share what chance is allowed.
  assert.ok(job.runs < most, String(job.runs));
  const verdicts = evaluation!.results.flatMap(({ verdict }) => verdict ?? []);
  assert.deepEqual(verdicts.map(({ promote }) => promote), [false, false, true]);
  assert.match(verdicts[2]!.words, /because 3 candidates share 0\.05/);
});

Deno.test("a thorough evaluation goes on after kill -9 without repeating finished runs", async () => {
  const finished = 41;
  let isBroken = true;
  await using lab = await Lab.open({
    fault: () => isBroken && lab.seen.length > finished ? { fault: "hang" } : undefined,
  });
  let jobId: string;
  let good: string;
  {
    await using manager = await lab.manager();
    good = await propose(manager, GOOD);
    await savePrompts(manager, LIBRARY_PROMPTS);
    const input = { tool: "find_books", candidateId: good, depth: "thorough", wait: 0 };
    jobId = await startJob(manager, "evaluate_candidate", input);
    await eventually(async () => {
      const hanging = lab.seen.filter(({ fault }) => fault).length;
      return hanging === 2 && (await jobOf(manager, jobId)).runs === finished || undefined;
    });
  }
  const heldOut = await heldOutOf(lab.gateway.url);
  await lab.gateway.stop("SIGKILL");
  isBroken = false;
  await lab.start();
  await using manager = await lab.manager();
  const { status, runs } = await ended(manager, jobId);
  const interrupted = lab.seen.filter(({ fault }) => fault).length;
  assert.deepEqual({ status, runs }, { status: "completed", runs: lab.seen.length - interrupted });
  assert.deepEqual(await heldOutOf(lab.gateway.url), heldOut);
  const answered = lab.seen.filter(({ fault }) => !fault);
  for (const prompt of heldOut) {
    const times = answered.filter((seen) => seen.prompt === prompt).length;
    assert.equal(times, 2 * REPEATS, prompt);
  }
  const { counts } = await resultOf(manager, good);
  assert.equal(countsText(counts), "direct 15/15, indirect 15/15, negative 15/15");
});

Deno.test("a thorough job keeps to its budget of runs, and concludes nothing from too few", async () => {
  await using lab = await Lab.open({});
  await using manager = await lab.manager();
  const good = await propose(manager, GOOD);
  await savePrompts(manager, LIBRARY_PROMPTS);
  const { runs, note, tools: [tool] } = await ended(
    manager,
    await startJob(manager, "optimize_tools", {
      tools: ["find_books"],
      candidatesPerTool: 1,
      depth: "thorough",
      maxRuns: 50,
    }),
  );
  assert.deepEqual([runs, lab.seen.length], [50, 50]);
  assert.equal(note, "Ended early: the budget of 50 runs is used up");
  assert.match(tool?.outcome ?? "", /not enough evidence: .* of \d+ runs completed/);
  const { evidence } = await resultOf(manager, good);
  assert.equal(evidence?.verdict?.promote, false);
});

Deno.test("a thorough verdict refuses what takes a sibling's prompts, held out or not", async () => {
  await using lab = await Lab.open({});
  await using manager = await lab.manager();
  // Those that were there before the candidate cannot be held out.
  await savePrompts(manager, LIBRARY_PROMPTS.filter(isForLoans));
  const greedy = await propose(manager, TAKES_LOANS);
  await savePrompts(manager, LIBRARY_PROMPTS.filter((prompt) => !isForLoans(prompt)));
  await evaluate(manager, greedy);
  const { results } = (await findBooksOf(lab.gateway.url)).evaluations[0]!;
  const { confusion, verdict } = results.find(({ candidateId }) => candidateId === greedy)!;
  assert.ok(confusion.list_loans!.find_books! > 0);
  assert.equal(verdict?.promote, false, verdict?.words);
  assert.match(verdict.words, /prompts meant for "list_loans"/);
});

Deno.test("an evaluation that stops early tells the same numbers everywhere", async () => {
  await using lab = await Lab.open({});
  await using manager = await lab.manager();
  const vague = await propose(manager, VAGUE);
  await savePrompts(manager, LIBRARY_PROMPTS);
  const words = ["evaluate", "library.find_books", vague, "--depth", "thorough", "--yes"];
  const said = await optimizeSays(lab.folder, ...words);
  const { counts: { overall }, evidence } = await resultOf(manager, vague);
  const asked = overall.prompts ?? overall.total;
  assert.ok(asked < HELD_OUT, said);
  assert.match(evidence?.verdict?.words ?? "", new RegExp(`evidence from ${asked} prompts`));
  assert.equal(z.looseObject({ prompts: z.number() }).parse(evidence).prompts, asked);
  assert.match(said, new RegExp(`^thorough evidence, ${asked} prompts`, "m"));
  assert.match(said, /^ {2}Overall .* no change$/m);
});

const WITH_TOOLSET = { withToolset: true };

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
  assert.match(page, /Quick evidence, .*alongside 2 tools of other servers/);

  const before = lab.seen.length;
  await evaluate(manager, good, {});
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
  await evaluate(manager, good, {});
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
