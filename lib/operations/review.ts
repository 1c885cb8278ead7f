import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { ChangePolicy, ServerTrust } from "../core/server.ts";
import { ReviewDecision, ReviewItem, ReviewList, ReviewPolicy } from "../trust/review_items.ts";
import { fieldHints } from "./fields.ts";
import { MANAGES, type Operation, operation, READS_GUARDED, runOperation } from "./operation.ts";

const TOOL = {
  server: z.string().min(1).optional().describe("The tool's server, if `tool` does not include it")
    .register(fieldHints, { isHidden: true, completes: "server" }),
  tool: z.string().min(1).describe("SERVER.TOOL; a server's instructions are SERVER.(instructions)")
    .register(fieldHints, { completes: "tool" }),
};
/** Nobody decides on a definition that they have not seen. */
const Fingerprint = z.string().min(1).describe("Fingerprint of the definition you decide on")
  .register(fieldHints, { isHidden: true });
const Server = z.string().min(1).describe("Server name")
  .register(fieldHints, { completes: "server" });

const Decision = z.object({
  decision: z.enum(["approved", "rejected", "reverted", "waived", "unwaived"]),
  server: z.string(),
  tool: z.string(),
  rule: z.string().optional(),
});
type Decision = z.infer<typeof Decision>;

const list = operation({
  ...READS_GUARDED,
  name: "review.list",
  title: "List items to review",
  description: "List held changes, notices, scanner findings and recent decisions.",
  input: z.strictObject({
    server: Server.optional().describe("Only items of this server")
      .register(fieldHints, { completes: "server" }),
  }),
  output: ReviewList.extend({
    decisions: z.array(ReviewDecision),
    policies: z.array(ReviewPolicy),
  }),
  cli: "review list",
  run: async ({ review }, { server }) => ({
    ...review.list(server),
    decisions: await review.decisions(),
    policies: review.policies(),
  }),
});

const show = operation({
  ...READS_GUARDED,
  name: "review.show",
  title: "Review a tool",
  description: "Show a tool's changes and the scanner's findings.",
  input: z.strictObject(TOOL),
  output: z.object({ items: z.array(ReviewItem) }),
  cli: "review show TOOL",
  run({ review }, named) {
    const { server, tool } = locate(named);
    return { items: review.show(server, tool) };
  },
});

const approve = operation({
  ...MANAGES,
  name: "review.approve",
  title: "Approve a change",
  description:
    "Serve a changed tool from now on. A change that is already served is marked as seen.",
  input: z.strictObject({ ...TOOL, fingerprint: Fingerprint }),
  output: Decision,
  cli: "review approve TOOL",
  async run({ review }, { fingerprint, ...named }, call) {
    const subject = locate(named);
    await review.approve({ ...subject, fingerprint }, { principal: call.principal });
    return { decision: "approved" as const, ...subject };
  },
  text: decisionText,
});

const reject = operation({
  ...MANAGES,
  name: "review.reject",
  title: "Reject a change",
  description: "Keep serving the previous version, and do not ask about this change again.",
  input: z.strictObject({ ...TOOL, fingerprint: Fingerprint }),
  output: Decision,
  cli: "review reject TOOL",
  async run({ review }, { fingerprint, ...named }, call) {
    const subject = locate(named);
    await review.reject({ ...subject, fingerprint }, { principal: call.principal });
    return { decision: "rejected" as const, ...subject };
  },
  text: decisionText,
});

const revert = operation({
  ...MANAGES,
  name: "review.revert",
  title: "Revert a tool",
  description: "Serve the previous version again, and hold the current one.",
  input: z.strictObject(TOOL),
  output: Decision,
  cli: "review revert TOOL",
  async run({ review }, named, call) {
    const { server, tool } = locate(named);
    await review.revert(server, tool, { principal: call.principal });
    return { decision: "reverted" as const, server, tool };
  },
  text: decisionText,
});

const waive = operation({
  ...MANAGES,
  name: "review.waive",
  title: "Waive a finding",
  description:
    "Dismiss what the scanner found. The passage is served from now on; if it changes, it is held back again.",
  input: z.strictObject({
    ...TOOL,
    rule: z.string().min(1).describe("The rule that reported the finding")
      .register(fieldHints, { completes: "nothing" }),
    passage: z.string().min(1).max(2_000).optional()
      .describe("Only this passage (default: every passage that the rule found)")
      .register(fieldHints, { placeholder: "TEXT" }),
    reason: z.string().optional().describe("Reason, stored with your decision (required)")
      .register(fieldHints, { placeholder: "TEXT" }),
    fingerprint: Fingerprint.optional().register(fieldHints, { isHidden: true }),
    undo: z.boolean().default(false).describe("Remove the waiver"),
  }),
  output: Decision,
  cli: "review waive TOOL RULE",
  async run({ review }, { rule, passage, reason, fingerprint, undo, ...named }, call) {
    const subject = locate(named);
    if (undo) {
      await review.unwaive(subject.server, subject.tool, rule, { principal: call.principal });
      return { decision: "unwaived" as const, ...subject, rule };
    }
    if (reason === undefined) throw missing("reason");
    if (fingerprint === undefined) throw missing("fingerprint");
    const found = { ...subject, fingerprint, rule, passage, reason };
    await review.waive(found, { principal: call.principal });
    return { decision: "waived" as const, ...subject, rule };
  },
  text: decisionText,
});

const SelectedItem = z.strictObject({
  server: z.string().min(1),
  tool: z.string().min(1),
  fingerprint: Fingerprint,
  rule: z.string().min(1).optional().describe("The finding to waive"),
});
export type SelectedItem = z.infer<typeof SelectedItem>;

const SINGLE: Record<"approve" | "reject" | "waive", Operation> = { approve, reject, waive };

const decide = operation({
  ...MANAGES,
  name: "review.decide",
  title: "Decide on several items",
  description: "Approve, reject or waive several items. Each item succeeds or fails on its own.",
  input: z.strictObject({
    decision: z.enum(["approve", "reject", "waive"]),
    items: z.array(SelectedItem).min(1).max(1_000).describe("The items to decide on")
      .register(fieldHints, { isHidden: true }),
    reason: waive.input.shape.reason.describe("Reason (required to waive findings)"),
  }),
  output: z.object({
    decided: z.array(Decision),
    refused: z.array(
      SelectedItem.omit({ fingerprint: true }).extend({ code: z.string(), message: z.string() }),
    ),
  }),
  cli: "review decide DECISION",
  async run(services, { decision, items, reason }, call) {
    const decided: Decision[] = [];
    const refused = [];
    for (const { rule, ...item } of items) {
      const input = decision === "waive" ? { ...item, rule, reason } : item;
      try {
        decided.push(await runOperation(SINGLE[decision], services, input, call));
      } catch (error) {
        const { code, message } = GatewayError.from(error);
        const { server, tool } = item;
        refused.push({ server, tool, rule, code, message });
      }
    }
    return { decided, refused };
  },
  text: ({ decided, refused }) =>
    [
      ...decided.map(decisionText),
      ...refused.map(({ server, tool, message }) => `No decision on ${server}.${tool}: ${message}`),
    ].join("\n"),
});

const policies = operation({
  ...READS_GUARDED,
  name: "review.policies",
  title: "List review policies",
  description: "List each server's policy for changed tools.",
  input: z.strictObject({}),
  output: z.object({ policies: z.array(ReviewPolicy) }),
  cli: "review policy",
  run: ({ review }) => ({ policies: review.policies() }),
});

const policy = operation({
  ...MANAGES,
  name: "review.policy",
  title: "Set a review policy",
  description:
    "Set what to do when a server's tools change (hold, notify or allow) and how far its texts are trusted.",
  input: z.strictObject({
    server: Server,
    changes: ChangePolicy.optional(),
    trust: ServerTrust.optional().describe(
      "What to do with suspicious passages. normal: remove them, and quarantine attacks; trusted: " +
        "only remove them; untrusted: quarantine the tool",
    ),
  }),
  output: ReviewPolicy,
  idempotent: true,
  cli: "review policy SERVER [CHANGES]",
  run: async ({ review }, { server, ...wanted }, call) =>
    await review.setPolicy(server, wanted, { principal: call.principal }),
  text: ({ server, policy, trust }) =>
    `Policy for changed tools of ${server}: ${policy}. Trust: ${trust}.`,
});

export const REVIEW_OPERATIONS = {
  list,
  show,
  approve,
  reject,
  revert,
  waive,
  decide,
  policies,
  policy,
};

/** The tool that an input names: it need not be one that is listed. */
function locate({ server, tool }: { server?: string | undefined; tool: string }) {
  if (server !== undefined) return { server, tool };
  const [, named, rest] = /^([\w-]+)\.(.+)$/s.exec(tool) ?? [];
  if (named !== undefined && rest !== undefined) return { server: named, tool: rest };
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `"${tool.slice(0, 100)}" is not the full name of a tool`,
    recoverySteps: ["Write it as SERVER.TOOL"],
  });
}

function missing(field: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", { message: `review.waive: ${field} is missing` });
}

function decisionText({ decision, server, tool, rule }: Decision): string {
  const subject = `${tool} of ${server}`;
  switch (decision) {
    case "waived":
      return `Waived ${rule} for ${subject}.`;
    case "unwaived":
      return `Removed the waiver of ${rule} for ${subject}.`;
    default:
      return `${decision[0]!.toUpperCase()}${decision.slice(1)} ${subject}.`;
  }
}
