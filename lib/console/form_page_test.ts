import assert from "node:assert/strict";
import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { operation } from "../operations/operation.ts";
import { callBy, servicesOf } from "../operations/testing/services.ts";
import { decideByForm, describeInput, type FormDecisions, formOutcome } from "./form_page.ts";

const paint = operation({
  name: "wall.paint",
  title: "Paint a wall",
  description: "Paint a wall.",
  rights: ["manage"],
  scope: "whole",
  effect: "write",
  input: z.strictObject({
    color: z.string().max(20).regex(/^[a-z]+$/, { error: "Write a color" }).describe("Its color"),
    coats: z.int().min(1).max(5).optional(),
    finish: z.enum(["matt", "gloss"]).default("matt"),
  }),
  output: z.unknown(),
  run: (_, input) => input,
});
const DECISIONS: FormDecisions = {
  paint: { operation: paint, defaults: { coats: "2" }, fields: ["color"] },
};
const decide = (form: string) =>
  decideByForm(DECISIONS, servicesOf({}), new URLSearchParams(form), callBy("everyone"));

Deno.test("decideByForm() runs the decision's operation, with its defaults for what is missing", async () => {
  assert.deepEqual((await decide("action=paint&color=red")).output, {
    color: "red",
    coats: 2,
    finish: "matt",
  });
  const { output } = await decide("action=paint&color=red&coats=3");
  assert.deepEqual(output.coats, 3);
  for (const wrong of ["", "action=toString", "action=paint", "action=paint&color=red&x=1"]) {
    await assert.rejects(decide(wrong), { code: "INVALID_ARGUMENTS" }, wrong);
  }
});

Deno.test("formOutcome() blames a field that is shown beside it, and anything else above", () => {
  const outcome = (form: string) =>
    formOutcome(DECISIONS, new URLSearchParams(form), new GatewayError("INVALID_ARGUMENTS"));
  assert.deepEqual(outcome("action=paint&color=1"), { problems: { color: "Write a color" } });
  for (const form of ["action=paint&color=1&coats=9", "action=paint&color=red", "action=none"]) {
    const { refused, problems } = outcome(form);
    assert.deepEqual([refused?.code, problems], ["INVALID_ARGUMENTS", undefined], form);
  }
});

Deno.test("describeInput() takes texts and limits from the schema", () => {
  const color = describeInput(paint, "color");
  assert.deepEqual([color.label, color.hint, color.required], ["Color", "Its color", true]);
  assert.equal(color.limits.maxLength, 20);
  assert.deepEqual([describeInput(paint, "coats").limits.max], [5]);
  assert.deepEqual(describeInput(paint, "finish").choices, ["matt", "gloss"]);
});
