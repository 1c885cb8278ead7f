import { configError } from "../config/files.ts";
import { GatewayError } from "../core/errors.ts";
import { showHidden, shownLine, visibleJson } from "../core/text.ts";
import type { OutputOf } from "../operations/operation.ts";
import { REVIEW_OPERATIONS } from "../operations/review.ts";
import type { ReviewItem } from "../trust/review_items.ts";
import type { CommandInput } from "./command.ts";
import { agree, type CommandExtras, type OutcomeView, YES } from "./operation_command.ts";
import type { OperationTarget } from "./operation_target.ts";
import { type Color, inert, listing, minuteOf, type Paint, painter } from "./terminal.ts";
import { changeLine } from "../trust/tool_changes.ts";
import type { ToolDiff } from "../catalog/tool_diff.ts";
import { type ServerHistory, type ToolEvent, toolEvents } from "../catalog/tool_history.ts";
import { CONSENT_OPERATIONS, type ShownConsent } from "../operations/consents.ts";

type Input = Record<string, unknown>;

const FINGERPRINT = {
  flag: "fingerprint",
  placeholder: "TEXT",
  meaning: "Decide only on this definition; `review show` shows its fingerprint",
};

export const REVIEW_EXTRAS: Record<string, CommandExtras> = {
  "review.list": {
    details: ["`review show` shows one tool in full."],
    show: listText,
  },
  "review.show": {
    details: ["A server's instructions are `SERVER.(instructions)`."],
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
  if (items.length === 0) return "Nothing to review.\n";
  const titles = ["TOOL", "STATE", "WHAT", "RULES"];
  const rows = listing(titles, items.map((item) => itemRow(item, paint)), paint);
  return more > 0 ? `${rows}and ${more} more\n` : rows;
}

function policiesText(
  { policies }: OutputOf<typeof REVIEW_OPERATIONS.policies>,
  { paint }: OutcomeView,
): string {
  const rows = policies.map(({ server, policy, trust }) => [server, policy, trust]);
  return listing(["SERVER", "CHANGES", "TRUST"], rows, paint);
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
      "Listed by the server, but no valid tools, and so not listed by the gateway:",
      ...history.invalid.map(({ name, problem }) =>
        `  ${paint("red", shownLine(name))}  ${shownLine(problem)}`
      ),
    ]);
  }
  if (events.length === 0) {
    const { length } = history.tools;
    blocks.unshift([
      length === 0
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
      const { consents } = await target.run(CONSENT_OPERATIONS.list, {}) as {
        consents: ShownConsent[];
      };
      const consent = consents.find(({ id }) => id === given.id);
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
  const words = variables.map(({ name, value }) => value === undefined ? name : `${name}=${value}`);
  const lines = [
    `${id}  ${wish} ${server}`,
    // As JSON: spaces, quotes and hidden characters show for what they are.
    url === undefined ? `  runs      ${visibleJson(argv)}` : `  connects  ${visibleJson(url)}`,
    ...(folder === undefined ? [] : [`  folder    ${visibleJson(folder)}`]),
    ...(words.length === 0
      ? []
      : [`  ${url === undefined ? "variables" : "headers  "} ${
        words.map((word) => visibleJson(word)).join(", ")
      }`]),
    ...(secrets.length === 0 ? [] : [`  secrets   ${secrets.join(", ")}`]),
    `  asked by  ${shownLine(`${who} by ${origin.via}${from}`)}, ${minuteOf(consent.askedAt)}`,
    `  expires   ${minuteOf(consent.expiresAt)}`,
    ...(problem === undefined ? [] : [`  ${shownLine(problem)}`]),
  ];
  return lines.map((line) => `${showHidden(line)}\n`).join("");
}
