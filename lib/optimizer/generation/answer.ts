import * as z from "zod";
import { GatewayError } from "../../core/errors.ts";
import type { RunCost } from "../../core/optimization.ts";
import { parseJson } from "../../core/rpc.ts";
import { shortened } from "../../core/text.ts";
import { addCosts } from "../cost.ts";
import type { TargetTool } from "../targets.ts";
import type { TextModel } from "./text_model.ts";
import { dataBlock, MAX_REQUEST } from "./request.ts";

/** A longer answer is not what was asked for. */
const MOST_CHARS = 400_000;
/** Each place where a value might begin costs a look at the rest of the text. */
const MOST_STARTS = 100;

interface JsonQuestion<T> {
  model: TextModel;
  system: string;
  prompt: string;
  maxTokens: number;
  schema: z.ZodType<T>;
  signal: AbortSignal;
}

/** Puts a question whose answer is JSON; an answer that does not fit may be repaired once. */
export async function askForJson<T>(
  question: JsonQuestion<T>,
): Promise<{ value: T; cost: RunCost }> {
  const { model, system, prompt, maxTokens, schema, signal } = question;
  signal.throwIfAborted();
  const first = await model.complete({ system, prompt, maxTokens, signal });
  const read = readAnswer(first.text, schema);
  if ("value" in read) return { value: read.value, cost: first.cost };
  signal.throwIfAborted();
  const second = await model.complete({
    system,
    prompt: `${prompt}\n\n${repairText(first.text, read.complaint, system.length + prompt.length)}`,
    maxTokens,
    signal,
  });
  const repaired = readAnswer(second.text, schema);
  if ("value" in repaired) {
    return { value: repaired.value, cost: addCosts(first.cost, second.cost) };
  }
  throw new GatewayError("CANNOT_GENERATE", {
    message:
      "Cannot generate: the model's response does not match the requested JSON, even after one " +
      `retry: ${repaired.complaint}`,
    recoveryAction:
      "Try again, choose another model, or write the prompts and descriptions yourself",
  });
}

/** The one JSON value of this shape in a model's answer, fenced or bare; else what is wrong. */
export function readAnswer<T>(
  text: string,
  schema: z.ZodType<T>,
): { value: T } | { complaint: string } {
  if (text.length > MOST_CHARS) {
    return { complaint: `the answer has ${text.length} characters, far more than requested` };
  }
  const found = jsonValuesIn(text);
  const parsed = found.map((value) => schema.safeParse(value));
  const fitting = parsed.filter((result) => result.success);
  if (fitting.length === 1) return { value: fitting[0]!.data };
  if (fitting.length > 1) {
    return { complaint: `the answer contains ${fitting.length} JSON values instead of one` };
  }
  const error = isCut(text) ? undefined : parsed.find((result) => !result.success)?.error;
  if (error === undefined) {
    return { complaint: `the answer contains no valid JSON: ${whyNot(text)}` };
  }
  return { complaint: shortened(z.prettifyError(error).replace(/\s+/g, " "), 300) };
}

function repairText(answer: string, complaint: string, taken: number): string {
  const head =
    "Your previous answer could not be used. The problem and the answer follow, as data:";
  const foot =
    "Give the complete answer again, as one JSON value in the format above and nothing else.";
  const why = dataBlock("complaint", [complaint], 1_000);
  // The tags, the note of a cut, the lines between.
  const room = MAX_REQUEST - taken - head.length - foot.length - why.length - 100;
  return [head, why, dataBlock("answer", pieces(answer), Math.max(0, room)), foot].join("\n");
}

/** In pieces, so that the start of a long one can be shown. */
function pieces(text: string): string[] {
  return shortened(text, MAX_REQUEST).match(/[^]{1,200}/gu) ?? [];
}

function jsonValuesIn(text: string): unknown[] {
  const whole = parseJson(text.trim());
  if (whole !== undefined) return [whole];
  const fenced = Array.from(text.matchAll(/^[ \t]*```[a-z]*[ \t]*\r?\n([^]*?)\n[ \t]*```/gim))
    .map(([, inside]) => parseJson(inside!)).filter((found) => found !== undefined);
  return fenced.length > 0 ? fenced : bareValuesIn(text);
}

function bareValuesIn(text: string): unknown[] {
  const found: unknown[] = [];
  let at = 0;
  for (let tries = 0; tries < MOST_STARTS; tries++) {
    const start = text.slice(at).search(/[{[]/);
    if (start === -1) break;
    at += start;
    const end = endOfValue(text, at);
    const value = end === undefined ? undefined : parseJson(text.slice(at, end));
    if (value !== undefined) found.push(value);
    at = end ?? at + 1;
  }
  return found;
}

/** Where the brackets that open at `start` are all closed again. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (isString) {
      if (character === "\\") at++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return at + 1;
  }
  return undefined;
}

/** Whether the first bracket is never closed: what is whole inside it is not the answer. */
function isCut(text: string): boolean {
  const start = text.search(/[{[]/);
  return start !== -1 && endOfValue(text, start) === undefined;
}

function whyNot(text: string): string {
  if (text.trim() === "") return "it is empty";
  if (isCut(text)) return "a bracket is never closed, as if the answer was cut off";
  const start = text.search(/[{[]/);
  if (start === -1) return "it has no brackets";
  try {
    JSON.parse(text.slice(start, endOfValue(text, start)));
  } catch (error) {
    if (error instanceof Error) return shortened(error.message, 200);
  }
  return "it does not parse";
}

/** After two requests nothing could be used; `why` is of the first text that was refused. */
export function nothingUsable(
  kind: "description" | "prompt",
  { server, name }: TargetTool,
  why: string | undefined,
): GatewayError {
  return new GatewayError("CANNOT_GENERATE", {
    message: `Cannot generate ${kind}s for ${server}.${shortened(name, 100)}: after two requests ` +
      `there is no usable ${kind} (${why ? `for example: ${why}` : "the model returned none"})`,
    recoveryAction: `Try again, choose another model, or write a ${kind} yourself`,
  });
}

/** The step's value, or its GatewayError, so that what was generated before is not lost. */
export async function orGatewayError<T>(
  step: Promise<T>,
  signal: AbortSignal,
): Promise<T | { error: GatewayError }> {
  try {
    return await step;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GatewayError)) throw error;
    return { error };
  }
}
