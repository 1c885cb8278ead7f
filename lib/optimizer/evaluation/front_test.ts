import assert from "node:assert/strict";
import { failuresOf, paretoFront } from "./front.ts";
import type { TrialPrompt } from "./procedure.ts";

const PROMPTS: TrialPrompt[] = ["p1", "p2", "p3", "p4"].map((id) => ({ id, category: "direct" }));

/** One digit for each prompt: 1 is right, 0 wrong, a dash not run. */
function scoresOf(table: Record<string, string>) {
  return (description: string, { id }: TrialPrompt) => {
    const mark = table[description]![PROMPTS.findIndex((prompt) => prompt.id === id)]!;
    return mark === "-" ? undefined : Number(mark);
  };
}

function frontOf(table: Record<string, string>): string[] {
  return paretoFront(Object.keys(table), PROMPTS, scoresOf(table))
    .map(({ description }) => description);
}

Deno.test("paretoFront() keeps what is best on a prompt, also if it is worse overall", () => {
  assert.deepEqual(frontOf({ special: "0001", good: "1110", covered: "1100" }), [
    "good",
    "special",
  ]);
});

Deno.test("paretoFront() keeps one of equals, and nothing that was right nowhere", () => {
  assert.deepEqual(frontOf({ one: "11--", other: "11--", wrong: "0000" }), ["one"]);
  assert.deepEqual(frontOf({ wrong: "0000" }), []);
});

Deno.test("failuresOf() leaves out what was not run", () => {
  const failures = failuresOf("one", PROMPTS, scoresOf({ one: "10-0" }));
  assert.deepEqual(failures.map(({ id }) => id), ["p2", "p4"]);
});
