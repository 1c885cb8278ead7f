import * as z from "zod";
import {
  type GoldenPrompt,
  MAX_DESCRIPTION,
  MAX_WHY,
  newId,
  type RunCost,
  type ToolCandidate,
  type ToolText,
} from "../../core/optimization.ts";
import {
  MAX_PARAMETER_TEXT,
  MAX_PARAMETER_TEXTS,
  textOf,
  unknownParameters,
} from "../../core/tool_text.ts";
import { defined } from "../../core/defined.ts";
import { shortened } from "../../core/text.ts";
import { addCosts } from "../cost.ts";
import type { TextModel } from "./text_model.ts";
import { dataBlock, fitting, PARAMETERS_ROOM, ROOM, targetText } from "./request.ts";
import { candidatesAgain, candidatesSystem, candidatesTask, lessonTask } from "./instructions.ts";
import { manipulationInText } from "./description_rules.ts";
import { askForJson, nothingUsable, orGatewayError } from "./answer.ts";
import type { TargetTool } from "../targets.ts";

const MAX_EXAMPLE = 2_000;
const LONGEST_PATH = 200;

const CandidatesAnswer = z.object({
  candidates: z.array(z.object({
    description: z.string(),
    parameters: z.record(z.string(), z.string()).nullish(),
    example: z.string().nullish(),
    why: z.string().nullish(),
  })),
});

type WrittenDescription =
  & Pick<ToolCandidate, "description" | "parameters" | "example">
  & { why?: string };

/** What a description got wrong, in the words of a request to the writer. */
export interface FailedPrompt {
  says: string;
  shouldCall: string;
  called: string[];
  /** What the model said, if it said anything. */
  said?: string;
  /** What it filled in, and what was wrong with that, if texts for parameters are written. */
  arguments?: unknown;
  wrong?: string;
}

/** A description that was tested, to write better ones from. */
export interface ParentText extends ToolText {
  failures: readonly FailedPrompt[];
  /** Others, with the numbers of the failures that they got right. */
  others: readonly { description: string; rightFor: number[] }[];
}

export interface CandidatesInput {
  model: TextModel;
  target: TargetTool;
  count: number;
  existing: readonly ToolText[];
  /** What users say, as examples; those that are held out or retired are not shown. */
  prompts: readonly GoldenPrompt[];
  /** Whether texts for parameters are written, too. */
  withParameters?: boolean;
  /** What to write from, if something was tested. */
  parent?: ParentText | undefined;
  /** Why models must not read a text; undefined if they may. */
  screen?(text: ToolText): Promise<string | undefined>;
  signal: AbortSignal;
}

interface Refused {
  description: string;
  why: string;
}

/** What breaks the rules is asked for once more, then dropped. CANNOT_GENERATE if none is left. */
export async function generateCandidates(input: CandidatesInput): Promise<{
  descriptions: WrittenDescription[];
  cost: RunCost;
  warnings: string[];
}> {
  const { target, count, signal, withParameters = false } = input;
  const prompts = input.prompts.filter(({ heldOut, retired }) => !heldOut && !retired);
  const known = new Set([{ description: target.description }, ...input.existing].map(spelling));
  const quotes = prompts.map(({ prompt }) => plainly(prompt));
  const about = targetText(target, ROOM.schema - (withParameters ? PARAMETERS_ROOM : 0));
  const descriptions: WrittenDescription[] = [];
  const warnings: string[] = [];

  async function take(answer: z.infer<typeof CandidatesAnswer>): Promise<Refused[]> {
    const refused: Refused[] = [];
    for (const candidate of answer.candidates) {
      if (descriptions.length === count) break;
      const description = candidate.description.toWellFormed().trim();
      const text = withParameters
        ? textOf({ description, parameters: changedTexts(candidate.parameters ?? {}, target) })
        : { description };
      const problem = problemOf(text, known, quotes, target) ??
        manipulationInText(text, target.siblings.map(({ name }) => name)) ??
        await input.screen?.(text);
      if (problem !== undefined) {
        refused.push({ description: shortened(description, 120), why: problem });
        continue;
      }
      known.add(spelling(text));
      const example = candidate.example?.toWellFormed().trim() ?? "";
      const isKept = example !== "" && example.length <= MAX_EXAMPLE;
      const why = shortened(candidate.why?.toWellFormed().trim() ?? "", MAX_WHY);
      descriptions.push({
        ...text,
        ...(isKept ? { example } : {}),
        ...(why === "" ? {} : { why }),
      });
    }
    return refused;
  }

  const first = await ask(candidatesTask(count), count, input.existing);
  let { cost } = first;
  let refused = await take(first.value);
  if (descriptions.length < count) {
    const missing = count - descriptions.length;
    const taken = [...input.existing, ...descriptions];
    const again = `${candidatesAgain(missing)}\n${dataBlock("refused", refused, ROOM.refused)}`;
    const second = await orGatewayError(ask(again, missing, taken), signal);
    if ("error" in second) {
      if (descriptions.length === 0) throw second.error;
      warnings.push(`The request for ${missing} more failed. ${second.error.message}`);
    } else {
      cost = addCosts(cost, second.cost);
      refused = await take(second.value);
    }
  }
  if (descriptions.length === 0) throw nothingUsable("description", target, refused[0]?.why);
  if (descriptions.length < count) {
    for (const { description, why } of refused) {
      warnings.push(`A description was dropped: ${why} (${shortened(description, 60)})`);
    }
    warnings.push(`Only ${descriptions.length} of ${count} descriptions could be generated`);
  }
  return { descriptions, cost, warnings };

  function ask(task: string, wanted: number, existing: readonly ToolText[]) {
    const own = withParameters ? [parametersBlock(target, input.parent)] : [];
    return askForJson({
      model: input.model,
      system: candidatesSystem(withParameters),
      prompt: [
        about,
        dataBlock("users-say", prompts.map(exampleOf), ROOM.examples),
        // The latest first: where there is no room for all, an older one is less likely repeated.
        dataBlock("existing", existing.toReversed().map(existingData), ROOM.existing),
        ...own,
        ...(input.parent ? [parentText(input.parent)] : []),
        task,
      ].join("\n"),
      maxTokens: 1_000 + (withParameters ? 700 : 300) * wanted,
      schema: CandidatesAnswer,
      signal,
    });
  }
}

function parentText({ description, failures, others }: ParentText): string {
  const numbered = failures.map((failure, at) => ({ number: at + 1, ...failure }));
  return [
    dataBlock("parent", [fitting(description, ROOM.parent - 100)], ROOM.parent),
    dataBlock("failures", numbered, ROOM.failures),
    dataBlock("others", others, ROOM.others),
    lessonTask(failures.length),
  ].join("\n");
}

/** Each parameter with the text that it has, and that of what candidates are written from. */
function parametersBlock({ parameters }: TargetTool, parent: ParentText | undefined): string {
  const lines = Object.entries(parameters).map(([path, text]) => ({
    path: fitting(path, LONGEST_PATH),
    text: fitting(parent?.parameters?.[path] ?? text ?? "", PARAMETERS_ROOM / 4),
  }));
  return dataBlock("parameters", lines, PARAMETERS_ROOM);
}

function existingData({ description, parameters }: ToolText): unknown {
  return parameters ? { description, parameters } : description;
}

/** Without those that say nothing, or what the server says. */
function changedTexts(
  parameters: Record<string, string>,
  target: TargetTool,
): Record<string, string> {
  const trimmed = Object.entries(parameters)
    .map(([path, text]) => [path, text.toWellFormed().trim()] as const);
  return Object.fromEntries(
    trimmed.filter(([path, text]) => text !== "" && target.parameters[path] !== text),
  );
}

function problemOf(
  { description, parameters = {} }: ToolText,
  known: ReadonlySet<string>,
  quotes: readonly string[],
  target: TargetTool,
): string | undefined {
  const { length } = description;
  if (length === 0) return "it is empty";
  if (length > MAX_DESCRIPTION) {
    return `it has ${length} characters, ${length - MAX_DESCRIPTION} more than allowed`;
  }
  if (known.has(spelling({ description, parameters }))) {
    return "it is the same as another description";
  }
  const texts = [description, ...Object.values(parameters)].map(plainly);
  if (quotes.some((quote) => texts.some((text) => text.includes(quote)))) {
    return "it quotes a user's prompt";
  }
  const { length: count } = Object.keys(parameters);
  if (count > MAX_PARAMETER_TEXTS) {
    return `it describes ${count} parameters, at most ${MAX_PARAMETER_TEXTS} are allowed`;
  }
  const [unknown] = unknownParameters({ parameters }, target.parameters);
  if (unknown !== undefined) return `there is no parameter "${shortened(unknown, 60)}"`;
  const long = Object.entries(parameters).find(([, text]) => text.length > MAX_PARAMETER_TEXT);
  return long && `the description of the parameter ${long[0]} has ${long[1].length} characters, ` +
      `${long[1].length - MAX_PARAMETER_TEXT} more than allowed`;
}

function exampleOf({ prompt, category }: GoldenPrompt): unknown {
  return { says: shortened(prompt, 200), isForThisTool: category !== "negative" };
}

/** Two texts with the same spelling are the same but for case and spaces. */
function spelling({ description, parameters = {} }: ToolText): string {
  const others = Object.entries(parameters).sort(([one], [other]) => one < other ? -1 : 1);
  return plainly([description, ...others.flat()].join("\0"));
}

function plainly(text: string): string {
  return text.normalize("NFC").toLowerCase().replace(/\s+/g, "");
}

export function newCandidate(
  { example, lineage, ...text }: Omit<ToolCandidate, "id" | "charCount" | "createdAt">,
): ToolCandidate {
  return {
    id: newId("cand"),
    ...text,
    ...defined({ example, lineage }),
    charCount: text.description.length,
    createdAt: new Date().toISOString(),
  };
}
