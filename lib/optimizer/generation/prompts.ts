import * as z from "zod";
import { defined } from "../../core/defined.ts";
import type { GatewayError } from "../../core/errors.ts";
import { CATEGORIES, PromptCategory, type RunCost } from "../../core/optimization.ts";
import { shortened } from "../../core/text.ts";
import { flatten, namespacedName } from "../../catalog/names.ts";
import { addCosts } from "../cost.ts";
import type { TextModel } from "./text_model.ts";
import { dataBlock, ROOM, targetText } from "./request.ts";
import { PROMPTS_SYSTEM, promptsAgain, promptsTask } from "./instructions.ts";
import { askForJson, nothingUsable, orGatewayError } from "./answer.ts";
import { byCategory } from "../evaluation/metrics.ts";
import { type DraftPrompt, KnownTexts, promptProblem } from "./prompt_rules.ts";
import type { TargetTool } from "../targets.ts";

/** More in one answer would be cut off, or take longer than a model is waited for. */
const MOST_AT_ONCE = 45;
const MAX_NOTES = 1_000;

const PromptsAnswer = z.object({
  prompts: z.array(z.object({
    category: PromptCategory,
    prompt: z.string(),
    notes: z.string().nullish(),
    expectedTool: z.string().nullish(),
  })),
});
type Answered = z.infer<typeof PromptsAnswer>["prompts"][number];

type Counts = Record<PromptCategory, number>;

export interface PromptsInput {
  model: TextModel;
  target: TargetTool;
  counts: Counts;
  existing: readonly string[];
  signal: AbortSignal;
}

interface Refused {
  category: PromptCategory;
  prompt: string;
  why: string;
}

/** What breaks the rules is asked for once more, then dropped. CANNOT_GENERATE if none is left. */
export async function generatePrompts(input: PromptsInput): Promise<{
  prompts: DraftPrompt[];
  cost: RunCost;
  warnings: string[];
}> {
  const { target, counts, signal } = input;
  const writing = new PromptWriter(input);
  let lastError: GatewayError | undefined;
  for (const batch of batchesOf(counts)) {
    const outcome = await orGatewayError(writing.write(batch), signal);
    lastError = outcome?.error;
    // The next would most likely fail as well.
    if (lastError !== undefined) break;
  }
  const { prompts, warnings, refused } = writing;
  const wanted = totalOf(counts);
  if (prompts.length === 0 && wanted > 0) {
    throw lastError ?? nothingUsable("prompt", target, refused[0]?.why);
  }
  if (lastError !== undefined) {
    warnings.push(`The request for more prompts failed. ${lastError.message}`);
  }
  for (const { category, prompt, why } of refused) {
    warnings.push(`A prompt (${category}) was dropped: ${shortened(prompt, 60)} - ${why}`);
  }
  for (const category of CATEGORIES) {
    const got = prompts.filter((prompt) => prompt.category === category).length;
    if (got < counts[category]) {
      warnings.push(`Only ${got} of ${counts[category]} ${category} prompts could be generated`);
    }
  }
  const negative = prompts.filter(({ category }) => category === "negative");
  const isBlind = negative.every((prompt) => prompt.expectedBehavior.expectedTool === undefined);
  if (negative.length > 0 && isBlind && target.siblings.length > 0) {
    warnings.push(
      "No negative prompt is meant for another tool of the server, " +
        "so a description that steals prompts from other tools would go unnoticed",
    );
  }
  const inOrder = CATEGORIES.flatMap((category) => prompts.filter((p) => p.category === category));
  return { prompts: inOrder, cost: writing.cost, warnings };
}

class PromptWriter {
  readonly prompts: DraftPrompt[] = [];
  readonly warnings: string[] = [];
  readonly refused: Refused[] = [];
  readonly #costs: RunCost[] = [];
  readonly #input: PromptsInput;
  readonly #known: KnownTexts;
  readonly #about: string;

  constructor(input: PromptsInput) {
    this.#input = input;
    this.#known = new KnownTexts(input.existing);
    this.#about = targetText(input.target);
  }

  get cost(): RunCost {
    return addCosts(...this.#costs);
  }

  async write(counts: Counts): Promise<undefined> {
    const left = { ...counts };
    const refused = this.#take(await this.#ask(promptsTask(counts), totalOf(counts)), left);
    if (totalOf(left) === 0) return;
    const again = `${promptsAgain(left)}\n${dataBlock("refused", refused, ROOM.refused)}`;
    const isMissing = ({ category }: Refused) => left[category] > 0;
    this.refused.push(...this.#take(await this.#ask(again, totalOf(left)), left).filter(isMissing));
  }

  #take(answered: readonly Answered[], left: Counts): Refused[] {
    const { target } = this.#input;
    const refused: Refused[] = [];
    for (const one of answered) {
      if (left[one.category] === 0) continue;
      const prompt = written(one, target);
      const why = prompt.expectedBehavior.expectedTool === target.name
        ? "It is meant for the tool itself, which a negative prompt must not be"
        : promptProblem(prompt, target, this.#known);
      if (why !== undefined) {
        refused.push({ category: one.category, prompt: shortened(prompt.prompt, 80), why });
        continue;
      }
      left[one.category]--;
      this.#known.add(prompt.prompt);
      this.prompts.push(prompt);
    }
    return refused;
  }

  async #ask(task: string, wanted: number): Promise<Answered[]> {
    const { model, existing, signal } = this.#input;
    const known = [...existing, ...this.prompts.map(({ prompt }) => prompt)];
    const { value, cost } = await askForJson({
      model,
      system: PROMPTS_SYSTEM,
      prompt: [
        this.#about,
        // The latest first: where there is no room for all, an older one is less likely repeated.
        dataBlock("existing", known.map((text) => shortened(text, 120)).reverse(), ROOM.existing),
        task,
      ].join("\n"),
      maxTokens: 1_000 + 150 * wanted,
      schema: PromptsAnswer,
      signal,
    });
    this.#costs.push(cost);
    return value.prompts;
  }
}

/** What should come of a prompt follows from its category, whatever the model says. */
function written(answered: Answered, target: TargetTool): DraftPrompt {
  const { category } = answered;
  const notes = shortened(answered.notes?.toWellFormed().trim() ?? "", MAX_NOTES);
  const expectedTool = category === "negative"
    ? ownName(answered.expectedTool ?? "", target)
    : undefined;
  return {
    category,
    prompt: answered.prompt.toWellFormed().trim(),
    expectedBehavior: {
      shouldCallTool: category !== "negative",
      ...defined({ notes: notes || undefined, expectedTool }),
    },
  };
}

/** A tool's own name, however the model spelled it; undefined where there is no such tool here. */
function ownName(spelled: string, { server, name, siblings }: TargetTool): string | undefined {
  const names = [name, ...siblings.map((sibling) => sibling.name)];
  if (names.includes(spelled)) return spelled;
  const formsOf = (own: string) =>
    [own, namespacedName(server, own)].flatMap((n) => [n, flatten(n)]);
  return names.find((own) => formsOf(own).includes(spelled));
}

function batchesOf(counts: Counts): Counts[] {
  const parts = Math.ceil(totalOf(counts) / MOST_AT_ONCE);
  return Array.from({ length: parts }, (_, part) =>
    byCategory((category) => {
      const upTo = (end: number) => Math.floor(counts[category] * end / parts);
      return upTo(part + 1) - upTo(part);
    }));
}

function totalOf(counts: Counts): number {
  return CATEGORIES.reduce((sum, category) => sum + counts[category], 0);
}
