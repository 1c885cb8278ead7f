import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { leadOn, problemOf } from "./optimization_problem.ts";

const ctx = {
  redirect: (path: string, status: number) =>
    new Response(null, { status, headers: { location: path } }),
};
const again = (error: GatewayError) => Promise.resolve({ code: error.code });

Deno.test("leadOn() leads to what came of a form", async () => {
  const answer = await leadOn(ctx, Promise.resolve("/next"), again);
  assert.ok(answer instanceof Response);
  assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/next"]);
});

Deno.test("leadOn() shows the form again with what was refused, also without a model", async () => {
  for (const code of ["INVALID_ARGUMENTS", "CANNOT_EVALUATE", "CANNOT_GENERATE"] as const) {
    const error = new GatewayError(code);
    const answer = await leadOn(ctx, Promise.reject(error), again);
    assert.ok(!(answer instanceof Response));
    assert.deepEqual([answer.data, answer.status], [{ code }, error.httpStatus]);
  }
});

Deno.test("leadOn() throws on what is not the form's", async () => {
  for (const error of [new Error("odd"), new GatewayError("STORAGE_FULL")]) {
    await assert.rejects(leadOn(ctx, Promise.reject(error), again), error);
  }
});

Deno.test("problemOf() says what went wrong and what to do, in sentences", () => {
  const recoverySteps = ["Look up the ids in the tool's results"];
  const { message, steps, code } = problemOf(new GatewayError("NOT_FOUND", { recoverySteps }));
  assert.deepEqual([message, code], ["There is nothing here.", "NOT_FOUND"]);
  assert.deepEqual(steps, ["Look up the ids in the tool's results."]);
});
