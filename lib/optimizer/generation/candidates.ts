import * as z from "zod";
import {
  type GoldenPrompt,
  MAX_DESCRIPTION,
  MAX_WHY,
  newId,
  type RunCost,
  type ToolCandidate,
} from "../../core/optimization.ts";
import { defined } from "../../core/defined.ts";
import { shortened } from "../../core/text.ts";
import { addCosts } from "../cost.ts";
import type { TextModel } from "./text_model.ts";
import { dataBlock, fitting, ROOM, targetText } from "./request.ts";
import { CANDIDATES_SYSTEM, candidatesAgain, candidatesTask, lessonTask } from "./instructions.ts";
import { manipulationIn } from "./description_rules.ts";
import { askForJson, nothingUsable, orGatewayError } from "./answer.ts";
import type { TargetTool } from "../targets.ts";

const MAX_EXAMPLE = 2_000;

const CandidatesAnswer = z.object({
  candidates: z.array(z.object({
    description: z.string(),
    example: z.string().nullish(),
    why: z.string().nullish(),
  })),
});

type WrittenDescription = Pick<ToolCandidate, "description" | "example"> & { why?: string };

/** What a description got wrong, in the words of a request to the writer. */
export interface FailedPrompt {
  says: string;
  shouldCall: string;
  called: string[];
  /** What the model said, if it said anything. */
  said?: string;
}

/** A description that was tested, to write better ones from. */
export interface ParentText {
  description: string;
  failures: readonly FailedPrompt[];
  /** Others, with the numbers of the failures that they got right. */
  others: readonly { description: string; rightFor: number[] }[];
}

export interface CandidatesInput {
  model: TextModel;
  target: TargetTool;
  count: number;
  existing: readonly string[];
  /** What users say, as examples; those that are held out or retired are not shown. */
  prompts: readonly GoldenPrompt[];
  /** What to write from, if something was tested. */
  parent?: ParentText | undefined;
  /** Why models must not read a description; undefined if they may. */
  screen?(description: string): Promise<string | undefined>;
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
  const { target, count, signal } = input;
  const prompts = input.prompts.filter(({ heldOut, retired }) => !heldOut && !retired);
  const known = new Set(
    [target.description, target.definition.description ?? "", ...input.existing].map(spellingOf),
  );
  const quotes = prompts.map(({ prompt }) => spellingOf(prompt));
  const about = targetText(target);
  const descriptions: WrittenDescription[] = [];
  const warnings: string[] = [];

  async function take(answer: z.infer<typeof CandidatesAnswer>): Promise<Refused[]> {
    const refused: Refused[] = [];
    for (const candidate of answer.candidates) {
      if (descriptions.length === count) break;
      const description = candidate.description.toWellFormed().trim();
      const problem = problemOf(description, known, quotes) ??
        manipulationIn(description, target.siblings.map(({ name }) => name)) ??
        await input.screen?.(description);
      if (problem !== undefined) {
        refused.push({ description: shortened(description, 120), why: problem });
        continue;
      }
      known.add(spellingOf(description));
      const example = candidate.example?.toWellFormed().trim() ?? "";
      const isKept = example !== "" && example.length <= MAX_EXAMPLE;
      const why = shortened(candidate.why?.toWellFormed().trim() ?? "", MAX_WHY);
      descriptions.push({
        description,
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
    const taken = [...input.existing, ...descriptions.map(({ description }) => description)];
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

  function ask(task: string, wanted: number, existing: readonly string[]) {
    return askForJson({
      model: input.model,
      system: CANDIDATES_SYSTEM,
      prompt: [
        about,
        dataBlock("users-say", prompts.map(exampleOf), ROOM.examples),
        // The latest first: where there is no room for all, an older one is less likely repeated.
        dataBlock("existing", existing.toReversed(), ROOM.existing),
        ...(input.parent ? [parentText(input.parent)] : []),
        task,
      ].join("\n"),
      maxTokens: 1_000 + 300 * wanted,
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

function problemOf(
  description: string,
  known: ReadonlySet<string>,
  quotes: readonly string[],
): string | undefined {
  const { length } = description;
  if (length === 0) return "it is empty";
  if (length > MAX_DESCRIPTION) {
    return `it has ${length} characters, ${length - MAX_DESCRIPTION} more than allowed`;
  }
  const spelling = spellingOf(description);
  if (known.has(spelling)) return "it is the same as another description";
  if (quotes.some((quote) => spelling.includes(quote))) return "it quotes a user's prompt";
  return undefined;
}

function exampleOf({ prompt, category }: GoldenPrompt): unknown {
  return { says: shortened(prompt, 200), isForThisTool: category !== "negative" };
}

/** Two descriptions with the same spelling are the same but for case and spaces. */
function spellingOf(text: string): string {
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
