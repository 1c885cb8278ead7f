import { configError } from "../config/files.ts";
import { GatewayError } from "../core/errors.ts";
import { showHidden, shownLine, visibleJson } from "../core/text.ts";
import type { OutputOf } from "../operations/operation.ts";
import { REVIEW_OPERATIONS } from "../operations/review.ts";
import { type ReviewItem, selectedFor } from "../trust/review_items.ts";
import type { CommandInput } from "./command.ts";
import { agree, type CommandExtras, YES } from "./operation_command.ts";
import type { OperationTarget } from "./operation_target.ts";
import { type Color, inert, listing, minuteOf, type Paint, painter } from "./terminal.ts";
import { changeLine } from "../trust/tool_changes.ts";
import type { ToolDiff } from "../catalog/tool_diff.ts";
import { type ServerHistory, type ToolEvent, toolEvents } from "../catalog/tool_history.ts";
import { CONSENT_OPERATIONS, type ShownConsent } from "../operations/consents.ts";

const FINGERPRINT = {
  flag: "fingerprint",
  placeholder: "TEXT",
  meaning: "Decide only on this definition; `review show` shows its fingerprint",
};

export const REVIEW_EXTRAS: Record<string, CommandExtras> = {
  "review.list": {
    details: ["`review show` shows one tool in full."],
    show({ items, more }: OutputOf<typeof REVIEW_OPERATIONS.list>, { paint }) {
      const rows = listing(items, { paint, empty: "Nothing to review.\n" }, {
        TOOL: ({ server, tool }) => shownLine(`${server}.${tool}`),
        STATE: ({ state }) => STATES[state],
        WHAT: kindText,
        RULES: ({ findings }) => shownLine(rulesIn(findings).join(", ")),
      });
      return more > 0 ? `${rows}and ${more} more\n` : rows;
    },
  },
  "review.show": {
    details: ["A server's instructions are `SERVER.(instructions)`."],
    show: ({ items }: OutputOf<typeof REVIEW_OPERATIONS.show>, { paint, input }) =>
      items.length === 0
        ? `Nothing to review in ${shownLine(String(input.tool))}.\n`
        : items.map((item) => itemText(item, paint)).join("\n"),
  },
  "review.approve": {
    flags: [FINGERPRINT, YES],
    async prepare(given, command, target) {
      const canApprove = ({ state, kind }: ReviewItem) =>
        kind !== "finding" && state !== "quarantined";
      const item = await itemToDecide(target, given, command, canApprove);
      // A change that was passed on is only marked as seen.
      if (item.state === "held" || item.state === "rejected") {
        const question = `Serve ${shownLine(`${item.server}.${item.tool}`)} like this?`;
        agree("review approve", question, command, itemText(item, painter(command.env)));
      }
      return { ...given, fingerprint: item.fingerprint };
    },
  },
  "review.reject": {
    flags: [FINGERPRINT],
    async prepare(given, command, target) {
      const isChange = ({ kind }: ReviewItem) => kind !== "finding";
      const { fingerprint } = await itemToDecide(target, given, command, isChange);
      return { ...given, fingerprint };
    },
  },
  "review.waive": {
    flags: [FINGERPRINT, YES],
    async prepare(given, command, target) {
      if (given.undo === true) return given;
      if (String(given.reason ?? "").trim() === "") {
        throw configError("review waive requires a reason", "Pass --reason TEXT");
      }
      const isFound = ({ findings }: ReviewItem) =>
        findings.some(({ rule }) => rule === given.rule);
      const item = await itemToDecide(target, given, command, isFound);
      const question = shownLine(`Waive ${given.rule} for ${item.server}.${item.tool}?`);
      agree("review waive", question, command, itemText(item, painter(command.env)));
      return { ...given, fingerprint: item.fingerprint };
    },
  },
  "review.decide": {
    details: [
      "Applies to all items waiting for review, or to those that the flags select. Each item",
      "succeeds or fails on its own; exits with code 1 if any item fails.",
    ],
    flags: [
      { flag: "server", placeholder: "NAME", meaning: "Only items of this server" },
      { flag: "rule", placeholder: "NAME", meaning: "Only findings of this rule" },
      YES,
    ],
    prepare: prepareDecisions,
    exitCode: ({ refused }: OutputOf<typeof REVIEW_OPERATIONS.decide>) =>
      refused.length > 0 ? 1 : 0,
  },
  "review.policies": {
    show: ({ policies }: OutputOf<typeof REVIEW_OPERATIONS.policies>, { paint }) =>
      listing(policies, { paint }, {
        SERVER: ({ server }) => server,
        CHANGES: ({ policy }) => policy,
        TRUST: ({ trust }) => trust,
      }),
  },
  "review.policy": {
    details: [
      "`hold` serves the previous definition until you approve the change, `notify` serves the change and",
      "lists it for review, `allow` serves it silently. For servers in a config file, set `changes` and",
      "`trust` in that file.",
    ],
    flags: [{ ...YES, meaning: "Skip the confirmation to hold less; required without a terminal" }],
    prepare(given, command) {
      const { server, changes, trust } = given;
      const isLooser = changes === "allow" || changes === "notify" || trust === "trusted" ||
        trust === "normal";
      if (isLooser) agree("review policy", `Hold fewer changes to ${server}?`, command);
      return Promise.resolve(given);
    },
  },
};

async function prepareDecisions(
  given: Record<string, unknown>,
  command: CommandInput,
  target: OperationTarget,
) {
  const [server, rule] = [command.flags.get("server"), command.flags.get("rule")];
  const input = typeof server === "string" ? { server } : {};
  const { items }: { items: ReviewItem[] } = await target.run(REVIEW_OPERATIONS.list, input);
  const selected = items.flatMap((item) => selectedFor(String(given.decision), item))
    .filter((item) => typeof rule !== "string" || item.rule === rule);
  if (selected.length === 0) {
    throw new GatewayError("NOT_FOUND", {
      message: `Nothing to ${given.decision}`,
      next: [{ label: "List the items to review", operation: "review.list" }],
    });
  }
  const lines = selected.map(({ server, tool, rule }) =>
    shownLine(`  ${server}.${tool}${rule === undefined ? "" : `: ${rule}`}`)
  );
  const question = `Do you want to ${given.decision} these ${selected.length} items?`;
  agree("review decide", question, command, `${lines.join("\n")}\n`);
  return { ...given, items: selected };
}

/** The definition to decide on: the current one, or exactly the one that was named. */
export async function itemToDecide(
  target: Pick<OperationTarget, "run">,
  { tool }: Record<string, unknown>,
  { flags }: Pick<CommandInput, "flags">,
  isWanted: (item: ReviewItem) => boolean,
): Promise<ReviewItem> {
  const { items }: { items: ReviewItem[] } = await target.run(REVIEW_OPERATIONS.show, { tool });
  const wanted = flags.get("fingerprint");
  const fitting = items.filter(isWanted);
  const item = fitting.find(({ fingerprint }) => fingerprint === wanted) ?? fitting[0];
  const check = { label: "Show it", operation: "review.show", input: { tool } };
  if (!item) {
    const quarantined = items.find(({ state }) => state === "quarantined");
    if (!quarantined) {
      throw new GatewayError("NOT_FOUND", {
        message: `${tool} is not waiting for this decision`,
        next: [{ label: "List the items to review", operation: "review.list" }],
      });
    }
    // A finding stands until it is waived, rule by rule.
    const waivers = rulesIn(quarantined.findings).map((rule) => ({
      label: "If you trust it anyway, waive the finding",
      operation: "review.waive",
      input: { tool, rule, reason: "TEXT" },
    }));
    throw new GatewayError("TOOL_QUARANTINED", {
      message: `${tool} is quarantined because of findings, not because of a change`,
      next: [check, ...waivers],
    });
  }
  const versions = fitting.filter(({ state }) => state === item.state);
  if (wanted === undefined && versions.length > 1) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Clients see ${versions.length} versions of ${tool}`,
      recoveryAction: "Select one with --fingerprint",
      next: [check],
    });
  }
  if (wanted === undefined || wanted === item.fingerprint) return item;
  throw new GatewayError("CONFLICT", {
    message: `${tool} has changed again: its fingerprint is ${item.fingerprint}`,
    next: [check],
  });
}

function rulesIn(findings: ReviewItem["findings"]): string[] {
  return [...new Set(findings.map(({ rule }) => rule))];
}

const STATES: Record<ReviewItem["state"], { text: string; color: Color }> = {
  quarantined: { text: "quarantined", color: "red" },
  held: { text: "held", color: "yellow" },
  notice: { text: "served", color: "gray" },
  flagged: { text: "listed without a passage", color: "yellow" },
  rejected: { text: "rejected", color: "gray" },
};

export function kindText({ kind, from }: Pick<ReviewItem, "kind" | "from">): string {
  if (from !== undefined) return `renamed, was ${shownLine(from)}`;
  return kind === "invalid" ? "no longer a valid tool" : kind;
}

export function itemText(item: ReviewItem, paint: Paint): string {
  const { server, tool, state, diff, definition, fingerprint, findings } = item;
  const { color, text } = STATES[state];
  const verdict = diff ? `  ${verdictWord(diff, paint)}` : "";
  const lines = [
    `${shownLine(`${server}.${tool}`)}  ${paint(color, text)}  ${kindText(item)}${verdict}`,
    `  fingerprint ${fingerprint}`,
    ...(diff ? diffLines(diff, paint) : []),
    ...(definition === undefined ? [] : [`  ${shownLine(definition)}`]),
    ...findings.flatMap(({ rule, severity, where, why, excerpt, passage }) => [
      `  ${paint(severity === "high" ? "red" : "yellow", `${severity}: ${rule}`)} in ${
        shownLine(where)
      }`,
      `    ${shownLine(why)}`,
      ...(passage === undefined && excerpt === "" ? [] : [
        `    ${severity === "low" ? "" : "withheld: "}${shownLine(passage ?? excerpt)}`,
      ]),
    ]),
  ];
  return `${lines.join("\n")}\n`;
}

/** A terminal's worth of scrolling; --json has all of it. */
const MAX_EVENTS = 50;

/** A server's history as a person reads it in a terminal, the newest first. */
export function historyText(history: ServerHistory, paint: Paint): string {
  const events = toolEvents(history);
  const shown = events.slice(0, MAX_EVENTS);
  const blocks = shown.map((event) => eventLines(event, paint));
  if (events.length > shown.length) {
    blocks.push([`${events.length - shown.length} older events: use --json to see all`]);
  }
  if (history.invalid.length > 0) {
    blocks.push([
      "Invalid tools, which the gateway does not list:",
      ...history.invalid.map(({ name, problem }) =>
        `  ${paint("red", shownLine(name))}  ${shownLine(problem)}`
      ),
    ]);
  }
  if (events.length === 0) {
    blocks.unshift([
      history.tools.length === 0
        ? `The gateway has not seen any tools of ${history.server} yet.`
        : `The tools of ${history.server} have not changed since they were first seen.`,
    ]);
  }
  return blocks.map((lines) => `${lines.join("\n")}\n`).join("\n");
}

function eventLines(event: ToolEvent, paint: Paint): string[] {
  const head = `${minuteOf(event.at)}  ${shownLine(event.tool)}`;
  if (event.kind !== "changed") {
    return [`${head}  ${event.kind === "added" ? paint("green", "new") : paint("yellow", "gone")}`];
  }
  const version = `version ${event.version}`;
  const { diff } = event;
  if (diff === undefined) return [`${head}  ${version}`];
  return [`${head}  ${version}  ${verdictWord(diff, paint)}`, ...diffLines(diff, paint)];
}

export function verdictWord({ compatibility }: ToolDiff, paint: Paint): string {
  return compatibility === "breaking" ? paint("red", "breaking") : paint("green", "compatible");
}

export function diffLines(diff: ToolDiff, paint: Paint): string[] {
  const mark = (kind: "added" | "removed", words: string) =>
    paint(kind === "added" ? "green" : "red", words);
  return [
    ...diff.reasons.map((reason) => `  ! ${shownLine(reason)}`),
    ...diff.changes.map((change) => `    ${changeLine(change, mark)}`),
    ...diff.more > 0 ? [`    and ${diff.more} more changes`] : [],
  ];
}

export const CONSENT_EXTRAS: Record<string, CommandExtras> = {
  "consent.list": {
    show: ({ consents }: OutputOf<typeof CONSENT_OPERATIONS.list>) =>
      consents.length === 0
        ? "No requests are waiting for your consent.\n"
        : consents.map(consentText).join("\n"),
  },
  "consent.approve": {
    details: ["`consent list` shows the IDs."],
    flags: [YES],
    async prepare(given, command, target) {
      const { consents }: { consents: ShownConsent[] } = await target.run(
        CONSENT_OPERATIONS.list,
        {},
      );
      const consent = consents.find(({ id }) => id === given.id);
      // Never left to the operation: a request that arrives meanwhile would be approved unseen.
      if (!consent) throw noSuchRequest(String(given.id));
      const question = consent.url === undefined
        ? `Run this program as ${consent.server}?`
        : `Connect to ${consent.url} as ${consent.server}?`;
      agree("consent approve", inert(question), command, consentText(consent));
      return given;
    },
  },
};

function noSuchRequest(id: string): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: `Consent request not found: "${id.slice(0, 40)}"`,
    next: [{ label: "List the requests", operation: "consent.list" }],
  });
}

/** All that decides what a program does, and who wants it run. */
export function consentText(consent: ShownConsent): string {
  const { id, wish, server, argv, url, variables, secrets, folder, who, origin, problem } = consent;
  const { isolation } = consent;
  const from = origin.from === undefined ? "" : ` (${origin.from})`;
  const isProgram = url === undefined;
  // As JSON: spaces, quotes and hidden characters show for what they are.
  const values = variables.map(({ name, value }) =>
    visibleJson(value === undefined ? name : `${name}=${value}`)
  );
  const facts: [label: string, value: string | undefined][] = [
    [isProgram ? "runs" : "connects", visibleJson(isProgram ? argv : url)],
    ["folder", folder && visibleJson(folder)],
    ["isolation", isolation && shownLine(isolation)],
    [isProgram ? "variables" : "headers", values.join(", ")],
    ["secrets", secrets.join(", ")],
    [
      "requested by",
      `${shownLine(`${who} by ${origin.via}${from}`)}, ${minuteOf(consent.askedAt)}`,
    ],
    ["expires", minuteOf(consent.expiresAt)],
    ["problem", problem && shownLine(problem)],
  ];
  const lines = [
    `${id}  ${wish} ${server}`,
    ...facts.flatMap(([label, value]) => value ? [`  ${label.padEnd(9)} ${value}`] : []),
  ];
  return lines.map((line) => `${showHidden(line)}\n`).join("");
}
