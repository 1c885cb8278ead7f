import { argumentProblems } from "../../catalog/tool_arguments.ts";
import type { ArgumentsFit, EvalRun, GoldenPrompt } from "../../core/optimization.ts";
import { defined } from "../../core/defined.ts";
import { isObject, parseJson } from "../../core/rpc.ts";
import { ToolDefinition } from "../../core/tool.ts";
import type { ShownTool } from "../evaluators/evaluator.ts";

interface ScoredCalls {
  calls: readonly { name: string; arguments: unknown }[];
  /** The flat name of the tool on trial. */
  target: string;
  server: string;
  tools: readonly ShownTool[];
  /** Whether arguments have to fit, a named sibling to be called, and no other tool beside the right one. */
  isStrict: boolean;
}

/** What a run came to: one outcome a prompt, right or wrong, is what the test counts. */
export function scoreRun(
  { expectedBehavior }: GoldenPrompt,
  { calls, target, server, tools, isStrict }: ScoredCalls,
): Pick<EvalRun["result"], "toolCalled" | "correct" | "arguments"> {
  const { shouldCallTool, expectedArguments, expectedTool } = expectedBehavior;
  const own = calls.filter(({ name }) => name === target);
  const toolCalled = own.length > 0;
  if (!shouldCallTool) {
    const sibling = tools.find((shown) => isNamed(shown, server, expectedTool));
    const isOther = isStrict && sibling !== undefined && !isOnly(calls, sibling.name);
    return { toolCalled, correct: !toolCalled && !isOther };
  }
  if (!toolCalled) return { toolCalled, correct: false };
  const definition = tools.find(({ name }) => name === target)?.text;
  const fits = own.map((call) => fitOf(call.arguments, definition, expectedArguments));
  // Of several calls, the best one: a model may call a tool once for each thing it was asked.
  const fit = FITS.find((one) => fits.includes(one));
  const correct = fit !== "unexpected" &&
    !(isStrict && (fit === "invalid" || !isOnly(calls, target)));
  return { toolCalled, correct, ...defined({ arguments: fit }) };
}

/** Whether it was called, and nothing else. */
function isOnly(calls: ScoredCalls["calls"], name: string): boolean {
  return calls.length > 0 && calls.every((call) => call.name === name);
}

const FITS = ["valid", "invalid", "unexpected"] as const satisfies readonly ArgumentsFit[];

function fitOf(
  given: unknown,
  definition: string | undefined,
  expected: Record<string, unknown> | undefined,
): ArgumentsFit {
  if (expected !== undefined && !holds(expected, given)) return "unexpected";
  const parsed = ToolDefinition.safeParse(parseJson(definition ?? ""));
  if (!parsed.success) return "valid";
  return argumentProblems({ definition: parsed.data }, given) === undefined ? "valid" : "invalid";
}

/** Whether all that is expected is there: members of objects as a subset, texts but for case and space. */
export function holds(expected: unknown, given: unknown): boolean {
  if (isObject(expected)) {
    return isObject(given) &&
      Object.entries(expected).every(([name, value]) => holds(value, given[name]));
  }
  if (Array.isArray(expected)) {
    return Array.isArray(given) && given.length === expected.length &&
      expected.every((value, index) => holds(value, given[index]));
  }
  if (typeof expected === "string" && typeof given === "string") {
    return plain(expected) === plain(given);
  }
  return expected === given;
}

function plain(text: string): string {
  return text.trim().replace(/\s+/g, " ").toLowerCase();
}

/** Of its own server a tool is named without it. */
function isNamed(shown: ShownTool, server: string, name: string | undefined): boolean {
  return name === (shown.server === server ? shown.tool : `${shown.server}.${shown.tool}`);
}
