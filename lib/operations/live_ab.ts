import * as z from "zod";
import { LiveTrialPlan, TRIAL_DEFAULTS } from "../core/live_trial.ts";
import { PromotedTool } from "../core/optimization.ts";
import { scopeName } from "../optimizer/promotions.ts";
import { fieldHints } from "./fields.ts";
import { Family, RunningTrial } from "./optimization/live_ab.ts";
import { TOOL } from "./optimization/schemas.ts";
import { decidedBy, MANAGES, operation, READS } from "./operation.ts";

const DECIDES = { ...MANAGES, rights: ["manage", "optimize"] } as const;
const { share, maxSessions, maxDays } = LiveTrialPlan.shape;

const start = operation({
  ...DECIDES,
  name: "optimization.ab_start",
  title: "Start a live A/B",
  description:
    "Serve a promoted description to a share of sessions, and revert it if these do worse.",
  input: z.strictObject({
    ...TOOL,
    family: Family,
    share: share.describe("Percent of sessions that get the promoted description")
      .register(fieldHints, { placeholder: "PERCENT" }),
    maxSessions: maxSessions.describe("Sessions that call the tool, at most")
      .register(fieldHints, { placeholder: "N" }),
    maxDays: maxDays.describe("Days, at most").register(fieldHints, { placeholder: "DAYS" }),
  }),
  output: z.object({ promotion: PromotedTool }),
  cli: "optimize ab start TOOL",
  async run({ optimization }, { server, tool, family, ...plan }, call) {
    const admin = await optimization();
    const scope = { ...admin.named({ server, tool }), family };
    return { promotion: await admin.live.start(scope, plan, decidedBy(call)) };
  },
  text({ promotion: { server, toolName: tool, family, trial } }) {
    const { share, maxSessions, maxDays } = trial ?? TRIAL_DEFAULTS;
    return `${scopeName({ server, tool, family })}: the promoted description is served to ` +
      `${share} % of sessions. It is reverted if they do worse; the trial ends after ` +
      `${maxSessions} sessions or ${maxDays} days.`;
  },
  next: ({ promotion: { server, toolName } }) => [{
    label: "See how it does",
    operation: "optimization.ab_show",
    input: { tool: `${server}.${toolName}` },
  }],
});

const stop = operation({
  ...DECIDES,
  name: "optimization.ab_stop",
  title: "Stop a live A/B",
  description: "End a live A/B. The promoted description is then served to all sessions.",
  input: z.strictObject({ ...TOOL, family: Family }),
  output: z.object({ promotion: PromotedTool }),
  cli: "optimize ab stop TOOL",
  async run({ optimization }, { family, ...written }, call) {
    const admin = await optimization();
    const scope = { ...admin.named(written), family };
    return { promotion: await admin.live.stop(scope, decidedBy(call)) };
  },
  text: ({ promotion: { server, toolName: tool, family } }) =>
    `The live A/B of ${scopeName({ server, tool, family })} has ended. ` +
    "The promoted description is served to all sessions.",
  next: ({ promotion: { server, toolName } }) => [{
    label: "Go back to the server's own description",
    operation: "optimization.revert",
    input: { tool: `${server}.${toolName}` },
  }],
});

const show = operation({
  ...READS,
  name: "optimization.ab_show",
  title: "Show live A/B",
  description: "Show running live A/B trials: sessions, bad outcomes and evidence of each arm.",
  input: z.strictObject({ server: TOOL.server, tool: TOOL.tool.optional() }),
  output: z.object({ trials: z.array(RunningTrial) }),
  cli: "optimize ab show [TOOL]",
  async run({ optimization }, { server, tool }) {
    const admin = await optimization();
    const of = tool === undefined ? undefined : admin.named({ server, tool });
    return { trials: await admin.live.running(of) };
  },
  text({ trials }) {
    if (trials.length === 0) return "No live A/B is running.";
    return trials.map((one) => `${scopeName(one)}: ${one.text}\n${armLines(one)}`).join("\n");
  },
});

function armLines({ summary }: RunningTrial): string {
  const line = (name: string, arm: RunningTrial["summary"]["promoted"]) =>
    `  ${name}: ${arm.sessions} counted (${arm.bad} bad), ${arm.open} still open, ${arm.shown} ` +
    `did not call it; ${arm.calls} calls, ${arm.failed} failed, ${arm.refused} with refused ` +
    `arguments, ${arm.retries} retries, ${arm.marked} marked as the wrong tool`;
  const odds = (value: number) => Math.min(9_999, value).toFixed(value < 10 ? 1 : 0);
  return [
    line("promoted", summary.promoted),
    line("without it", summary.other),
    `  evidence: ${odds(summary.worse)} to 1 that it is worse, ${odds(summary.better)} to 1 that ` +
    "it is better; 20 to 1 decides",
  ].join("\n");
}

export const LIVE_AB_OPERATIONS = { abStart: start, abStop: stop, abShow: show };
