import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { inCommandWords } from "./optimize_words.ts";

Deno.test("inCommandWords() says what to run where an error's steps do not", () => {
  const off = inCommandWords(new GatewayError("OPTIMIZATION_DISABLED"));
  assert.ok(off instanceof GatewayError);
  assert.deepEqual(off.details.recoverySteps, [
    "Switch it on with `deno task cli optimize enable`",
  ]);
  assert.equal(off.toBody().recoveryAction, "Switch it on with `deno task cli optimize enable`");
});

Deno.test("inCommandWords() leaves out the tools that would help a model, and keeps the rest", () => {
  const body = {
    message: 'There is no prompt "x" for git.status',
    recoveryAction: "Use the id of a prompt that is saved",
    recoverySteps: ["Look up the ids in the tool's results, or save the prompt again"],
  };
  const suggestedTools = ["get_eval_results", "save_golden_prompts"];
  const missing = inCommandWords(new GatewayError("NOT_FOUND", { ...body, suggestedTools }));
  assert.ok(missing instanceof GatewayError);
  assert.deepEqual(missing.toBody(), { errorType: "NOT_FOUND", ...body });
});

Deno.test("inCommandWords() leaves what needs no other words as it is", () => {
  for (const error of [new Error("odd"), new GatewayError("CONFIG_INVALID")]) {
    assert.equal(inCommandWords(error), error);
  }
});
