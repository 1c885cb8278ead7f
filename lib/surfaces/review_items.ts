import type { Catalog } from "../catalog/catalog.ts";
import { canonicalText, isBroken } from "../catalog/catalog_tool.ts";
import type { ReviewBook } from "../catalog/review_book.ts";
import type { TextScreen } from "../catalog/text_screen.ts";
import { compareTools } from "../catalog/tool_diff.ts";
import type { ToolGuard } from "../catalog/tool_guard.ts";
import type { Verdicts } from "../catalog/verdicts.ts";
import { shortened } from "../core/shortened.ts";
import type { ReviewItem } from "./review_item.ts";

const MAX_DEFINITION = 4_000;
/** In the order in which a person should look at them. */
const STATES: readonly ReviewItem["state"][] = [
  "quarantined",
  "held",
  "notice",
  "flagged",
  "rejected",
];

export interface ItemSources {
  book: ReviewBook;
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

/** What there is to look at of these servers. */
export function collectItems(servers: readonly string[], sources: ItemSources): RawItem[] {
  const items = servers.flatMap((server) => [
    ...foundItems(server, sources),
    ...heldItems(server, sources),
    ...noticeItems(server, sources),
  ]);
  return items.sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));
}

/** As it is shown: compared with what it was, or whole where there is nothing to compare. */
export function inDetail({ text, before, ...item }: RawItem): ReviewItem {
  return before === undefined
    ? { ...item, definition: shortened(text, MAX_DEFINITION) }
    : { ...item, diff: compareTools(before, text) };
}

function heldItems(server: string, { catalog, guard, verdicts }: ItemSources): RawItem[] {
  return catalog.heldOf(server).map((held) => {
    const { kind, name, listed, pinned, from, isRejected } = held;
    const fingerprint = isBroken(listed) ? "" : listed.fingerprint;
    const found = verdicts.find(server, fingerprint) ?? [];
    const old = from === undefined ? pinned : guard.rulesOf(server)?.pins.get(from)?.tool;
    return {
      server,
      tool: name,
      kind,
      state: isRejected ? "rejected" : "held",
      fingerprint,
      ...(from === undefined ? {} : { from }),
      findings: [...guard.open(server, { name, fingerprint }, found)],
      text: listed.text,
      before: old?.text,
    };
  });
}

function noticeItems(server: string, { book, guard, verdicts }: ItemSources): RawItem[] {
  return book.reviewsOf(server).notices.map((notice) => {
    const { tool, from, text, fingerprint, before, at } = notice;
    const found = verdicts.find(server, fingerprint) ?? [];
    return {
      server,
      tool,
      kind: from !== undefined ? "renamed" : before ? "changed" : "added",
      state: "notice",
      fingerprint,
      ...(from === undefined ? {} : { from }),
      at,
      findings: [...guard.open(server, { name: tool, fingerprint }, found)],
      text,
      before: before?.text,
    };
  });
}

function foundItems(server: string, { catalog, screen }: ItemSources): RawItem[] {
  const { quarantined = [], flagged = [] } = catalog.of(server);
  const ofTools = [...quarantined, ...flagged].map(({ tool, findings }, index): RawItem => ({
    server,
    tool: tool.name,
    kind: "finding",
    state: index < quarantined.length ? "quarantined" : "flagged",
    fingerprint: tool.fingerprint,
    findings: [...findings],
    text: canonicalText(tool),
  }));
  const ofTexts = screen.found(server).map((found): RawItem => ({
    server,
    tool: found.subject,
    kind: "finding",
    state: found.isQuarantined ? "quarantined" : "flagged",
    fingerprint: found.fingerprint,
    findings: [...found.findings],
    text: found.text,
  }));
  return [...ofTools, ...ofTexts];
}
