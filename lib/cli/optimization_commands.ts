import { configError } from "../config/files.ts";
import {
  CATEGORIES,
  type CategoryScores,
  type Depth,
  GoldenPrompt,
  type ModelResult,
  type PromotedTool,
  type PromotionEvent,
} from "../core/optimization.ts";
import type { OptimizationReport } from "../core/optimization_report.ts";
import {
  gainOf,
  gainPoints,
  gainTextOf,
  missedText,
  modelText,
  promptsIn,
  scoreText,
  settingTexts,
} from "../optimizer/evaluation/metrics.ts";
import { scopeName } from "../optimizer/promotions.ts";
import { lineageText } from "../optimizer/jobs/progress.ts";
import type { OutputOf } from "../operations/operation.ts";
import { OPTIMIZATION_OPERATIONS } from "../operations/optimization.ts";
import type {
  Overview,
  RunSummary,
  ToolOptimizationDetail,
} from "../operations/optimization/schemas.ts";
import type { CommandInput } from "./command.ts";
import { estimateText } from "../operations/optimization/outcomes.ts";
import { jobText } from "./job_commands.ts";
import {
  PARAMETER_FLAG,
  parameterChangeText,
  parametersText,
  readProposal,
} from "./parameter_texts.ts";
import { callsText, promotedNumbers, statusText } from "./optimization_status.ts";
import { type CommandExtras, type OutcomeView, readFile, readInput } from "./operation_command.ts";
import { counted } from "../core/text.ts";
import { parameterLines } from "../core/tool_text.ts";
import { inert, minuteOf, type Paint, table, terminalLine, warningsText } from "./terminal.ts";

type Operations = typeof OPTIMIZATION_OPERATIONS;
type ReportedTool = OptimizationReport["tools"][number];

export const OPTIMIZATION_EXTRAS: Record<string, CommandExtras> = {
  "optimization.status": {
    details: [
      "The percentages are correct runs with the current description: the model called the tool for a",
      "direct or indirect prompt, and did not call it for a negative one.",
    ],
    show: (overview: Overview, { paint }) => statusText(overview, paint),
  },
  "optimization.export": {
    details: ["--json is short for --format json."],
    async read(input) {
      const given = await readInput(OPTIMIZATION_OPERATIONS.exportReport, input);
      return { ...(input.flags.get("json") === true ? { format: "json" } : {}), ...given };
    },
  },
  "optimization.show": {
    details: [
      "✓ or ✗ before a prompt is its result with the current description. TOOL can also be the flat name",
      "(git_status), or the server's own name for the tool if it is unique.",
    ],
    show: ({ tool, runs, failedCalls }: OutputOf<Operations["show"]>, { paint }) =>
      showText(tool, runs, paint) + callsText(failedCalls),
  },
  "optimization.history": {
    details: [
      "`optimize revert TOOL --to EVENT` restores the description that was current after an event.",
    ],
    show: ({ history }: OutputOf<Operations["history"]>, { paint, input: { tool } }) =>
      history.length === 0
        ? `Nothing has been promoted for ${terminalLine(String(tool))}.\n`
        : promotionsText(history, paint),
  },
  "optimization.propose": {
    details: [
      "A candidate changes nothing until it is promoted. --example is a note for you: when to call the tool.",
      "`optimize show TOOL --json` lists the paths of its parameters, as canonicalParameters.",
    ],
    flags: [PARAMETER_FLAG],
    read: readProposal,
  },
  "optimization.save_prompts": {
    details: [
      "With --file, saves the prompts from a file, or from stdin (-). The file is a list:",
      '[{ "category": "direct", "prompt": "Will it rain in Oslo?" }]. The category is direct, indirect',
      "or negative. A negative prompt can set `expectedBehavior.expectedTool` to the tool that should be",
      "called instead. A prompt with an `id` keeps it, and is saved as the next version of that prompt.",
      "The tool's other prompts are retired unless you pass --mode merge. If one prompt is invalid,",
      "nothing is saved.",
    ],
    read: readPromptFile,
    show(output: OutputOf<Operations["savePrompts"]>, { paint }) {
      const { saved, prompts: [first], retired = 0, warnings } = output;
      const others = retired === 0 ? "" : `, retired ${counted(retired, "other")}`;
      return `Saved ${
        counted(saved, "prompt")
      } for ${first?.server}.${first?.toolName}${others}.\n` +
        warningsText(warnings, paint);
    },
  },
  "optimization.prompts": {
    flags: [{
      flag: "list",
      meaning: "List all of the tool's prompts (default without --file)",
    }],
    show: ({ prompts, warnings }: OutputOf<Operations["listPrompts"]>, { paint }) =>
      promptList(prompts, [], paint) + warningsText(warnings, paint),
  },
  "optimization.export_file": {
    details: [
      "TOOL is any of a tool's names, or a server's name for all of its tools. The same records always",
      "give the same file, so it can be kept in git.",
    ],
  },
  "optimization.import": {
    details: [
      "Checks the whole file first; if a part is refused, nothing is saved. Prompts and candidates that are",
      "there already stay. Imported results are shown as evidence, but only a person can promote a",
      "candidate because of them.",
    ],
  },
  "optimization.patch": {
    details: [
      "Prints a text for an issue, with both descriptions and the evidence; with --file, a unified diff",
      "of that file for `git apply`. CANDIDATE defaults to the promoted one.",
    ],
    flags: [{
      flag: "file",
      placeholder: "FILE",
      meaning: "The server's source file that contains the description",
    }],
    async read(input) {
      const path = input.flags.get("file");
      const { positionals: [tool], flags } = input;
      const candidateId = flags.get("candidate");
      return {
        tool,
        ...(typeof candidateId === "string" ? { candidateId } : {}),
        ...(typeof path === "string" ? { path, source: await readFile(path) } : {}),
      };
    },
    // A diff must stay as it is to be applied.
    show: ({ format, text }: OutputOf<Operations["patch"]>) =>
      format === "diff" && !Deno.stdout.isTerminal() ? text : inert(text),
  },
  "optimization.generate": {
    details: ["This spends model time, so optimization must be enabled."],
    waiting: "Writing prompts and candidates",
  },
  "optimization.record": {
    details: [
      "CANDIDATE is a candidate's ID, or `canonical` for the canonical description. Pass either --called",
      "or --not-called; the prompt decides whether the run is correct. Reports count once every prompt",
      "has one for the candidate and one for the canonical description.",
    ],
    flags: [
      { flag: "called", meaning: "The tool was called" },
      { flag: "not-called", meaning: "The tool was not called" },
      { flag: "reasoning", placeholder: "TEXT", meaning: "The model's reasoning" },
      { flag: "error", placeholder: "TEXT", meaning: "Error message, if the run failed" },
    ],
    read: readReport,
  },
  "optimization.evaluate": {
    details: [
      "Does not promote anything and does not call your tools: the gateway shows them to a model and",
      "answers its calls itself. Shows an estimate and asks for confirmation, unless --yes is given.",
    ],
    show: evaluatedText,
  },
  "optimization.promote": {
    details: [
      "If the evidence does not support the promotion, --reason is required. The server, the tool's name",
      "and its schema do not change.",
    ],
  },
  "optimization.revert": { details: ["`optimize history TOOL` lists the events."] },
  "optimization.keep": { details: ["`optimize show TOOL` shows both descriptions."] },
  "optimization.enable": { details: ["The setting survives restarts."] },
  "optimization.disable": { details: ["The setting survives restarts."] },
};

/** The prompts of a file; their form is checked by the operation. */
async function readPromptFile(
  { positionals: [tool], flags }: CommandInput,
): Promise<Record<string, unknown>> {
  const path = String(flags.get("file"));
  const label = path === "-" ? "stdin" : path;
  const text = await readFile(path);
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, ""));
    const prompts = Array.isArray(value) ? value : value?.prompts;
    const mode = flags.get("mode");
    const how = mode === undefined ? {} : { mode };
    return {
      tool,
      ...how,
      prompts: Array.isArray(prompts) ? prompts.map(asWritten(tool)) : prompts,
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    throw configError(`Cannot save ${label}: it is not valid JSON (${why})`, "Correct it");
  }
}

/** A prompt as `optimize prompts TOOL --json` lists it; its id is kept if it is of the same tool. */
function asWritten(tool = "") {
  return (prompt: unknown) => {
    const listed = GoldenPrompt.safeParse(prompt);
    if (!listed.success) return prompt;
    const { id, server, toolName, category, prompt: text, expectedBehavior } = listed.data;
    const own = `${server}.${toolName}` === tool ? { id } : {};
    return { ...own, category, prompt: text, expectedBehavior };
  };
}

function readReport({ positionals, flags }: CommandInput): Record<string, unknown> {
  const [tool, candidateId, promptId, ...others] = positionals;
  const isCalled = flags.get("called") === true;
  if (
    promptId === undefined || others.length > 0 || isCalled === (flags.get("not-called") === true)
  ) {
    throw configError(
      "optimize record requires a tool, a candidate, a prompt, and either --called or --not-called",
      "Usage: quartermaster optimize record TOOL CANDIDATE PROMPT --called",
    );
  }
  const result = Object.fromEntries(
    ["reasoning", "error"].flatMap((name) => flags.has(name) ? [[name, flags.get(name)]] : []),
  );
  return { tool, candidateId, promptId, result: { toolCalled: isCalled, ...result } };
}

export function showText(
  detail: ToolOptimizationDetail,
  runs: readonly RunSummary[],
  paint: Paint,
): string {
  const { promotion, job, candidates, prompts } = detail;
  // Such as that the newest evaluation found no prompts to ask.
  const warnings = [...new Set([...detail.warnings, ...detail.evaluations[0]?.warnings ?? []])];
  return [
    headText(detail, paint),
    descriptionText("Canonical description", detail.canonicalDescription),
    ...(promotion === null ? [] : [
      descriptionText(`Optimized description, ${promotion.candidateId}`, promotion.description) +
      parametersText(promotion, detail, paint),
      promotionText(promotion, detail, paint),
    ]),
    ...detail.familyPromotions.map((promotion) =>
      descriptionText(
        `For ${promotion.family} models, ${promotion.candidateId}`,
        promotion.description,
      ) + parametersText(promotion, detail, paint)
    ),
    ...detail.trials.map((trial) => `Live A/B, ${scopeName(trial)}: ${trial.text}\n`),
    prompts.length === 0
      ? "Golden prompts: none\n"
      : `Golden prompts (${prompts.length}):\n${promptList(prompts, runs, paint)}`,
    candidates.length === 0
      ? "Candidates: none\n"
      : `Candidates (${candidates.length}):\n${
        candidates.map((candidate) => candidateText(candidate, detail, paint)).join("")
      }`,
    ...(warnings.length === 0 ? [] : [warningsText(warnings, paint)]),
    ...(job === null ? [] : [jobText(job)]),
  ].join("\n");
}

function headText(
  { server, tool, promotion, exists, enabled, evaluations }: ToolOptimizationDetail,
  paint: Paint,
): string {
  const state = promotion !== null
    ? `${paint("green", "optimized")}, promoted ${minuteOf(promotion.promotedAt)} by ${
      ACTORS[promotion.by]
    }`
    : evaluations.length > 0
    ? "evaluated, keeps the canonical description"
    : "not optimized";
  const note = exists ? enabled ? "" : "; off" : "; its server does not list it now";
  return `${terminalLine(`${server}.${tool}`)}  ${state}${note}\n`;
}

function descriptionText(title: string, description: string | null): string {
  if (description === null || description === "") return `${title}: none\n`;
  return `${title} (${description.length} characters):\n  ${terminalLine(description)}\n`;
}

function promotionText(
  { candidateId, evaluationId, metrics, baseline, verdict, reason, depth }: PromotedTool,
  { staleness, evaluations }: ToolOptimizationDetail,
  paint: Paint,
): string {
  const evaluation = evaluations.find(({ id }) => id === evaluationId);
  const result = evaluation?.results.find((one) => one.candidateId === candidateId);
  const evidence = (scores: CategoryScores) =>
    evidenceText(scores, depth ?? evaluation?.depth, {
      beside: evaluation?.beside?.length,
      setting: evaluation?.setting,
    });
  return [
    metrics && baseline
      ? `Before and after (${evidence(metrics)}):\n${beforeAfter(baseline, metrics, paint)}` +
        modelTable(result?.models, paint)
      : "It was promoted without an evaluation.\n",
    ...(verdict ? [`${terminalLine(verdict.words)}\n`] : []),
    ...(reason === undefined ? [] : [`Reason: ${terminalLine(reason)}\n`]),
    ...(staleness === null ? [] : [
      warningsText(
        staleness.reasons.map((reason) => `Since the promotion, ${terminalLine(reason)}`),
        paint,
      ),
      ...(staleness.before === staleness.now ? [] : [
        `  was: ${terminalLine(staleness.before ?? "none")}\n`,
        `  is:  ${terminalLine(staleness.now ?? "none")}\n`,
      ]),
      ...(staleness.parameters ?? []).map((change) => parameterChangeText(change)),
      "  Test it again with `optimize run`, or decide with `optimize keep` or `optimize revert`.\n",
    ]),
  ].join("");
}

/** How much stands behind these counts: prompts that were asked, which may be fewer than planned. */
function evidenceText(
  metrics: CategoryScores,
  depth: Depth | undefined,
  shown: Parameters<typeof settingTexts>[0],
): string {
  if (depth === undefined) return "as reported";
  const each = CATEGORIES.map((category) => `${promptsIn(metrics[category])} ${category}`);
  const others = settingTexts(shown).map((text) => `; ${text}`).join("");
  const prompts = counted(promptsIn(metrics.overall), "prompt");
  return `${depth} evidence, ${prompts}: ${each.join(", ")}${others}`;
}

export function beforeAfter(before: CategoryScores, after: CategoryScores, paint: Paint): string {
  return table(([...CATEGORIES, "overall"] as const).map((name) => {
    const gain = gainOf(before[name], after[name]);
    const difference = gain === undefined
      ? ""
      : gain.mean === 0
      ? gainPoints(gain)
      : paint(gain.mean > 0 ? "green" : "red", gainPoints(gain));
    return [
      `  ${titleOf(name)}`,
      scoreText(before[name]),
      "->",
      scoreText(after[name]),
      difference,
    ];
  }));
}

/** Each model's numbers; empty with one model. */
export function modelTable(models: readonly ModelResult[] | undefined, paint: Paint): string {
  if (!models) return "";
  return "With each model:\n" + table(models.map(({ model, baseline, metrics, gain }) => {
    const found = gain ?? gainOf(baseline?.overall, metrics.overall);
    const words = gainTextOf({ gain }, baseline?.overall, metrics.overall) ?? "";
    return [
      `  ${terminalLine(model)}`,
      ...(baseline ? [scoreText(baseline.overall), "->"] : ["", ""]),
      scoreText(metrics.overall),
      found === undefined || found.mean === 0
        ? words
        : paint(found.mean > 0 ? "green" : "red", words),
    ];
  }));
}

/** What an evaluation found out about its candidate, rule by rule. */
export function evaluatedText(
  { job, candidates = [], estimate }: OutputOf<Operations["evaluate"]>,
  { paint, input: { candidateId } }: Pick<OutcomeView, "paint" | "input">,
): string {
  if (!job) return `${terminalLine(estimateText(estimate))}\n`;
  const evidence = candidates.find((each) => each.candidateId === candidateId)?.evidence;
  if (!evidence) return jobText(job);
  const { metrics, baseline, depth, verdict, problem } = evidence;
  const { missed } = candidates.find((each) => each.candidateId === candidateId) ?? {};
  const marks =
    verdict?.rules.map(({ passed, words }) =>
      `  ${passed ? paint("green", "✓") : paint("red", "✗")} ${terminalLine(words)}\n`
    ) ?? [];
  return [
    `${evidenceText(metrics, depth, evidence)}\n`,
    beforeAfter(baseline, metrics, paint),
    modelTable(evidence.models, paint),
    ...(missed === undefined ? [] : [`Not called although it should be: ${missedText(missed)}\n`]),
    ...(problem === undefined ? [] : [`${paint("red", terminalLine(problem))}\n`]),
    ...(verdict
      ? [`${paint(verdict.promote ? "green" : "yellow", terminalLine(verdict.words))}\n`]
      : []),
    ...marks,
    jobText(job),
  ].join("");
}

/** Prompts by category, each with how it went if that is known. */
export function promptList(
  prompts: readonly GoldenPrompt[],
  runs: readonly RunSummary[],
  paint: Paint,
): string {
  return CATEGORIES.map((category) => {
    const own = prompts.filter((prompt) => prompt.category === category);
    const rows = own.map(({ id, prompt, heldOut, expectedBehavior: { expectedTool } }) => {
      const notes = [
        ...(expectedTool === undefined ? [] : [`for ${expectedTool}`]),
        ...(heldOut ? ["held out"] : []),
      ];
      const note = notes.length === 0 ? "" : `  (${terminalLine(notes.join(", "))})`;
      const outcome = outcomeOf(runs.filter(({ promptId }) => promptId === id), paint);
      return [`    ${outcome}`, id, terminalLine(prompt) + note];
    });
    return `  ${titleOf(category)} (${own.length})\n${table(rows)}`;
  }).join("");
}

function titleOf(name: string): string {
  return `${name[0]!.toUpperCase()}${name.slice(1)}`;
}

/** A mark, and the counts if it was asked more than once. */
function outcomeOf(runs: readonly RunSummary[], paint: Paint): string {
  const counted = runs.filter(({ status }) => status === "ok");
  if (counted.length === 0) return runs.length === 0 ? "-" : paint("yellow", "no answer");
  const correct = counted.filter((run) => run.correct).length;
  const mark = correct === counted.length ? paint("green", "✓") : paint("red", "✗");
  return counted.length === 1 ? mark : `${mark} ${correct}/${counted.length}`;
}

function candidateText(
  candidate: ToolOptimizationDetail["candidates"][number],
  detail: ToolOptimizationDetail,
  paint: Paint,
): string {
  const { id, charCount, origin, description, evidence } = candidate;
  const ancestry = lineageText(candidate);
  const found = evidence === null
    ? "not evaluated"
    : `overall ${scoreText(evidence.metrics.overall)}, ${evidence.depth}` +
      (evidence.source === "reported" ? ", reported by a caller" : "");
  const words = evidence?.problem ?? evidence?.verdict?.words;
  const color = evidence?.problem === undefined && evidence?.verdict?.promote ? "green" : "yellow";
  return `  ${id}  ${charCount} characters, ${ORIGINS[origin]}, ${found}\n` +
    `    ${terminalLine(description)}\n` +
    parametersText(candidate, detail, paint) +
    (ancestry === undefined ? "" : `    ${terminalLine(ancestry)}\n`) +
    (evidence?.models ?? []).map((one) => `    ${terminalLine(modelText(one))}\n`).join("") +
    (words === undefined ? "" : `    ${paint(color, terminalLine(words))}\n`);
}

const ORIGINS = { caller: "from a client", person: "from a person", generated: "generated" };
const ACTORS = { caller: "a client", person: "a person", job: "a job", trial: "live A/B" };
const ACTIONS = {
  promote: { text: "promote", color: "green" },
  revert: { text: "revert", color: "yellow" },
  keep: { text: "keep", color: "gray" },
  "trial-start": { text: "live A/B started", color: "gray" },
  "trial-end": { text: "live A/B ended", color: "gray" },
} as const;

export function promotionsText(history: readonly PromotionEvent[], paint: Paint): string {
  return history.map(({ id, time, action, by, family, promotion, reason }) => {
    const { text, color } = ACTIONS[action];
    const whose = family === undefined ? "" : `  for ${family}`;
    const after = promotion === null
      ? family === undefined ? "the canonical description" : "the description for all clients"
      : [
        `${promotion.candidateId}: ${terminalLine(promotion.description)}`,
        ...parameterLines(promotion.parameters).map(terminalLine),
      ].join("\n    ");
    const why = reason ?? (action === "promote" ? promotion?.reason : undefined);
    const isChange = action === "promote" || action === "revert";
    const numbers = promotion && isChange ? promotedNumbers(promotion) : undefined;
    return `${minuteOf(time)}  ${paint(color, text)}${whose}  ${id}  by ${ACTORS[by]}\n` +
      `  ${after}\n${numbers === undefined ? "" : `  ${numbers}\n`}` +
      (why === undefined ? "" : `  because: ${terminalLine(why)}\n`);
  }).join("");
}
