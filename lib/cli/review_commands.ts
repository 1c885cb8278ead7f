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
        ? `There is nothing to review in ${shownLine(String(input.tool))}.\n`
        : items.map((item) => itemText(item, paint)).join("\n"),
  },
  "review.approve": {
    flags: [FINGERPRINT, YES],
    async prepare(given, command, target) {
      const canApprove = ({ state, kind }: ReviewItem) => kind !== "finding" && state !== "flagged";
      const item = await itemToDecide(target, given, command, canApprove);
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
        throw configError("review waive needs a reason", "Give it with --reason TEXT");
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
      "Decides on everything that waits, or on what the flags name. Each item is decided or refused",
      "on its own; the exit code is 1 if any was refused.",
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
      "`hold` serves a tool as it was until you approve the change, `notify` passes it on and tells",
      "you, `allow` says nothing. For servers in a config file, set `changes` and `trust` there.",
    ],
    flags: [{ ...YES, meaning: "Do not ask before less is held; required without a terminal" }],
    prepare(given, command) {
      const { server, changes, trust } = given;
      const isLooser = changes === "allow" || changes === "notify" || trust === "trusted";
      if (isLooser) agree("review policy", `Hold fewer changes of ${server}?`, command);
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
      message: `There is nothing to ${given.decision}`,
      next: [{ label: "See what waits", operation: "review.list" }],
    });
  }
  const lines = selected.map(({ server, tool, rule }) =>
    shownLine(`  ${server}.${tool}${rule === undefined ? "" : `: ${rule}`}`)
  );
  const question = `Do you want to ${given.decision} these ${selected.length}?`;
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
  const check = { label: "Check it", operation: "review.show", input: { tool } };
  if (!item) {
    const quarantined = items.find(({ state }) => state === "quarantined");
    if (!quarantined) {
      throw new GatewayError("NOT_FOUND", {
        message: `There is no such decision to make about ${tool}`,
        next: [{ label: "See what to review", operation: "review.list" }],
      });
    }
    // A finding stands until it is waived, rule by rule.
    const waivers = rulesIn(quarantined.findings).map((rule) => ({
      label: "If you trust it anyway, waive the finding",
      operation: "review.waive",
      input: { tool, rule, reason: "TEXT" },
    }));
    throw new GatewayError("TOOL_QUARANTINED", {
      message: `${tool} is in quarantine because of findings, not because of a change`,
      next: [check, ...waivers],
    });
  }
  const versions = fitting.filter(({ state }) => state === item.state);
  if (wanted === undefined && versions.length > 1) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Clients are listed ${versions.length} versions of ${tool}`,
      recoveryAction: "Name the one that you decide on with --fingerprint",
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
  notice: { text: "passed on", color: "gray" },
  flagged: { text: "listed, check it", color: "yellow" },
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
    ...findings.flatMap(({ rule, severity, where, why, excerpt }) => [
      `  ${paint(severity === "high" ? "red" : "yellow", `${severity}: ${rule}`)} in ${
        shownLine(where)
      }`,
      `    ${shownLine(why)}`,
      ...(excerpt === "" ? [] : [`    ${shownLine(excerpt)}`]),
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
    blocks.push([`${events.length - shown.length} more, older: --json has them all`]);
  }
  if (history.invalid.length > 0) {
    blocks.push([
      "Listed by the server but not valid tools, so the gateway does not list them:",
      ...history.invalid.map(({ name, problem }) =>
        `  ${paint("red", shownLine(name))}  ${shownLine(problem)}`
      ),
    ]);
  }
  if (events.length === 0) {
    blocks.unshift([
      history.tools.length === 0
        ? `No tools of ${history.server} have been seen yet.`
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
    message: `No request for consent has the id "${id.slice(0, 40)}"`,
    next: [{ label: "See the requests", operation: "consent.list" }],
  });
}

/** All that decides what a program does, and who wants it run. */
export function consentText(consent: ShownConsent): string {
  const { id, wish, server, argv, url, variables, secrets, folder, who, origin, problem } = consent;
  const from = origin.from === undefined ? "" : ` (${origin.from})`;
  const isProgram = url === undefined;
  // As JSON: spaces, quotes and hidden characters show for what they are.
  const values = variables.map(({ name, value }) =>
    visibleJson(value === undefined ? name : `${name}=${value}`)
  );
  const facts: [label: string, value: string | undefined][] = [
    [isProgram ? "runs" : "connects", visibleJson(isProgram ? argv : url)],
    ["folder", folder && visibleJson(folder)],
    [isProgram ? "variables" : "headers", values.join(", ")],
    ["secrets", secrets.join(", ")],
    ["asked by", `${shownLine(`${who} by ${origin.via}${from}`)}, ${minuteOf(consent.askedAt)}`],
    ["expires", minuteOf(consent.expiresAt)],
    ["problem", problem && shownLine(problem)],
  ];
  const lines = [
    `${id}  ${wish} ${server}`,
    ...facts.flatMap(([label, value]) => value ? [`  ${label.padEnd(9)} ${value}`] : []),
  ];
  return lines.map((line) => `${showHidden(line)}\n`).join("");
}
