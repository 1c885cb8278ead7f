import { configError } from "../config/files.ts";
import { GatewayError } from "../core/errors.ts";
import { shownLine } from "../core/text.ts";
import type { OutputOf } from "../operations/operation.ts";
import { REVIEW_OPERATIONS } from "../operations/review.ts";
import type { ReviewItem } from "../trust/review_items.ts";
import type { CommandInput } from "./command.ts";
import { diffLines, verdictWord } from "./history_text.ts";
import { agree, type CommandExtras, type OutcomeView, YES } from "./operation_command.ts";
import type { OperationTarget } from "./operation_target.ts";
import { type Color, cutToWidth, painter, table } from "./terminal.ts";

type Paint = (color: Color, text: string) => string;
type Input = Record<string, unknown>;

const FINGERPRINT = {
  flag: "fingerprint",
  placeholder: "TEXT",
  meaning: "Decide only on this definition; `review show` shows its fingerprint",
};

/** What the commands for reviews show and ask beyond their operations. */
export const REVIEW_EXTRAS: Record<string, CommandExtras> = {
  "review.list": {
    details: ["Requires a running gateway. `review show` shows one tool in full."],
    show: listText,
  },
  "review.show": {
    details: ["A server's instructions are `SERVER.(instructions)`. Requires a running gateway."],
    show: ({ items }: OutputOf<typeof REVIEW_OPERATIONS.show>, { paint, input }) =>
      items.length === 0
        ? `Nothing about ${shownLine(String(input.tool))} waits for you.\n`
        : items.map((item) => itemText(item, paint)).join("\n"),
  },
  "review.approve": {
    flags: [FINGERPRINT, YES],
    async prepare(given, command, target) {
      const item = await itemToDecide(
        target,
        given,
        command,
        ({ state, kind }) => kind !== "finding" && state !== "flagged",
      );
      // A change that was passed on is only marked as seen.
      if (item.state !== "notice") {
        const question = `Serve ${shownLine(`${item.server}.${item.tool}`)} like this?`;
        agree("review approve", question, command, itemText(item, painter(command.env)));
      }
      return { ...given, fingerprint: item.fingerprint };
    },
  },
  "review.reject": {
    flags: [FINGERPRINT],
    async prepare(given, command, target) {
      const item = await itemToDecide(target, given, command, ({ kind }) => kind !== "finding");
      return { ...given, fingerprint: item.fingerprint };
    },
  },
  "review.waive": { flags: [FINGERPRINT, YES], prepare: prepareWaiver },
  "review.policies": { show: policiesText },
  "review.policy": {
    details: [
      "`hold` serves a tool as it was until you approve the change, `notify` passes it on and tells",
      "you, `allow` says nothing. Servers of a config file have it there, as `changes` and `trust`.",
    ],
    flags: [{ ...YES, meaning: "Do not ask before less is held; required without a terminal" }],
    prepare(given, command) {
      const { server, changes, trust } = given;
      const isLooser = changes === "allow" || changes === "notify" || trust === "trusted";
      if (isLooser) agree("review policy", `Loosen what is held of ${server}?`, command);
      return Promise.resolve(given);
    },
  },
};

async function prepareWaiver(given: Input, command: CommandInput, target: OperationTarget) {
  if (given.undo === true) return given;
  if (String(given.reason ?? "").trim() === "") {
    throw configError("review waive needs a reason", "Give it with --reason TEXT");
  }
  const item = await itemToDecide(
    target,
    given,
    command,
    ({ findings }) => findings.some(({ rule }) => rule === given.rule),
  );
  const question = shownLine(`Waive ${given.rule} for ${item.server}.${item.tool}?`);
  agree("review waive", question, command, itemText(item, painter(command.env)));
  return { ...given, fingerprint: item.fingerprint };
}

/** The definition to decide on: what is there, or exactly the one that was named. */
export async function itemToDecide(
  target: Pick<OperationTarget, "run">,
  { tool }: Input,
  { flags }: Pick<CommandInput, "flags">,
  isWanted: (item: ReviewItem) => boolean,
): Promise<ReviewItem> {
  const { items }: { items: ReviewItem[] } = await target.run(REVIEW_OPERATIONS.show, { tool });
  const wanted = flags.get("fingerprint");
  const fitting = items.filter(isWanted);
  const item = fitting.find(({ fingerprint }) => fingerprint === wanted) ?? fitting[0];
  if (!item) {
    const quarantined = items.find(({ state }) => state === "quarantined");
    if (quarantined) throw inQuarantine(quarantined);
    throw new GatewayError("NOT_FOUND", {
      message: `Nothing about ${tool} waits for this`,
      next: [{ label: "See what waits", operation: "review.list" }],
    });
  }
  const next = [{ label: "Check it", operation: "review.show", input: { tool } }];
  const versions = fitting.filter(({ state }) => state === item.state);
  if (typeof wanted !== "string" && versions.length > 1) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Clients are listed ${versions.length} versions of ${tool}`,
      recoveryAction: "Name the one that you decide on with --fingerprint",
      next,
    });
  }
  if (typeof wanted !== "string" || wanted === item.fingerprint) return item;
  throw new GatewayError("CONFLICT", {
    message: `${tool} has changed again: it is ${item.fingerprint}`,
    next,
  });
}

/** What was found stands until it is waived, rule by rule. */
function inQuarantine({ server, tool, findings }: ReviewItem): GatewayError {
  const named = { tool: `${server}.${tool}` };
  const rules = [...new Set(findings.map(({ rule }) => rule))];
  return new GatewayError("TOOL_QUARANTINED", {
    message: `${named.tool} is in quarantine for what was found in it, not for a change`,
    next: [
      { label: "Check it", operation: "review.show", input: named },
      ...rules.map((rule) => ({
        label: "If you trust it anyway, waive the finding",
        operation: "review.waive",
        input: { ...named, rule, reason: "TEXT" },
      })),
    ],
  });
}

function listText(
  { items, more }: OutputOf<typeof REVIEW_OPERATIONS.list>,
  { paint }: OutcomeView,
): string {
  if (items.length === 0) return "Nothing waits for you.\n";
  const heading = ["TOOL", "STATE", "WHAT", "RULES"].map((label) => paint("gray", label));
  const rows = cutToWidth(table([heading, ...items.map((item) => itemRow(item, paint))]));
  return more > 0 ? `${rows}and ${more} more\n` : rows;
}

function policiesText(
  { policies }: OutputOf<typeof REVIEW_OPERATIONS.policies>,
  { paint }: OutcomeView,
): string {
  const heading = ["SERVER", "CHANGES", "TRUST"].map((label) => paint("gray", label));
  return table([heading, ...policies.map((each) => [each.server, each.policy, each.trust])]);
}

const STATES: Record<ReviewItem["state"], { word: string; color: Color }> = {
  quarantined: { word: "quarantined", color: "red" },
  held: { word: "held", color: "yellow" },
  notice: { word: "passed on", color: "gray" },
  flagged: { word: "listed, look at it", color: "yellow" },
  rejected: { word: "rejected", color: "gray" },
};

const KINDS: Record<ReviewItem["kind"], string> = {
  changed: "changed",
  added: "added",
  renamed: "renamed",
  invalid: "no valid tool any more",
  finding: "findings",
};

/** What a row of the list says. */
export function itemRow(item: ReviewItem, paint: Paint): string[] {
  const { word, color } = STATES[item.state];
  const rules = [...new Set(item.findings.map(({ rule }) => rule))];
  return [
    shownLine(`${item.server}.${item.tool}`),
    paint(color, word),
    item.from === undefined ? KINDS[item.kind] : `renamed, was ${shownLine(item.from)}`,
    shownLine(rules.join(", ")),
  ];
}

/** All there is to see of one item. */
export function itemText(item: ReviewItem, paint: Paint): string {
  const [name, state, kind] = itemRow(item, paint);
  const lines = [
    `${name}  ${state}  ${kind}${item.diff ? `  ${verdictWord(item.diff, paint)}` : ""}`,
    `  fingerprint ${item.fingerprint}`,
    ...(item.diff ? diffLines(item.diff, paint) : []),
    ...(item.definition === undefined ? [] : [`  ${shownLine(item.definition)}`]),
    ...item.findings.flatMap(({ rule, severity, where, why, excerpt }) => [
      `  ${paint(severity === "high" ? "red" : "yellow", `${severity}: ${rule}`)} in ${
        shownLine(where)
      }`,
      `    ${shownLine(why)}`,
      ...(excerpt === "" ? [] : [`    ${shownLine(excerpt)}`]),
    ]),
  ];
  return `${lines.join("\n")}\n`;
}
