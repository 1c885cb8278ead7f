import * as z from "zod";
import { FailedCalls, failedCalls } from "../optimizer/traffic.ts";
import { defined } from "../core/defined.ts";
import { ModelFamily } from "../core/model_family.ts";
import { PromotedTool, PromotionEvent } from "../core/optimization.ts";
import { parameterLines } from "../core/tool_text.ts";
import { specMetrics } from "../optimizer/evaluation/metrics.ts";
import { scopeName } from "../optimizer/promotions.ts";
import { reportCsv, reportData, reportMarkdown, RESTART_NOTE } from "../optimizer/report.ts";
import { CHECK_OPERATIONS } from "./checks.ts";
import { EXCHANGE_OPERATIONS } from "./exchange.ts";
import { EVALUATION_OPERATIONS } from "./evaluation.ts";
import { fieldHints } from "./fields.ts";
import { LIVE_AB_OPERATIONS } from "./live_ab.ts";
import { Family } from "./optimization/live_ab.ts";
import { LiveTrialPlan } from "../core/live_trial.ts";
import { metricsText } from "./optimization/outcomes.ts";
import {
  CandidateId,
  OriginalTool,
  Overview,
  Rates,
  Reason,
  ReportData,
  RunSummary,
  TOOL,
  ToolOptimizationDetail,
} from "./optimization/schemas.ts";
import { decidedBy, MANAGES, operation, READS } from "./operation.ts";

/** What decides which descriptions all clients read, and whether model time is spent. */
const DECIDE = { ...MANAGES, rights: ["manage", "optimize"] } as const;
const Server = z.string().optional().describe("Only this server's tools")
  .register(fieldHints, { completes: "server", placeholder: "NAME" });

const status = operation({
  ...READS,
  name: "optimization.status",
  title: "Optimization status",
  description: "Show how many tools have a better description, and the results of each tool.",
  input: z.strictObject({ server: Server }),
  output: Overview,
  cli: "optimize status [SERVER]",
  run: async ({ optimization }, { server }) => (await optimization()).overview(server),
});

const enable = switchOperation(
  "enable",
  "Allow the gateway to spend model time on tool descriptions.",
  "Optimization is on. You and your clients can now spend model time.",
);
const disable = switchOperation(
  "disable",
  "Stop spending model time. Promoted descriptions stay in use.",
  "Optimization is off. Promoted descriptions stay in use and can be reverted.",
);

function switchOperation(action: "enable" | "disable", description: string, outcome: string) {
  return operation({
    ...DECIDE,
    name: `optimization.${action}`,
    title: action === "enable" ? "Switch optimization on" : "Switch optimization off",
    description,
    input: z.strictObject({}),
    output: z.object({ enabled: z.boolean() }),
    idempotent: true,
    cli: `optimize ${action}`,
    async run({ optimization }) {
      const admin = await optimization();
      await admin.setEnabled(action === "enable");
      return { enabled: admin.enabled };
    },
    text: () => outcome,
  });
}

const canonical = operation({
  ...READS,
  name: "optimization.canonical",
  title: "Original tools",
  description: "Get a server's tools with their canonical descriptions.",
  input: z.strictObject({
    server: z.string().register(fieldHints, { completes: "server" }),
  }),
  output: z.object({ server: z.string(), tools: z.array(OriginalTool) }),
  mcp: "get_canonical_tools",
  async run({ optimization }, { server }) {
    return { server, tools: (await optimization()).canonicalTools(server) };
  },
  text: (output) => JSON.stringify(output),
  next: () => [
    { label: "Save 2 to 4 better descriptions of a tool", operation: "optimization.propose" },
    { label: "Save prompts to test them", operation: "optimization.save_prompts" },
  ],
});

const show = operation({
  ...READS,
  name: "optimization.show",
  title: "Show a tool's optimization",
  description:
    "Show a tool's descriptions, its results before and after, its prompts and its candidates.",
  input: z.strictObject(TOOL),
  output: z.object({
    tool: ToolOptimizationDetail,
    /** Of the description in force. */
    runs: z.array(RunSummary),
    /** Its real calls, by day, and before and after the promotion. */
    failedCalls: FailedCalls,
  }),
  cli: "optimize show TOOL",
  async run({ optimization, calls }, input) {
    const admin = await optimization();
    const detail = await admin.detail(input);
    const failed = await failedCalls(calls, detail, detail.promotion?.promotedAt);
    return { tool: detail, runs: await admin.runsInForce(detail), failedCalls: failed };
  },
});

const history = operation({
  ...READS,
  name: "optimization.history",
  title: "History of promotions",
  description: "List a tool's promotions and reverts, with who decided and why, newest first.",
  input: z.strictObject(TOOL),
  output: z.object({ history: z.array(PromotionEvent) }),
  cli: "optimize history TOOL",
  async run({ optimization }, input) {
    const { history } = await (await optimization()).detail(input);
    return { history };
  },
});

const report = operation({
  ...READS,
  name: "optimization.report",
  title: "Report",
  description: "Report status, improvement and cost for one server or all.",
  input: z.strictObject({ server: Server }),
  output: ReportData,
  mcp: "get_optimization_report",
  run: async ({ optimization }, { server }) =>
    reportData(await (await optimization()).report(server)),
  text: ({ reports }) => reportMarkdown(reports).trimEnd(),
  next: () => [
    { label: "See a tool's results", operation: "optimization.results" },
    { label: "Optimize the remaining tools", operation: "job.start" },
    { label: "Save a better description of a tool", operation: "optimization.propose" },
  ],
});

const FORMATS = ["markdown", "json", "csv"] as const;
const TYPES = { markdown: "text/markdown", csv: "text/csv", json: "application/json" };
const EXTENSIONS = { markdown: "md", csv: "csv", json: "json" };

const exportReport = operation({
  ...READS,
  name: "optimization.export",
  title: "Export the report",
  description:
    "Export the report as a file: counts, improvement, each tool before and after, cost.",
  input: z.strictObject({ server: Server, format: z.enum(FORMATS).default("markdown") }),
  output: { file: "text/markdown" },
  cli: "optimize report",
  async run({ optimization }, { server, format }) {
    const reports = await (await optimization()).report(server);
    const body = format === "json"
      ? `${JSON.stringify(reportData(reports), undefined, 2)}\n`
      : format === "csv"
      ? reportCsv(reports)
      : reportMarkdown(reports);
    const name = server === undefined ? "optimization" : `optimization-${server}`;
    return {
      fileName: `${name}.${EXTENSIONS[format]}`,
      contentType: `${TYPES[format]}; charset=utf-8`,
      body,
    };
  },
});

const promote = operation({
  ...DECIDE,
  name: "optimization.promote",
  title: "Promote",
  description: "Serve a candidate to all clients, if its evaluation supports that.",
  input: z.strictObject({
    ...TOOL,
    candidateId: CandidateId,
    reason: Reason,
    family: Family,
    share: LiveTrialPlan.shape.share.unwrap().optional()
      .describe("Live A/B: serve it to this percentage of sessions first")
      .register(fieldHints, { placeholder: "PERCENT", isForPeople: true }),
  }),
  output: z.object({
    promoted: z.literal(true),
    promotionId: z.string(),
    metrics: Rates.nullable(),
    baseline: Rates.nullable(),
    verdict: z.string().nullable(),
    promotion: PromotedTool,
    note: z.string(),
  }),
  idempotent: true,
  mcp: "promote_candidate",
  cli: "optimize promote TOOL CANDIDATE",
  async run({ optimization }, input, call) {
    const promotion = await (await optimization()).promote(input, decidedBy(call));
    const { id, metrics, baseline, verdict } = promotion;
    return {
      promoted: true as const,
      promotionId: id,
      metrics: metrics ? specMetrics(metrics) : null,
      baseline: baseline ? specMetrics(baseline) : null,
      verdict: verdict?.words ?? null,
      promotion,
      note: RESTART_NOTE,
    };
  },
  text({ promotion }) {
    const { server, toolName: tool, family, candidateId, description, parameters, trial } =
      promotion;
    const { metrics, baseline, verdict } = promotion;
    const name = scopeName({ server, tool, family });
    return [
      `Promoted ${candidateId} for ${name} (${description.length} characters): ${description}`,
      ...parameterLines(parameters),
      ...(trial ? [`Live A/B: it is served to ${trial.share} % of sessions.`] : []),
      ...(metrics ? [`After: ${metricsText(metrics)}`] : []),
      ...(baseline ? [`Before: ${metricsText(baseline)}`] : []),
      ...(verdict ? [verdict.words] : []),
      RESTART_NOTE,
    ].join("\n");
  },
  next: ({ promotion: { server, toolName } }) => [
    { label: "See the report on all tools", operation: "optimization.report" },
    {
      label: "Go back to the server's own description",
      operation: "optimization.revert",
      input: { tool: `${server}.${toolName}` },
    },
  ],
});

const revert = operation({
  ...DECIDE,
  name: "optimization.revert",
  title: "Revert",
  description: "Serve a tool's canonical description again, or an earlier promotion.",
  input: z.strictObject({
    ...TOOL,
    to: z.string().optional().describe("Id of an earlier promotion")
      .register(fieldHints, { placeholder: "EVENT" }),
    reason: Reason,
    family: Family,
  }),
  output: z.object({
    reverted: z.literal(true),
    server: z.string(),
    tool: z.string(),
    family: ModelFamily.exactOptional(),
    promotionId: z.string().nullable(),
    candidateId: z.string().nullable(),
    /** What is in force now; null: the server's own description. */
    promotion: PromotedTool.nullable(),
    note: z.string(),
  }),
  mcp: "revert_optimization",
  cli: "optimize revert TOOL",
  async run({ optimization }, input, call) {
    const admin = await optimization();
    const { server, tool } = admin.locate(input);
    const promotion = await admin.revert(input, decidedBy(call));
    return {
      reverted: true as const,
      server,
      tool,
      ...defined({ family: input.family }),
      promotionId: promotion?.id ?? null,
      candidateId: promotion?.candidateId ?? null,
      promotion,
      note: RESTART_NOTE,
    };
  },
  text: ({ promotion, ...scope }) =>
    [
      promotion !== null
        ? [
          `${scopeName(scope)} is back to ${promotion.candidateId}: ${promotion.description}`,
          ...parameterLines(promotion.parameters),
        ].join("\n")
        : scope.family === undefined
        ? `${scopeName(scope)} is back to the server's own description.`
        : `${scopeName(scope)} is back to the description for all clients.`,
      RESTART_NOTE,
    ].join("\n"),
  next: () => [
    { label: "See the results of its candidates", operation: "optimization.results" },
    { label: "Try another description", operation: "optimization.propose" },
  ],
});

const keep = operation({
  ...DECIDE,
  name: "optimization.keep",
  title: "Keep a promotion",
  description: "Keep a promotion even though the server's own description has changed since.",
  input: z.strictObject({ ...TOOL, family: Family }),
  output: z.object({ promotion: PromotedTool }),
  idempotent: true,
  cli: "optimize keep TOOL",
  run: async ({ optimization }, input) => (
    { promotion: await (await optimization()).keep(input) }
  ),
  text: ({ promotion: { server, toolName: tool, family, candidateId } }) =>
    `${scopeName({ server, tool, family })} keeps ${candidateId}.`,
});

export const OPTIMIZATION_OPERATIONS = {
  status,
  report,
  exportReport,
  show,
  canonical,
  ...EVALUATION_OPERATIONS,
  ...CHECK_OPERATIONS,
  ...EXCHANGE_OPERATIONS,
  promote,
  revert,
  keep,
  ...LIVE_AB_OPERATIONS,
  history,
  enable,
  disable,
};
