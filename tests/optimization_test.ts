import assert from "node:assert/strict";
import * as z from "zod";
import { CANONICAL } from "../lib/core/optimization.ts";
import { OptimizationReport } from "../lib/core/optimization_report.ts";
import { connect, type EndpointClient, must, openRaw } from "./combined_endpoints.ts";
import { refused } from "./discovery.ts";
import { LIBRARY_WRITES } from "./fixtures/library_prompts.ts";
import { LIBRARY_TOOLS, POOR_DESCRIPTION } from "./fixtures/library_server.ts";
import { until } from "./gateway.ts";
import {
  claudeTest,
  countsText,
  ended,
  evaluate,
  evaluatorTest,
  GOOD,
  GREEDY,
  Lab,
  promoteAsPerson,
  PROMPTS,
  propose,
  resultOf,
  savePrompts,
  startJob,
  VAGUE,
} from "./optimization.ts";

const NAMED = { server: "library", tool: "find_books" };
const OWN_ENDPOINT = "/servers/library/mcp?names=original";
const ENDPOINTS = [
  OWN_ENDPOINT,
  "/servers/library/mcp",
  "/s/library/mcp?names=flat",
  "/mcp?expose=all",
  "/toolsets/reading/mcp",
];

const Listing = z.looseObject({
  result: z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) }),
});

/** An endpoint's whole answer to tools/list, as text. */
async function listingAt(url: string, endpoint: string): Promise<string> {
  return (await (await openRaw(url, endpoint)).request("tools/list", "{}")).text;
}

/** The definition of `find_books` at an endpoint, whatever it is called there, without its name. */
async function definitionAt(url: string, endpoint: string): Promise<Record<string, unknown>> {
  const { result } = Listing.parse(JSON.parse(await listingAt(url, endpoint)));
  const { name: _, ...found } = result.tools.find(({ name }) => name.endsWith("find_books"))!;
  return found;
}

async function saveToolset(url: string): Promise<void> {
  const response = await fetch(new URL("/api/exchange/toolsets", url), {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ name: "reading", tools: ["library.find_books"] }),
  });
  assert.deepEqual((await response.json()).saved, ["reading"]);
}

/** Waits until a client was told that tools changed and lists this description. */
async function hears(client: EndpointClient, description: string): Promise<void> {
  await until(async () => {
    if (client.told.tools.length === 0) return undefined;
    const { tools } = await client.client.listTools();
    const found = tools.find(({ name }) => name.endsWith("find_books"));
    return found?.description === description || undefined;
  });
  client.told.tools.length = 0;
}

await claudeTest(
  "a better description is measured, promoted at every endpoint and gateway, and reverted byte for byte",
  async (claude) => {
    await using lab = await Lab.open({ claude });
    const { url } = lab.gateway;
    const other = await lab.start();
    await using manager = await connect(url, "/gateway/mcp");
    await using near = await connect(url, OWN_ENDPOINT);
    await using far = await connect(other.url, OWN_ENDPOINT);
    await saveToolset(url);
    await savePrompts(manager);
    const good = await propose(manager, GOOD);
    const before = await Promise.all(ENDPOINTS.map((endpoint) => listingAt(url, endpoint)));

    assert.equal((await evaluate(manager, good)).status, "completed");
    const [canonical, better] = [
      await resultOf(manager, CANONICAL),
      await resultOf(manager, good),
    ];
    assert.equal(countsText(canonical.counts), "direct 0/2, indirect 0/2, negative 2/2");
    assert.equal(countsText(better.counts), "direct 2/2, indirect 2/2, negative 2/2");
    assert.equal(better.evidence?.verdict?.proposed, true);
    assert.match(better.evidence.verdict.words, /not confirmed: quick evidence from 6 prompts/);

    // Each prompt came once with each description. The CLI makes plain spaces of other ones.
    const poor = POOR_DESCRIPTION.replaceAll("\u00a0", " ");
    for (const { prompt } of PROMPTS) {
      assert.deepEqual(lab.given(prompt).sort(), [poor, GOOD].sort());
    }
    // The choice is known after the first request: no run makes a second one.
    assert.equal(lab.seen.length, 2 * PROMPTS.length);
    assert.ok(lab.seen.every(({ isFollowUp }) => !isFollowUp));
    // The CLI itself asked, and it was shown all of the server's tools.
    for (const { descriptions } of lab.seen) {
      const names = LIBRARY_TOOLS.map(({ name }) => `mcp__tools__library_${name}`);
      assert.deepEqual(Object.keys(descriptions).sort(), names.sort());
    }
    assert.deepEqual(await lab.processes(), []);

    // What was measured changes nothing by itself.
    assert.deepEqual(
      await Promise.all(ENDPOINTS.map((endpoint) => listingAt(url, endpoint))),
      before,
    );
    for (const { told } of [near, far]) told.tools.length = 0;
    const unconfirmed = { ...NAMED, candidateId: good };
    assert.equal(
      (await refused(manager, "promote_candidate", unconfirmed)).code,
      "PROMOTION_REFUSED",
    );
    await promoteAsPerson(lab, good);
    await hears(near, GOOD);
    await hears(far, GOOD);
    const { name: _, ...definition } = LIBRARY_TOOLS[0]!;
    for (const endpoint of ENDPOINTS) {
      for (const at of [url, other.url]) {
        const found = await definitionAt(at, endpoint);
        assert.deepEqual(found, { ...definition, description: GOOD }, endpoint);
      }
    }

    await must(manager, "revert_optimization", NAMED);
    await hears(near, POOR_DESCRIPTION);
    await hears(far, POOR_DESCRIPTION);
    assert.deepEqual(
      await Promise.all(ENDPOINTS.map((endpoint) => listingAt(url, endpoint))),
      before,
    );
    assert.deepEqual(
      await Promise.all(ENDPOINTS.map((endpoint) => listingAt(other.url, endpoint))),
      before,
    );
    assert.equal((await definitionAt(url, OWN_ENDPOINT)).description, POOR_DESCRIPTION);
  },
);

await evaluatorTest(
  "descriptions that are no better, or take what is meant for others, are refused in words",
  async (claude) => {
    await using lab = await Lab.open({ claude });
    await using manager = await lab.manager();
    await savePrompts(manager);
    const untried = await propose(manager, GOOD);
    const early = await refused(manager, "promote_candidate", { ...NAMED, candidateId: untried });
    assert.equal(early.code, "PROMOTION_REFUSED");
    assert.match(early.text, /No evaluation runs found for candidate - run evaluations first/);

    const why = { [VAGUE]: /overall/, [GREEDY]: /meant for "(opening_hours|list_loans)"/ };
    for (const [description, words] of Object.entries(why)) {
      const candidateId = await propose(manager, description);
      await evaluate(manager, candidateId);
      assert.ok(PROMPTS.some(({ prompt }) => lab.given(prompt).includes(description)));
      const { code, text } = await refused(manager, "promote_candidate", { ...NAMED, candidateId });
      assert.equal(code, "PROMOTION_REFUSED");
      assert.match(text, words);
    }
    const { description } = await definitionAt(lab.gateway.url, OWN_ENDPOINT);
    assert.equal(description, POOR_DESCRIPTION);

    const long = { ...NAMED, description: "x".repeat(295) };
    const { text } = await refused(manager, "propose_candidate", long);
    assert.match(text, /Candidate exceeds 280 character limit \(got 295\)/);
  },
);

await evaluatorTest(
  "optimize_tools writes what is missing, promotes the best, and that outlasts the switch",
  async (claude) => {
    const candidates = [VAGUE, GREEDY, GOOD].map((description) => ({ description }));
    const writes = {
      ...LIBRARY_WRITES,
      find_books: { ...LIBRARY_WRITES.find_books, candidates },
    };
    await using lab = await Lab.open({ claude, writes });
    {
      await using manager = await lab.manager();
      const jobId = await startJob(manager, "optimize_tools", {
        tools: ["find_books"],
        candidatesPerTool: 3,
      });
      const { status, tools: [tool], errors } = await ended(manager, jobId);
      assert.deepEqual([status, errors], ["completed", 0], tool?.outcome);
      assert.match(
        tool?.outcome ?? "",
        /Promoted: overall \d+ % -> 100 %, \+\d+.* points \(95 % interval \d+ to \d+\), with each category counted alike, \d+ prompts/,
      );
      const given = new Set(lab.seen.flatMap(({ prompt }) => lab.given(prompt)));
      assert.deepEqual([VAGUE, GREEDY, GOOD].filter((description) => !given.has(description)), []);
      assert.equal((await definitionAt(lab.gateway.url, OWN_ENDPOINT)).description, GOOD);
    }
    await lab.gateway.stop();
    const asked = lab.seen.length;

    await lab.start({ enabled: false });
    await using manager = await lab.manager();
    assert.equal((await definitionAt(lab.gateway.url, OWN_ENDPOINT)).description, GOOD);
    const listed = await manager.tools();
    const gated = [
      "evaluate_candidate",
      "generate_candidates",
      "generate_golden_prompts",
      "optimize_tools",
    ];
    assert.deepEqual(listed.filter((name) => gated.includes(name)), []);
    for (const name of gated) {
      const { code, text } = await refused(manager, name, { ...NAMED, candidateId: "any" });
      assert.equal(code, "OPTIMIZATION_DISABLED", name);
      assert.match(text, /--enable-optimization/);
    }
    const { data } = await manager.call("get_optimization_report", { server: "library" });
    const [report] = z.array(OptimizationReport).parse(data.reports);
    assert.deepEqual(
      report?.tools.filter(({ status }) => status === "optimized").map(({ name }) => name),
      ["find_books"],
    );
    await must(manager, "revert_optimization", NAMED);
    assert.equal((await definitionAt(lab.gateway.url, OWN_ENDPOINT)).description, POOR_DESCRIPTION);
    assert.equal(lab.seen.length, asked);
  },
);

Deno.test("the Messages API comes to the same counts without any program", async () => {
  await using lab = await Lab.open({ writes: LIBRARY_WRITES });
  await using manager = await lab.manager();
  await savePrompts(manager);
  const good = await propose(manager, GOOD);
  assert.equal((await evaluate(manager, good)).status, "completed");
  const { counts } = await resultOf(manager, CANONICAL);
  assert.equal(countsText(counts), "direct 0/2, indirect 0/2, negative 2/2");
  const better = await resultOf(manager, good);
  assert.equal(countsText(better.counts), "direct 2/2, indirect 2/2, negative 2/2");
  for (const { prompt } of PROMPTS) {
    assert.deepEqual(lab.given(prompt).sort(), [POOR_DESCRIPTION, GOOD].sort());
  }
  // Only what prompts confirm that nobody has seen may be promoted over MCP.
  const early = await refused(manager, "promote_candidate", { ...NAMED, candidateId: good });
  assert.match(early.text, /Proposed, not confirmed/);
  const { tools: [tool] } = await evaluate(manager, good, "thorough");
  const { evidence } = await resultOf(manager, good);
  assert.equal(evidence?.verdict?.confirmed, true, tool?.outcome);
  assert.match(
    await must(manager, "promote_candidate", { ...NAMED, candidateId: good }),
    /Promote: confirmed, thorough evidence from \d+ prompts .*gain \+\d[^]*restart/,
  );
  assert.equal((await definitionAt(lab.gateway.url, OWN_ENDPOINT)).description, GOOD);
});

Deno.test("without the claude CLI, reported runs count, and a person decides", async () => {
  await using lab = await Lab.open({ claude: "/nowhere/claude" });
  await using manager = await lab.manager();
  const promptIds = await savePrompts(manager);
  const candidateId = await propose(manager, GOOD);
  const { code, text } = await refused(manager, "evaluate_candidate", { ...NAMED, candidateId });
  assert.equal(code, "CANNOT_EVALUATE");
  assert.match(text, /Cannot evaluate: .*\/nowhere\/claude[^]*npm install/);

  async function report(id: string, promptId: string, toolCalled: boolean): Promise<void> {
    // What it says of itself does not count.
    const result = { toolCalled, correct: true, durationMs: 1 };
    const input = { server: "library", candidateId: id, promptId, result };
    assert.match((await manager.call("record_eval_run", input)).text, /Recorded run/);
  }
  for (const [index, promptId] of promptIds.entries()) {
    const half = await refused(manager, "promote_candidate", { ...NAMED, candidateId });
    assert.equal(half.code, "PROMOTION_REFUSED");
    await report(candidateId, promptId, PROMPTS[index]!.category !== "negative");
    await report(CANONICAL, promptId, false);
  }
  const { counts } = await resultOf(manager, CANONICAL);
  assert.equal(countsText(counts), "direct 0/2, indirect 0/2, negative 2/2");
  const reported = await refused(manager, "promote_candidate", { ...NAMED, candidateId });
  assert.equal(reported.code, "PROMOTION_REFUSED");
  assert.match(reported.text, /reported by a client[^]*A person can promote it/);
  const path = `/api/optimization/tools/${NAMED.server}/${NAMED.tool}/promote`;
  const byPerson = (body: object) =>
    fetch(new URL(path, lab.gateway.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const without = await byPerson({ candidateId });
  assert.equal(without.status, 409, await without.text());
  assert.equal((await definitionAt(lab.gateway.url, OWN_ENDPOINT)).description, POOR_DESCRIPTION);
  const confirmed = await byPerson({ candidateId, reason: "I read the runs" });
  assert.equal(confirmed.status, 200, await confirmed.text());
  assert.equal((await definitionAt(lab.gateway.url, OWN_ENDPOINT)).description, GOOD);
  assert.equal(lab.seen.length, 0);
});
