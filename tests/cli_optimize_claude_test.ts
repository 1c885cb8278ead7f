import assert from "node:assert/strict";
import { findBooksOf, optimizeSays } from "./fixtures/library_numbers.ts";
import { LIBRARY_WRITES } from "./fixtures/library_prompts.ts";
import { claudeTest, GOOD, Lab, VAGUE } from "./optimization.ts";

await claudeTest(
  "optimize run on the command line has the claude CLI choose, and follows the job to its end",
  async (claude) => {
    const candidates = [VAGUE, GOOD].map((description) => ({ description }));
    const find_books = { ...LIBRARY_WRITES.find_books, candidates };
    await using lab = await Lab.open({ claude, writes: { ...LIBRARY_WRITES, find_books } });
    const run = ["run", "library.find_books", "--depth", "quick", "--candidates", "2"];
    const how = ["--prompts", "2", "--models", "claude-cli:stand-in"];
    const said = await optimizeSays(lab.folder, ...run, ...how, "--yes");
    assert.match(said, /^1 tool, about .*: proposes candidates and confirms none; .*18 runs/);
    assert.match(said, /\nJob \S+ has completed: 1 of 1 tool done, 0 promoted, \d+ runs/);
    const chosen = lab.seen.filter(({ isWriting }) => !isWriting);
    const names = new Set(chosen.flatMap(({ descriptions }) => Object.keys(descriptions)));
    assert.ok(
      [...names].every((name) => name.startsWith("mcp__tools__library_")),
      [...names].join(),
    );
    const { evaluations: [evaluation] } = await findBooksOf(lab.gateway.url);
    assert.deepEqual(
      [evaluation?.evaluator, evaluation?.runs, evaluation?.errors],
      ["claude-cli", chosen.length, 0],
    );
    const proposed = evaluation!.results.find(({ verdict }) => verdict?.proposed);
    assert.equal(proposed?.description, GOOD);
    assert.match(await optimizeSays(lab.folder, "status"), /find_books .* waits for your decision/);
  },
);
