import {
  CANONICAL,
  CATEGORIES,
  type Evaluation,
  type GoldenPrompt,
  type Metrics,
} from "../core/optimization.ts";
import { besideText } from "../optimizer/beside.ts";
import { noMetrics, promptsIn, rateOf, scoreText } from "../optimizer/metrics.ts";
import type { KnownCandidate, PromptRun, ToolDetail } from "./optimization_answers.ts";
import { fullName } from "./optimize_command.ts";
import {
  jobHint,
  jobText,
  notesText,
  type Paint,
  promptsText,
  runsText,
  spentText,
} from "./optimize_text.ts";
import { table } from "./terminal.ts";
import { oneLine } from "./toolset_text.ts";

const ROWS = [
  ["Direct", "direct"],
  ["Indirect", "indirect"],
  ["Negative", "negative"],
  ["Overall", "overall"],
] as const;

/** One tool: its descriptions, the numbers before and after, prompts and candidates. */
export function showText(detail: ToolDetail, runs: readonly PromptRun[], paint: Paint): string {
  const { promotion, job, candidates, prompts } = detail;
  return [
    headText(detail, paint),
    descriptionText("Canonical description", detail.canonicalDescription),
    ...(promotion === null ? [] : [
      descriptionText(`Optimized description, ${promotion.candidateId}`, promotion.description),
    ]),
    ...changeBlock(detail, paint),
    prompts.length === 0
      ? "Golden prompts: none\n"
      : `Golden prompts (${prompts.length})${
        runs.length === 0 ? "" : ", as they went with the description in force"
      }:\n${promptList(prompts, runs, paint)}`,
    candidates.length === 0
      ? "Candidates: none\n"
      : `Candidates (${candidates.length}):\n${
        candidates.map((candidate) => candidateText(candidate, paint)).join("")
      }`,
    ...(detail.warnings.length === 0 ? [] : [notesText(detail.warnings, paint)]),
    ...(job === null ? [] : [jobText(job) + jobHint(job)]),
  ].join("\n");
}

function headText(detail: ToolDetail, paint: Paint): string {
  const { promotion, exists, enabled, evaluations } = detail;
  const state = promotion !== null
    ? `${paint("green", "optimized")}, promoted ${minute(promotion.promotedAt)} by ${
      by(promotion.by)
    }`
    : evaluations.length > 0
    ? "evaluated, the server's own description is kept"
    : "not optimized";
  const notes = [
    ...(exists ? [] : ["its server does not have it now"]),
    ...(exists && !enabled ? ["off"] : []),
  ];
  return `${oneLine(fullName(detail))}  ${[state, ...notes].join("; ")}\n`;
}

function descriptionText(title: string, description: string | null): string {
  if (description === null || description === "") return `${title}: none\n`;
  return `${title} (${description.length} characters):\n  ${oneLine(description)}\n`;
}

function changeBlock({ promotion, staleness, evaluations }: ToolDetail, paint: Paint): string[] {
  if (promotion === null) return [];
  const evaluation = evaluations.find(({ id }) => id === promotion.evaluationId);
  const { metrics, baseline, verdict, reason } = promotion;
  const lines = [
    ...(metrics && baseline
      ? [
        `Before and after (${evidenceWords(metrics, evaluation, promotion.depth)}):\n${
          beforeAfter(baseline, metrics, paint)
        }`,
      ]
      : ["It was promoted without numbers.\n"]),
    ...(verdict ? [`${oneLine(verdict.words)}\n`] : []),
    ...(reason === undefined ? [] : [`Promoted because: ${oneLine(reason)}\n`]),
    ...(staleness === null ? [] : [
      `${
        paint("yellow", "Warning:")
      } the server's own description has changed since it was promoted\n` +
      `  was: ${oneLine(staleness.before ?? "none")}\n` +
      `  is:  ${oneLine(staleness.now ?? "none")}\n` +
      "  Decide with `optimize keep` or `optimize revert`.\n",
    ]),
  ];
  return [lines.join("")];
}

/** How much stands behind these counts: prompts that were asked, which may be fewer than planned. */
function evidenceWords(
  metrics: Metrics,
  evaluation: Evaluation | undefined,
  depth = evaluation?.depth,
): string {
  if (depth === undefined) return "as reported";
  const each = CATEGORIES.map((category) => `${promptsIn(metrics[category])} ${category}`);
  const beside = evaluation?.beside === undefined
    ? ""
    : `; ${besideText(evaluation.beside.length)}`;
  return `${depth} evidence, ${promptsText(promptsIn(metrics.overall))}: ${
    each.join(", ")
  }${beside}`;
}

/** Each category before and after, with intervals, and the difference in points. */
export function beforeAfter(before: Metrics, after: Metrics, paint: Paint): string {
  return table(ROWS.map(([title, name]) => {
    const [was, is] = [rateOf(before[name]), rateOf(after[name])];
    const points = was === null || is === null ? undefined : Math.round(100 * (is - was));
    const difference = points === undefined
      ? ""
      : points > 0
      ? paint("green", `+${points} points`)
      : points < 0
      ? paint("red", `${points} points`)
      : "as before";
    return [`  ${title}`, scoreText(before[name]), "->", scoreText(after[name]), difference];
  }));
}

/** Prompts by category, each with how it went where that is known. */
export function promptList(
  prompts: readonly GoldenPrompt[],
  runs: readonly PromptRun[],
  paint: Paint,
): string {
  return CATEGORIES.map((category) => {
    const own = prompts.filter((prompt) => prompt.category === category);
    const rows = own.map((prompt) => [
      `    ${outcomeOf(runs.filter(({ promptId }) => promptId === prompt.id), paint)}`,
      prompt.id,
      oneLine(prompt.prompt) + noteOf(prompt),
    ]);
    const title = `${category[0]!.toUpperCase()}${category.slice(1)}`;
    return `  ${title} (${own.length})\n${table(rows)}`;
  }).join("");
}

function noteOf({ heldOut, expectedBehavior: { expectedTool } }: GoldenPrompt): string {
  const notes = [
    ...(expectedTool === undefined ? [] : [`for ${oneLine(expectedTool)}`]),
    ...(heldOut ? ["held out"] : []),
  ];
  return notes.length === 0 ? "" : `  (${notes.join(", ")})`;
}

/** A mark, and the counts where it was asked more than once. */
function outcomeOf(runs: readonly PromptRun[], paint: Paint): string {
  const counted = runs.filter(({ status }) => status === "ok");
  if (counted.length === 0) return runs.length === 0 ? "-" : paint("yellow", "no answer");
  const correct = counted.filter((run) => run.correct).length;
  const mark = correct === counted.length ? paint("green", "✓") : paint("red", "✗");
  return counted.length === 1 ? mark : `${mark} ${correct}/${counted.length}`;
}

function candidateText(candidate: KnownCandidate, paint: Paint): string {
  const { id, charCount, origin, description, evidence } = candidate;
  const found = evidence === null
    ? "not evaluated"
    : `overall ${scoreText(evidence.metrics.overall)}, ${evidence.depth}` +
      (evidence.source === "reported" ? ", reported by a caller" : "");
  const words = evidence?.problem ?? evidence?.verdict?.words;
  const color = evidence?.problem === undefined && evidence?.verdict?.promote ? "green" : "yellow";
  return `  ${id}  ${charCount} characters, ${ORIGINS[origin]}, ${found}\n` +
    `    ${oneLine(description)}\n` +
    (words === undefined ? "" : `    ${paint(color, oneLine(words))}\n`);
}

const ORIGINS = { caller: "from a client", person: "from a person", generated: "generated" };

export function by(who: "caller" | "person" | "job"): string {
  return who === "caller" ? "a client" : who === "person" ? "a person" : "a job";
}

export function minute(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

/** What one evaluation says of a candidate. */
export function evaluatedText(evaluation: Evaluation, candidateId: string, paint: Paint): string {
  const find = (id: string) => evaluation.results.find((result) => result.candidateId === id);
  const [own, candidate] = [find(CANONICAL), find(candidateId)];
  const { runs, errors, cost } = evaluation;
  const spent = cost.costUsd === undefined ? "" : `, ${spentText(cost)}`;
  // What both have answered, as the verdict has it.
  const after = candidate?.paired?.candidate ?? candidate?.metrics;
  const before = candidate?.paired?.baseline ?? own?.metrics;
  const evidence = evidenceWords(after ?? noMetrics(), evaluation);
  return [
    `${evidence}; ${runsText(runs)}, ${errors} went wrong${spent}\n`,
    ...(before && after ? [beforeAfter(before, after, paint)] : []),
    ...(evaluation.void === undefined
      ? []
      : [`${paint("red", "Void:")} ${oneLine(evaluation.void)}\n`]),
    ...(candidate?.verdict ? [verdictText(candidate.verdict, paint)] : []),
    notesText(evaluation.warnings, paint),
  ].join("");
}

function verdictText(
  { promote, words, rules }: NonNullable<Evaluation["results"][number]["verdict"]>,
  paint: Paint,
): string {
  const lines = rules.map((rule) =>
    `  ${rule.passed ? paint("green", "✓") : paint("red", "✗")} ${oneLine(rule.words)}\n`
  );
  return `${paint(promote ? "green" : "yellow", oneLine(words))}\n${lines.join("")}`;
}
