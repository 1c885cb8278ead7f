import { isDeepStrictEqual } from "node:util";
import { GoldenPrompt, newId, type PromptCategory, TextOrigin } from "../../core/optimization.ts";
import { defined } from "../../core/defined.ts";
import { GatewayError } from "../../core/errors.ts";
import { nearestNames, shortened } from "../../core/text.ts";
import { isNearDuplicate, promptProblem } from "../../optimizer/generation/prompt_rules.ts";
import { emptyCategoryWarnings } from "../../optimizer/evaluation/metrics.ts";
import { proposedLabel } from "../../optimizer/evaluation/labels.ts";
import type { Target } from "../../optimizer/targets.ts";
import {
  type OptimizationAdminOptions,
  ownName,
  resolveSubject,
  type WrittenTool,
} from "./subjects.ts";
import {
  type EditedPrompt,
  type LabelDecision,
  PROMPT_LENGTH,
  type SavedPrompts,
  type WrittenPrompt,
} from "./schemas.ts";

/** The prompts that a tool's descriptions are tried with. Each edit is a version of its own. */
export class PromptSets {
  readonly #options: OptimizationAdminOptions;

  constructor(options: OptimizationAdminOptions) {
    this.#options = options;
  }

  /** Saves all of them, or none where one will not do; a prompt that is there already stays. */
  async save(
    input: WrittenTool & { prompts: readonly WrittenPrompt[]; mode?: "replace" | "merge" },
    origin: TextOrigin,
  ): Promise<SavedPrompts> {
    const subject = resolveSubject(this.#options, input);
    const { server } = subject;
    const drafts = input.prompts.map((draft) => withOwnName(this.#options, server, draft));
    const repository = this.#options.prompts;
    const own = this.#options.canonicalTools(server).map(({ name }) => name);
    const others = this.#options.subjects.tools().filter((other) => other.server !== server)
      .map((other) => `${other.server}.${other.tool}`);
    const tools = [...own, ...others];
    const current = await repository.list(server, subject.name);
    const before = await Promise.all(
      drafts.map(async ({ id, prompt }) =>
        id === undefined
          ? current.find((known) => plainText(known.prompt) === plainText(prompt))
          : await repository.find(server, id)
      ),
    );
    const meant = new Set(before.map((prompt) => prompt?.id));
    const now = Date.now();
    const problems: string[] = [];
    const saved = drafts.flatMap((draft, index) => {
      const earlier = before[index];
      const others = [
        ...current.filter(({ id }) => !meant.has(id))
          .map(({ id, prompt }) => ({ name: `prompt ${id}`, id, prompt })),
        ...drafts.slice(0, index).map(({ id, prompt }, nth) => ({
          name: `prompts[${nth}]`,
          id,
          prompt,
        })),
      ];
      const problem = draftProblem(draft, subject, earlier, others) ??
        meantForProblem(draft, subject, earlier, tools);
      if (problem === undefined) {
        return [versionOf(draft, subject, { earlier, origin, now })];
      }
      problems.push(`prompts[${index}]: ${problem}`);
      return [];
    });
    if (problems.length > 0) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: `Cannot save these prompts for ${server}.${subject.name}: ${problems.join("; ")}`,
        recoverySteps: ["No prompt was saved: correct these problems, then save all prompts again"],
      });
    }
    const createdAt = new Date(now).toISOString();
    // Those that a job keeps for its tests are no part of anybody's set.
    const isOthers = ({ id, origin, heldOut }: GoldenPrompt) =>
      !meant.has(id) && !(origin === "generated" && heldOut);
    const retired = input.mode === "replace" ? current.filter(isOthers) : [];
    await repository.save([
      ...saved.filter((prompt, index) => prompt !== before[index]),
      ...retired.map((old) => ({ ...old, version: old.version + 1, createdAt, retired: true })),
    ]);
    this.#options.onChange?.();
    const all = await repository.list(server, subject.name);
    const warnings = [
      ...emptyCategoryWarnings(all),
      ...saved.flatMap((prompt) => draftWarnings(prompt, subject, all, others)),
    ];
    const { length } = retired;
    return {
      saved: saved.length,
      prompts: saved,
      ...(length > 0 ? { retired: length } : {}),
      warnings,
    };
  }

  async edit(edit: WrittenTool & EditedPrompt): Promise<GoldenPrompt> {
    const old = await this.#resolve(edit);
    const category = edit.category ?? old.category;
    const { notes, expectedTool, expectedArguments } = old.expectedBehavior;
    const isOtherKind = (category === "negative") !== (old.category === "negative");
    const expectedBehavior = edit.expectedBehavior ??
      (isOtherKind ? { notes } : { notes, expectedTool, expectedArguments });
    const draft = { id: old.id, category, prompt: edit.prompt ?? old.prompt, expectedBehavior };
    const named = { server: old.server, tool: old.toolName };
    const { prompts } = await this.save({ ...named, prompts: [draft] }, "person");
    return prompts[0]!;
  }

  /** It is no longer asked; what was measured with it stays. */
  async retire(retired: WrittenTool & { id: string }): Promise<void> {
    const old = await this.#resolve(retired);
    const createdAt = new Date().toISOString();
    await this.#options.prompts.save([
      { ...old, version: old.version + 1, createdAt, retired: true },
    ]);
    this.#options.onChange?.();
  }

  /** What a person decides about a label that may be wrong. */
  async judgeLabel(
    { decision, ...named }: WrittenTool & { id: string; decision: LabelDecision },
  ): Promise<GoldenPrompt | undefined> {
    if (decision === "drop") {
      await this.retire(named);
      return undefined;
    }
    const old = await this.#resolve(named);
    if (decision === "relabel") {
      const { server, toolName, id } = old;
      const runs = await this.#options.runs.list(server, toolName);
      // Nobody asks for another label than the runs speak for: for that there is the edit.
      const { category, expectedTool } = proposedLabel(old, runs);
      const { notes } = old.expectedBehavior;
      const expectedBehavior = { ...defined({ notes, expectedTool }) };
      return await this.edit({ server, tool: toolName, id, category, expectedBehavior });
    }
    const { server, id, version } = old;
    const createdAt = new Date().toISOString();
    const kept = { ...old, version: version + 1, createdAt, isConfirmed: true as const };
    await this.#options.prompts.save([kept]);
    this.#options.onChange?.();
    return await this.#options.prompts.find(server, id);
  }

  /** The version of today. */
  async #resolve({ id, ...written }: WrittenTool & { id: string }): Promise<GoldenPrompt> {
    const { server, name } = resolveSubject(this.#options, written);
    const found = await this.#options.prompts.find(server, id);
    if (found && found.toolName === name && !found.retired) return found;
    throw promptNotFound(server, id, name);
  }
}

export function promptNotFound(server: string, id: string, tool?: string): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: `There is no prompt "${id}" for ${tool === undefined ? server : `${server}.${tool}`}`,
    recoveryAction: "Use the id of a saved prompt",
    recoverySteps: ["Look up the ids in the tool's results, or save the prompt again"],
    next: [
      { label: "Look up the ids", operation: "optimization.results", input: { server } },
      { label: "Save the prompt again", operation: "optimization.save_prompts" },
    ],
  });
}

const MOST_ARGUMENTS = 4_000;
const PROMPT_ID = /^[\w.:-]{1,64}$/;

/** Why a prompt cannot be kept as it is. */
function draftProblem(
  draft: WrittenPrompt,
  { name }: Target,
  earlier: GoldenPrompt | undefined,
  others: readonly { name: string; id: string | undefined; prompt: string }[],
): string | undefined {
  const { id, toolName, category, expectedBehavior = {} } = draft;
  const text = draft.prompt.trim();
  const shouldCall = category !== "negative";
  const { shouldCallTool = shouldCall, notes = "" } = expectedBehavior;
  if (toolName !== undefined && toolName !== name) return `it is for the tool "${toolName}"`;
  if (earlier && earlier.toolName !== name) {
    return `its id belongs to a prompt for the tool "${earlier.toolName}"`;
  }
  if (id !== undefined && !PROMPT_ID.test(id)) {
    return "an id must have 1 to 64 letters, digits, _ . : or -";
  }
  const { least, most } = PROMPT_LENGTH;
  if (text.length < least || text.length > most) {
    return `a prompt must have ${least} to ${most} characters (got ${text.length})`;
  }
  if (notes.length > 1_000) return `notes can have at most 1000 characters (got ${notes.length})`;
  if (shouldCallTool !== shouldCall) {
    return `shouldCallTool must be ${shouldCall} for ${aPrompt(category)}`;
  }
  const same = others.find((other) =>
    plainText(other.prompt) === plainText(text) || (id !== undefined && other.id === id)
  );
  return same && `it is the same as ${same.name}`;
}

/** Why the tool that a prompt is meant for cannot be right. */
function meantForProblem(
  { category, expectedBehavior }: WrittenPrompt,
  { server, name }: Target,
  earlier: GoldenPrompt | undefined,
  tools: readonly string[],
): string | undefined {
  const { expectedTool, expectedArguments } = expectedBehavior ?? {};
  if (expectedArguments !== undefined && category === "negative") {
    return "a negative prompt calls no tool that expectedArguments could be for";
  }
  if (JSON.stringify(expectedArguments ?? {}).length > MOST_ARGUMENTS) {
    return `expectedArguments can have at most ${MOST_ARGUMENTS} characters`;
  }
  if (expectedTool === undefined || (expectedTool === name && category !== "negative")) {
    return undefined;
  }
  if (category !== "negative") {
    return `${aPrompt(category)} should call "${name}" itself, so its expectedTool cannot be ` +
      `"${expectedTool}": only a negative prompt can name a sibling to call instead`;
  }
  if (expectedTool === name) {
    return `the expectedTool of a negative prompt cannot be "${name}" itself: name the sibling to ` +
      "call instead, or leave it out";
  }
  // One that is gone since it was named stands in the way of no other change.
  const isAsBefore = earlier?.expectedBehavior.expectedTool === expectedTool;
  if (isAsBefore || tools.includes(expectedTool)) return undefined;
  const near = nearestNames(expectedTool, tools.filter((tool) => tool !== name));
  return `its expectedTool is "${expectedTool}", but ${server} has no such tool` +
    (near.length === 0 ? "" : `; did you mean ${near.join(", ")}?`);
}

function aPrompt(category: PromptCategory): string {
  return `${category === "indirect" ? "an" : "a"} ${category} prompt`;
}

/** Tools may be named with their server's name before theirs. */
function withOwnName(
  options: OptimizationAdminOptions,
  server: string,
  draft: WrittenPrompt,
): WrittenPrompt {
  const { expectedTool } = draft.expectedBehavior ?? {};
  if (expectedTool === undefined) return draft;
  const expectedBehavior = {
    ...draft.expectedBehavior,
    expectedTool: ownName(options, server, expectedTool),
  };
  return { ...draft, expectedBehavior };
}

/** Two prompts are the same if these are. */
export function plainText(text: string): string {
  return text.trim().toLowerCase().replace(/\s+/g, " ");
}

/** The prompt as it is kept; where nothing changed, the version that there is. */
function versionOf(
  { id, category, prompt, expectedBehavior = {} }: WrittenPrompt,
  { server, name }: Target,
  { earlier, origin, now }: {
    earlier: GoldenPrompt | undefined;
    origin: TextOrigin;
    now: number;
  },
): GoldenPrompt {
  const { notes, expectedArguments } = expectedBehavior;
  const shouldCallTool = category !== "negative";
  const expectedTool = shouldCallTool ? undefined : expectedBehavior.expectedTool;
  const text = prompt.trim();
  const isSame = earlier && !earlier.retired && earlier.prompt === text &&
    earlier.category === category && earlier.expectedBehavior.notes === notes &&
    earlier.expectedBehavior.expectedTool === expectedTool &&
    isDeepStrictEqual(earlier.expectedBehavior.expectedArguments, expectedArguments);
  if (isSame) return earlier;
  return GoldenPrompt.parse({
    id: earlier?.id ?? id ?? newId("prompt", now),
    version: (earlier?.version ?? 0) + 1,
    server,
    toolName: name,
    category,
    prompt: text,
    expectedBehavior: {
      shouldCallTool,
      ...defined({ notes, expectedTool, expectedArguments }),
    },
    createdAt: new Date(now).toISOString(),
    origin,
    heldOut: earlier?.heldOut ?? false,
  });
}

/** What makes a prompt tell less than it could. */
function draftWarnings(
  prompt: GoldenPrompt,
  { server, name, siblings }: Target,
  all: readonly GoldenPrompt[],
  /** Tools of other servers. */
  others: readonly string[],
): string[] {
  const { expectedTool } = prompt.expectedBehavior;
  const about = `Prompt "${shortened(prompt.prompt, 60)}"`;
  const near = all.find((other) =>
    other.id < prompt.id && isNearDuplicate(other.prompt, prompt.prompt)
  );
  const problem = promptProblem(prompt, { name, server });
  return [
    ...(near ? [`${about} asks for nearly the same as "${shortened(near.prompt, 60)}"`] : []),
    ...(problem === undefined ? [] : [`${about}: ${problem}`]),
    ...(expectedTool === undefined || siblings.some((sibling) => sibling.name === expectedTool)
      ? []
      : others.includes(expectedTool)
      ? [`${about} should call "${expectedTool}", which is shown only with the equipped toolset`]
      : [
        `${about} should call "${expectedTool}", which ${server} does not have or which is disabled`,
      ]),
  ];
}
