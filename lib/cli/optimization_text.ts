import { configError } from "../config/files.ts";
import {
  CATEGORIES,
  type CategoryScores,
  type Depth,
  type GoldenPrompt,
  type OptimizationReport,
  type PromotionEvent,
  type Verdict,
} from "../core/optimization.ts";
import {
  besideText,
  percent,
  promptsIn,
  rateOf,
  scoreText,
} from "../optimizer/evaluation/metrics.ts";
import type { OutputOf } from "../operations/operation.ts";
import { OPTIMIZATION_OPERATIONS } from "../operations/optimization.ts";
import type {
  Overview,
  RunSummary,
  ToolOptimizationDetail,
} from "../operations/optimization/schemas.ts";
import type { CommandInput } from "./command.ts";
import { jobHint, jobText } from "./job_text.ts";
import { type CommandExtras, type OutcomeView, readFile, readInput } from "./operation_command.ts";
import {
  countOf,
  cutToWidth,
  minuteOf,
  type Paint,
  table,
  terminalLine,
  warningsText,
} from "./terminal.ts";

type Operations = typeof OPTIMIZATION_OPERATIONS;
type ReportedTool = OptimizationReport["tools"][number];

export const OPTIMIZATION_EXTRAS: Record<string, CommandExtras> = {
  "optimization.status": {
    details: [
      "A dot for every tool, filled if its description was promoted. The percentages are what a model",
      "did with the description in force: called the tool when asked for it (direct), when its use had",
      "to be inferred (indirect), and left it alone (negative).",
    ],
    show: (overview: Overview, { paint }) => cutToWidth(statusText(overview, paint)),
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
      "A ✓ or ✗ before a prompt tells how it went with the description in force. TOOL may also be the",
      "flat name (git_status), or the server's own if only one server has it.",
    ],
    show: ({ tool, runs }: OutputOf<Operations["show"]>, { paint }) => showText(tool, runs, paint),
  },
  "optimization.history": {
    details: ["`optimize revert TOOL --to EVENT` goes back to what was in force after an event."],
    show: ({ history }: OutputOf<Operations["history"]>, { paint, input: { tool } }) =>
      history.length === 0
        ? `Nothing was ever promoted for ${terminalLine(String(tool))}.\n`
        : promotionsText(history, paint),
  },
  "optimization.propose": {
    details: [
      "It changes nothing until it is promoted. --example is for yourself: when it should be called.",
    ],
  },
  "optimization.save_prompts": {
    details: [
      "With --file, saves the prompts of a file, or of standard input (-). The file is a list:",
      '[{ "category": "direct", "prompt": "Will it rain in Oslo?" }]. The category is direct, indirect',
      "or negative; `expectedBehavior` may name, for a negative one, the tool that should be called",
      "instead (expectedTool). All are saved, or none. With an `id` it is the next version of that",
      "prompt.",
    ],
    read: readPromptFile,
    show: ({ saved, prompts: [first], warnings }: OutputOf<Operations["savePrompts"]>, { paint }) =>
      `Saved ${countOf(saved, "prompt")} for ${first?.server}.${first?.toolName}.\n` +
      warningsText(warnings, paint),
  },
  "optimization.prompts": {
    flags: [{
      flag: "list",
      meaning: "List all of the tool's prompts; the default without --file",
    }],
    show: ({ prompts, warnings }: OutputOf<Operations["listPrompts"]>, { paint }) =>
      promptList(prompts, [], paint) + warningsText(warnings, paint),
  },
  "optimization.generate": {
    details: ["It spends model time, so optimization has to be on."],
    waiting: "Writing prompts and candidates",
  },
  "optimization.record": {
    details: [
      "CANDIDATE is a candidate's id, or `canonical` for the server's own description. Whether the run",
      "is correct follows from the prompt. Give either --called or --not-called. Reports count once",
      "every prompt has one for both.",
    ],
    flags: [
      { flag: "called", meaning: "The tool was called" },
      { flag: "not-called", meaning: "It was not" },
      { flag: "reasoning", placeholder: "TEXT", meaning: "What the model said" },
      { flag: "error", placeholder: "TEXT", meaning: "What went wrong, if the run failed" },
    ],
    read: readReport,
  },
  "optimization.evaluate": {
    details: [
      "Nothing is promoted. No tool of yours is called: a model is shown the tools, and what it would",
      "call is answered by the gateway itself. Tells what it would take and asks first, unless --yes.",
    ],
    show: evaluatedText,
  },
  "optimization.promote": {
    details: [
      "If the numbers do not speak for it, --reason says why it is promoted anyway. The server itself,",
      "the tool's name and its schema stay as they are.",
    ],
  },
  "optimization.revert": { details: ["`optimize history TOOL` lists the events."] },
  "optimization.keep": { details: ["`optimize show TOOL` shows both."] },
  "optimization.enable": { details: ["It stays so over restarts."] },
  "optimization.disable": { details: ["It stays so over restarts."] },
};

/** The prompts of a file; their form is checked by the operation. */
async function readPromptFile(
  { positionals: [tool], flags }: CommandInput,
): Promise<Record<string, unknown>> {
  const path = String(flags.get("file"));
  const label = path === "-" ? "standard input" : path;
  const text = await readFile(path);
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, ""));
    return { tool, prompts: Array.isArray(value) ? value : value?.prompts };
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    throw configError(`Cannot save ${label}: it is not valid JSON (${why})`, "Correct it");
  }
}

function readReport({ positionals, flags }: CommandInput): Record<string, unknown> {
  const [tool, candidateId, promptId, ...others] = positionals;
  const isCalled = flags.get("called") === true;
  if (
    promptId === undefined || others.length > 0 || isCalled === (flags.get("not-called") === true)
  ) {
    throw configError(
      "optimize record takes a tool, a candidate, a prompt, and either --called or --not-called",
      "Write it as: quartermaster optimize record TOOL CANDIDATE PROMPT --called",
    );
  }
  const result = Object.fromEntries(
    ["reasoning", "error"].flatMap((name) => flags.has(name) ? [[name, flags.get(name)]] : []),
  );
  return { tool, candidateId, promptId, result: { toolCalled: isCalled, ...result } };
}

const SWITCHED_OFF =
  "Optimization is off: switch it on with `quartermaster optimize enable`. Promotions stay in force.\n";

export function statusText({ enabled, evaluator, reports }: Overview, paint: Paint): string {
  const { kind, model, problem } = evaluator;
  const by = kind === null ? "" : `Evaluations by ${kind}${model === null ? "" : `, ${model}`}.\n`;
  return [
    enabled ? by : SWITCHED_OFF,
    problem === null || !enabled ? "" : warningsText([problem], paint),
    ...(reports.length === 0 ? ["No server has tools: see `quartermaster server list`.\n"] : []),
    ...reports.map((report) => `\n${serverText(report, paint)}`),
  ].join("").replace(/^\n/, "");
}

function serverText(
  { serverName, tools, optimizedCount, toolCount }: OptimizationReport,
  paint: Paint,
) {
  const dots = paint("green", "●".repeat(optimizedCount)) + "○".repeat(toolCount - optimizedCount);
  const rows = tools.map((tool) => [
    `  ${tool.status === "optimized" ? paint("green", "✓") : "○"} ${terminalLine(tool.name)}`,
    ...scoreCells(tool),
  ]);
  return `${serverName}  ${dots}  ${optimizedCount}/${countOf(toolCount)} optimized\n${
    table(rows)
  }`;
}

function scoreCells(tool: ReportedTool): string[] {
  const metrics = tool.status === "optimized" ? tool.after : tool.before;
  const notes = [
    ...(tool.status === "baseline" ? ["kept as the server has it"] : []),
    ...(tool.depth === undefined ? [] : [evidenceNote(tool)]),
    ...(tool.stale ? ["the server's own description has changed since"] : []),
    ...(tool.enabled ? [] : ["off"]),
  ];
  if (!metrics) {
    const state = tool.status === "optimized" ? "Promoted without numbers" : "Not optimized";
    return [state, "", "", notes.join("; ")];
  }
  return [
    `Direct: ${percent(metrics.direct)}`,
    `Indirect: ${percent(metrics.indirect)}`,
    `Neg: ${percent(metrics.negative)}`,
    notes.join("; "),
  ];
}

function evidenceNote({ depth, prompts = 0, beside }: ReportedTool): string {
  const others = beside === undefined ? "" : `, ${besideText(beside)}`;
  return `${depth}, ${countOf(prompts, "prompt")}${others}`;
}

/** Warnings, whether they say that they are or not. */
export function notesText(warnings: readonly string[], paint: Paint): string {
  return warningsText(warnings.map((warning) => warning.replace(/^Warning: /, "")), paint);
}

export function showText(
  detail: ToolOptimizationDetail,
  runs: readonly RunSummary[],
  paint: Paint,
): string {
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

function headText(detail: ToolOptimizationDetail, paint: Paint): string {
  const { promotion, exists, enabled, evaluations } = detail;
  const state = promotion !== null
    ? `${paint("green", "optimized")}, promoted ${minuteOf(promotion.promotedAt)} by ${
      by(promotion.by)
    }`
    : evaluations.length > 0
    ? "evaluated, the server's own description is kept"
    : "not optimized";
  const notes = [
    ...(exists ? [] : ["its server does not have it now"]),
    ...(exists && !enabled ? ["off"] : []),
  ];
  return `${terminalLine(`${detail.server}.${detail.tool}`)}  ${[state, ...notes].join("; ")}\n`;
}

function descriptionText(title: string, description: string | null): string {
  if (description === null || description === "") return `${title}: none\n`;
  return `${title} (${description.length} characters):\n  ${terminalLine(description)}\n`;
}

function changeBlock(
  { promotion, staleness, evaluations }: ToolOptimizationDetail,
  paint: Paint,
): string[] {
  if (promotion === null) return [];
  const evaluation = evaluations.find(({ id }) => id === promotion.evaluationId);
  const { metrics, baseline, verdict, reason } = promotion;
  const lines = [
    ...(metrics && baseline
      ? [
        `Before and after (${
          evidenceText(metrics, promotion.depth ?? evaluation?.depth, evaluation?.beside?.length)
        }):\n${beforeAfter(baseline, metrics, paint)}`,
      ]
      : ["It was promoted without numbers.\n"]),
    ...(verdict ? [`${terminalLine(verdict.words)}\n`] : []),
    ...(reason === undefined ? [] : [`Promoted because: ${terminalLine(reason)}\n`]),
    ...(staleness === null ? [] : [
      `${
        paint("yellow", "Warning:")
      } the server's own description has changed since it was promoted\n` +
      `  was: ${terminalLine(staleness.before ?? "none")}\n` +
      `  is:  ${terminalLine(staleness.now ?? "none")}\n` +
      "  Decide with `optimize keep` or `optimize revert`.\n",
    ]),
  ];
  return [lines.join("")];
}

/** How much stands behind these counts: prompts that were asked, which may be fewer than planned. */
function evidenceText(metrics: CategoryScores, depth: Depth | undefined, beside = 0): string {
  if (depth === undefined) return "as reported";
  const each = CATEGORIES.map((category) => `${promptsIn(metrics[category])} ${category}`);
  const others = beside === 0 ? "" : `; ${besideText(beside)}`;
  return `${depth} evidence, ${countOf(promptsIn(metrics.overall), "prompt")}: ${
    each.join(", ")
  }${others}`;
}

export function beforeAfter(before: CategoryScores, after: CategoryScores, paint: Paint): string {
  return table(([...CATEGORIES, "overall"] as const).map((name) => {
    const [was, is] = [rateOf(before[name]), rateOf(after[name])];
    const points = was === null || is === null ? undefined : Math.round(100 * (is - was));
    const difference = points === undefined
      ? ""
      : points > 0
      ? paint("green", `+${points} points`)
      : points < 0
      ? paint("red", `${points} points`)
      : "as before";
    return [
      `  ${titleOf(name)}`,
      scoreText(before[name]),
      "->",
      scoreText(after[name]),
      difference,
    ];
  }));
}

/** Prompts by category, each with how it went where that is known. */
export function promptList(
  prompts: readonly GoldenPrompt[],
  runs: readonly RunSummary[],
  paint: Paint,
): string {
  return CATEGORIES.map((category) => {
    const own = prompts.filter((prompt) => prompt.category === category);
    const rows = own.map((prompt) => [
      `    ${outcomeOf(runs.filter(({ promptId }) => promptId === prompt.id), paint)}`,
      prompt.id,
      terminalLine(prompt.prompt) + noteOf(prompt),
    ]);
    return `  ${titleOf(category)} (${own.length})\n${table(rows)}`;
  }).join("");
}

function titleOf(name: string): string {
  return `${name[0]!.toUpperCase()}${name.slice(1)}`;
}

function noteOf({ heldOut, expectedBehavior: { expectedTool } }: GoldenPrompt): string {
  const notes = [
    ...(expectedTool === undefined ? [] : [`for ${terminalLine(expectedTool)}`]),
    ...(heldOut ? ["held out"] : []),
  ];
  return notes.length === 0 ? "" : `  (${notes.join(", ")})`;
}

/** A mark, and the counts where it was asked more than once. */
function outcomeOf(runs: readonly RunSummary[], paint: Paint): string {
  const counted = runs.filter(({ status }) => status === "ok");
  if (counted.length === 0) return runs.length === 0 ? "-" : paint("yellow", "no answer");
  const correct = counted.filter((run) => run.correct).length;
  const mark = correct === counted.length ? paint("green", "✓") : paint("red", "✗");
  return counted.length === 1 ? mark : `${mark} ${correct}/${counted.length}`;
}

function candidateText(
  candidate: ToolOptimizationDetail["candidates"][number],
  paint: Paint,
): string {
  const { id, charCount, origin, description, evidence } = candidate;
  const found = evidence === null
    ? "not evaluated"
    : `overall ${scoreText(evidence.metrics.overall)}, ${evidence.depth}` +
      (evidence.source === "reported" ? ", reported by a caller" : "");
  const words = evidence?.problem ?? evidence?.verdict?.words;
  const color = evidence?.problem === undefined && evidence?.verdict?.promote ? "green" : "yellow";
  return `  ${id}  ${charCount} characters, ${ORIGINS[origin]}, ${found}\n` +
    `    ${terminalLine(description)}\n` +
    (words === undefined ? "" : `    ${paint(color, terminalLine(words))}\n`);
}

const ORIGINS = { caller: "from a client", person: "from a person", generated: "generated" };

export function by(who: "caller" | "person" | "job"): string {
  return who === "caller" ? "a client" : who === "person" ? "a person" : "a job";
}

/** What an evaluation has found out about its candidate, and whether that is enough. */
export function evaluatedText(
  { job, candidates = [] }: OutputOf<Operations["evaluate"]>,
  { paint, input: { candidateId } }: OutcomeView,
): string {
  const stand = jobText(job) + jobHint(job);
  const found = candidates.find((each) => each.candidateId === candidateId);
  if (!found?.evidence) return stand;
  const { metrics, baseline, depth, beside, verdict, problem } = found.evidence;
  const [{ server, toolName } = { server: "", toolName: "" }] = job.tools;
  const command = `quartermaster optimize promote ${server}.${toolName} ${candidateId}`;
  return [
    stand,
    `${evidenceText(metrics, depth, beside)}\n`,
    beforeAfter(baseline, metrics, paint),
    ...(problem === undefined ? [] : [`${paint("red", terminalLine(problem))}\n`]),
    ...(verdict ? [verdictText(verdict, paint)] : []),
    ...(verdict?.promote && problem === undefined ? [`Promote it with \`${command}\`.\n`] : []),
  ].join("");
}

function verdictText(
  { promote, words, rules }: Verdict,
  paint: Paint,
): string {
  const lines = rules.map((rule) =>
    `  ${rule.passed ? paint("green", "✓") : paint("red", "✗")} ${terminalLine(rule.words)}\n`
  );
  return `${paint(promote ? "green" : "yellow", terminalLine(words))}\n${lines.join("")}`;
}

export function promotionsText(history: readonly PromotionEvent[], paint: Paint): string {
  return history.map(({ id, time, action, by: who, promotion, reason }) => {
    const after = promotion === null
      ? "the server's own description"
      : `${promotion.candidateId}: ${terminalLine(promotion.description)}`;
    const why = reason ?? (action === "promote" ? promotion?.reason : undefined);
    return `${minuteOf(time)}  ${paint(ACTION_COLORS[action], action)}  ${id}  by ${by(who)}\n` +
      `  ${after}\n${why === undefined ? "" : `  because: ${terminalLine(why)}\n`}`;
  }).join("");
}

const ACTION_COLORS = { promote: "green", revert: "yellow", keep: "gray" } as const;
