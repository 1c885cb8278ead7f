import assert from "node:assert/strict";
import fc from "../../../tests/fast_check.ts";
import type { GoldenPrompt } from "../../core/optimization.ts";
import { addConfusions, confusionOf, theftsOf } from "./confusion.ts";
import { aFailedRun, aPrompt, aRun } from "../testing/runs.ts";

const TOOL = "get_forecast";

function meantFor(tool: string, id: string): GoldenPrompt {
  return aPrompt(id, "negative", {
    expectedBehavior: { shouldCallTool: false, expectedTool: tool },
  });
}

function call(tool: string, server = "weather") {
  return { name: `${server}_${tool}`, server, tool, arguments: {} };
}

Deno.test("confusionOf() counts what was called by what should have been", () => {
  const [direct, sibling, none] = [
    aPrompt("d", "direct"),
    meantFor("get_current", "s"),
    aPrompt("n", "negative"),
  ];
  const runs = [
    aRun(direct, true, { calls: [call(TOOL)] }),
    aRun(direct, false, { calls: [call("get_current")] }),
    aRun(direct, false),
    aRun(sibling, true, { calls: [call("get_alerts"), call("get_current")] }),
    aRun(sibling, false, { calls: [call("get_current"), call(TOOL)] }),
    aRun(none, true, { calls: [call(TOOL, "other")] }),
    aRun(none, true),
    aFailedRun(none),
    aRun(aPrompt("unknown", "direct"), true),
  ];
  assert.deepEqual(confusionOf(runs, [direct, sibling, none], TOOL), {
    get_forecast: { get_forecast: 1, get_current: 1, "(none)": 1 },
    get_current: { get_current: 1, get_forecast: 1 },
    "(none)": { "other.get_forecast": 1, "(none)": 1 },
  });
});

Deno.test("confusionOf() counts tools with odd names", () => {
  const direct = aPrompt("d", "direct");
  const runs = [aRun(direct, false, { calls: [call("__proto__")] })];
  const row = confusionOf(runs, [direct], "constructor");
  assert.deepEqual(Object.keys(row), ["constructor"]);
  assert.deepEqual(Object.entries(row["constructor"] ?? {}), [["__proto__", 1]]);
});

Deno.test("confusionOf() names another server's tool as a prompt does", () => {
  const prompt = meantFor("shop.find_books", "s");
  const runs = [
    aRun(prompt, true, { calls: [call("refund", "shop"), call("find_books", "shop")] }),
  ];
  assert.deepEqual(confusionOf(runs, [prompt], "find_books"), {
    "shop.find_books": { "shop.find_books": 1 },
  });
});

Deno.test("addConfusions() counts all of them", () => {
  const row = { get_forecast: { get_forecast: 2, "(none)": 1 } };
  assert.deepEqual(addConfusions([row, { ...row, get_alerts: { get_alerts: 1 } }]), {
    get_forecast: { get_forecast: 4, "(none)": 2 },
    get_alerts: { get_alerts: 1 },
  });
  assert.deepEqual(addConfusions([]), {});
});

Deno.test("theftsOf() says whose prompts are taken", () => {
  const current = ["a", "b", "c"].map((id) => meantFor("get_current", id));
  const alerts = [meantFor("get_alerts", "d")];
  const prompts = [...current, ...alerts, aPrompt("n", "negative")];
  const candidate = prompts.map((prompt) => aRun(prompt, prompt.id === "c"));
  // Took the alert before as well, which is no fault of the candidate.
  const baseline = prompts.map((prompt) => aRun(prompt, !["b", "d"].includes(prompt.id)));
  assert.deepEqual(theftsOf(candidate, baseline, prompts), [
    { tool: "get_current", stolen: 1, returned: 0, of: 3 },
    { tool: "get_alerts", stolen: 0, returned: 0, of: 1 },
  ]);
  assert.deepEqual(theftsOf(baseline, candidate, prompts).map(({ stolen }) => stolen), [0, 0]);
});

Deno.test("theftsOf() counts what is given back apart from what is taken", () => {
  const prompts = ["a", "b"].map((id) => meantFor("get_current", id));
  const candidate = prompts.map((prompt) => aRun(prompt, prompt.id === "b"));
  const baseline = prompts.map((prompt) => aRun(prompt, prompt.id === "a"));
  assert.deepEqual(theftsOf(candidate, baseline, prompts), [
    { tool: "get_current", stolen: 1, returned: 1, of: 2 },
  ]);
});

Deno.test("theftsOf() is not decided by one stray run of three, nor by failed runs", () => {
  const prompt = meantFor("get_current", "a");
  const fine = [true, true, true].map((correct) => aRun(prompt, correct));
  const stray = [true, false, true].map((correct) => aRun(prompt, correct));
  const taken = [true, false, false].map((correct) => aRun(prompt, correct));
  const stolen = (runs: typeof fine, before = fine) => theftsOf(runs, before, [prompt])[0]?.stolen;
  assert.equal(stolen(stray), 0);
  assert.equal(stolen(stray.slice(0, 2), fine.slice(0, 2)), 0);
  assert.equal(stolen(taken), 1);
  assert.deepEqual(theftsOf(taken, [aFailedRun(prompt)], [prompt]), []);
});

Deno.test("confusionOf() loses no run", () => {
  const prompts = [
    aPrompt("d", "direct"),
    aPrompt("n", "negative"),
    meantFor("get_current", "s"),
  ];
  const plan = fc.tuple(
    fc.constantFrom(...prompts),
    fc.boolean(),
    fc.array(fc.constantFrom("get_current", "get_alerts"), { maxLength: 3 }),
  );
  fc.assert(fc.property(fc.array(plan, { maxLength: 30 }), (runs) => {
    const confusion = confusionOf(
      runs.map(([prompt, correct, calls]) =>
        aRun(prompt, correct, { calls: calls.map((tool) => call(tool)) })
      ),
      prompts,
      TOOL,
    );
    const counts = Object.values(confusion).flatMap((row) => Object.values(row));
    assert.equal(counts.reduce((sum, count) => sum + count, 0), runs.length);
  }));
});
