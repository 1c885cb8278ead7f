import * as z from "zod";
import type { Catalog } from "../catalog/catalog.ts";
import { isBroken, sentText } from "../catalog/catalog_tool.ts";
import { Finding, type ToolGuard } from "../catalog/tool_guard.ts";
import type { ReviewState } from "./review_state.ts";
import type { TextScreen } from "./text_screen.ts";
import { compareTools, ToolDiff } from "../catalog/tool_diff.ts";
import type { Verdicts } from "./verdicts.ts";
import { ChangePolicy, ServerTrust } from "../core/server.ts";
import { defined } from "../core/defined.ts";
import { shortened } from "../core/text.ts";
import type { ServerPins, ServerReviews } from "../storage/reviews_repository.ts";

/** In the order in which a person should look at them. */
const STATES = ["quarantined", "held", "notice", "flagged", "rejected"] as const;

/** One thing about a server's tools that a person should look at. */
export const ReviewItem = z.object({
  server: z.string(),
  /** The server's own name for it, or in parentheses what else it is. */
  tool: z.string(),
  kind: z.enum(["changed", "added", "renamed", "invalid", "finding"]),
  /**
   * Held until it is approved; passed on and to be seen; kept from everybody by what was found in
   * it; listed although something was; turned down.
   */
  state: z.enum(STATES),
  /** Of the definition it is about: a decision is for this one alone. */
  fingerprint: z.string(),
  /** Its name before, where it has another. */
  from: z.string().optional(),
  /** When it was first seen like this, in ms since the epoch. */
  at: z.number().optional(),
  /** Against what is served, or was before. */
  diff: ToolDiff.optional(),
  /** The definition, cut where it is long; for what cannot be compared. */
  definition: z.string().optional(),
  findings: z.array(Finding),
});
export type ReviewItem = z.infer<typeof ReviewItem>;

export const ReviewDecision = z.object({
  server: z.string(),
  tool: z.string(),
  kind: z.enum(["approved", "rejected", "waived", "reverted"]),
  fingerprint: z.string(),
  at: z.number(),
  by: z.string().optional(),
  rule: z.string().optional(),
  passage: z.string().optional(),
  reason: z.string().optional(),
  isRevertible: z.boolean(),
});
export type ReviewDecision = z.infer<typeof ReviewDecision>;

export const ReviewList = z.object({
  items: z.array(ReviewItem),
  more: z.int(),
});
export type ReviewList = z.infer<typeof ReviewList>;

export const ReviewPolicy = z.object({
  server: z.string(),
  policy: ChangePolicy,
  trust: ServerTrust,
  /** Whether it can be changed here, or only in the file it comes from. */
  isEditable: z.boolean(),
});
export type ReviewPolicy = z.infer<typeof ReviewPolicy>;

/** What a decision about an item names: each of its rules for a waiver; nothing if it does not apply. */
export function selectedFor(
  decision: string,
  { server, tool, fingerprint, kind, state, findings }: ReviewItem,
): { server: string; tool: string; fingerprint: string; rule?: string }[] {
  const named = { server, tool, fingerprint };
  if (decision === "waive") {
    return [...new Set(findings.map(({ rule }) => rule))].map((rule) => ({ ...named, rule }));
  }
  if (decision === "approve" && state === "quarantined") return [];
  return kind === "finding" || kind === "invalid" ? [] : [named];
}

const MAX_DEFINITION = 4_000;

export interface ItemSources {
  book: ReviewState;
  catalog: Catalog;
  guard: ToolGuard;
  verdicts: Verdicts;
  screen: TextScreen;
}

/** An item with the texts that it is compared by, which takes time. */
export interface RawItem extends ReviewItem {
  text: string;
  before?: string | undefined;
}

export function collectItems(servers: readonly string[], sources: ItemSources): RawItem[] {
  const items = servers.flatMap((server) => [
    ...withChanges(foundItems(server, sources), noticeItems(server, sources)),
    ...heldItems(server, sources),
  ]);
  return items.sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));
}

/** A change with a finding is one item: in the finding's state, with what changed. */
function withChanges(found: readonly RawItem[], notices: readonly RawItem[]): RawItem[] {
  const keyOf = ({ tool, fingerprint }: RawItem) => JSON.stringify([tool, fingerprint]);
  const changes = new Map(notices.map((notice) => [keyOf(notice), notice]));
  const merged = found.map((item) => {
    const { state, findings } = item;
    const notice = changes.get(keyOf(item));
    return notice ? { ...notice, state, findings } : item;
  });
  const known = new Set(found.map(keyOf));
  return [...merged, ...notices.filter((notice) => !known.has(keyOf(notice)))];
}

/** As it is shown: compared with what it was, or whole where there is nothing to compare. */
export function inDetail({ text, before, ...item }: RawItem): ReviewItem {
  return before === undefined
    ? { ...item, definition: shortened(text, MAX_DEFINITION) }
    : { ...item, diff: compareTools(before, text) };
}

function heldItems(server: string, { catalog, guard, verdicts }: ItemSources): RawItem[] {
  return catalog.heldOf(server).map((held) => {
    const { kind, name, listed, from, isRejected } = held;
    const fingerprint = isBroken(listed) ? "" : listed.fingerprint;
    const found = verdicts.find(server, fingerprint) ?? [];
    return {
      server,
      tool: name,
      kind,
      state: isRejected ? "rejected" : "held",
      fingerprint,
      ...defined({ from }),
      findings: [...guard.open(server, { name, fingerprint }, found)],
      text: listed.text,
      before: guard.servedFor(server, held)?.text,
    };
  });
}

function noticeItems(server: string, { book, guard, verdicts }: ItemSources): RawItem[] {
  return book.reviewsOf(server).notices.map((notice) => {
    const { tool, from, fingerprint, before } = notice;
    const found = verdicts.find(server, fingerprint) ?? [];
    return {
      ...notice,
      server,
      kind: from !== undefined ? "renamed" : before ? "changed" : "added",
      state: "notice",
      findings: [...guard.open(server, { name: tool, fingerprint }, found)],
      before: before?.text,
    };
  });
}

function foundItems(server: string, { catalog, screen }: ItemSources): RawItem[] {
  const { quarantined = [], flagged = [] } = catalog.reviewOf(server);
  const ofTools = [...quarantined, ...flagged].map(({ tool, findings }, index) => ({
    subject: tool.name,
    isQuarantined: index < quarantined.length,
    fingerprint: tool.fingerprint,
    findings,
    text: sentText(tool),
  }));
  return [...ofTools, ...screen.found(server)].map((found) => ({
    server,
    tool: found.subject,
    kind: "finding",
    state: found.isQuarantined ? "quarantined" : "flagged",
    fingerprint: found.fingerprint,
    findings: [...found.findings],
    text: found.text,
  }));
}

export function decisionsOf(
  { server, rejected, waivers }: ServerReviews,
  pins: ServerPins | undefined,
): ReviewDecision[] {
  const tools = pins?.tools ?? [];
  const reverted = new Set(tools.filter(({ isKept }) => isKept).map(({ name }) => name));
  const approved = tools.filter(({ by, isKept }) => by !== undefined && !isKept);
  return [
    ...approved.map(({ name: tool, fingerprint, pinnedAt: at, by }) => (
      { server, tool, kind: "approved" as const, fingerprint, at, by, isRevertible: true }
    )),
    ...rejected.map(({ isHidden: _, ...rejection }) => ({
      ...rejection,
      server,
      kind: reverted.has(rejection.tool) ? "reverted" as const : "rejected" as const,
      isRevertible: false,
    })),
    ...waivers.map((each) => ({ ...each, server, kind: "waived" as const, isRevertible: false })),
  ];
}
