import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { commandWords, inCommandWords } from "./optimize_words.ts";

Deno.test("commandWords() has commands in the place of tools, and leaves other words alone", () => {
  assert.equal(
    commandWords("Or run the prompts yourself and report each result with record_eval_run"),
    "Or run the prompts yourself and report each result with " +
      "`deno task cli optimize record SERVER.TOOL CANDIDATE PROMPT`",
  );
  assert.equal(
    commandWords('Call get_canonical_tools for "git" and use one of its names'),
    'Run `deno task cli optimize status` for "git" and use one of its names',
  );
  assert.equal(
    commandWords("Limit the runs instead (maxRuns)"),
    "Limit the runs instead (--max-runs)",
  );
  assert.equal(commandWords("my_list_servers_2 stays"), "my_list_servers_2 stays");
});

Deno.test("inCommandWords() says what to run where an error's steps are for models", () => {
  const refused = inCommandWords(
    new GatewayError("NOT_FOUND", {
      message: 'There is no prompt "x"',
      recoveryAction: "Use an id that save_golden_prompts gave",
      recoverySteps: ["Look up the ids with get_eval_results"],
      suggestedTools: ["get_eval_results"],
    }),
  );
  assert.ok(refused instanceof GatewayError);
  assert.deepEqual(refused.toBody(), {
    errorType: "NOT_FOUND",
    message: 'There is no prompt "x"',
    recoveryAction: "Use an id that `deno task cli optimize prompts SERVER.TOOL` gave",
    recoverySteps: ["Look up the ids with `deno task cli optimize show SERVER.TOOL`"],
  });
  const off = inCommandWords(new GatewayError("OPTIMIZATION_DISABLED"));
  assert.ok(off instanceof GatewayError);
  assert.deepEqual(off.details.recoverySteps, [
    "Switch it on with `deno task cli optimize enable`",
  ]);
});

Deno.test("inCommandWords() leaves what has no steps as it is", () => {
  for (const error of [new Error("odd"), new GatewayError("CONFIG_INVALID")]) {
    assert.equal(inCommandWords(error), error);
  }
});
