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
    message: 'Cannot promote "cand_1" for git.status: No evaluation runs found',
    recoveryAction: "Give a reason to promote it all the same",
    recoverySteps: ["Promote it all the same with a reason, which is kept"],
  };
  const suggestedTools = ["get_eval_results", "evaluate_candidate"];
  const refused = inCommandWords(
    new GatewayError("PROMOTION_REFUSED", { ...body, suggestedTools }),
  );
  assert.ok(refused instanceof GatewayError);
  assert.deepEqual(refused.toBody(), { errorType: "PROMOTION_REFUSED", ...body });
});

Deno.test("inCommandWords() leaves what needs no other words as it is", () => {
  for (const error of [new Error("odd"), new GatewayError("CONFIG_INVALID")]) {
    assert.equal(inCommandWords(error), error);
  }
});
