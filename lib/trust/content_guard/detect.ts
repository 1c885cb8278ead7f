import { Anchors } from "./anchors.ts";
import { leaksData, LINK_ANCHORS } from "./links.ts";
import { ORDERS_TO_MODELS, type Rule } from "./data/orders.ts";
import { KEY_FORMATS, NAMED_SECRETS, PLACEHOLDER } from "./data/secrets.ts";
import { crc32 } from "node:zlib";
import { findHidden, foldText, HIDING } from "./hidden.ts";

/** `hidden`: characters that hide text. `order`: an order to the model. `link`: one that carries data out. */
export type FindingKind = "hidden" | "order" | "secret" | "link";

/** Something in a text: which kind, by which rule, and where; never the passage itself. */
export interface Passage {
  kind: FindingKind;
  rule: string;
  /** What the passage does, as a clause without its subject. */
  why: string;
  start: number;
  end: number;
}

/** How far around an anchor a rule looks. */
const AROUND = 300;

type Look = Pick<Rule, "rule" | "why" | "expression"> & { kind: FindingKind };

const NAMED: Look[] = NAMED_SECRETS.map(({ rule, expression }) => ({
  kind: "secret",
  rule,
  why: `is a secret: ${rule}`,
  expression,
}));
const ORDERS: Look[] = ORDERS_TO_MODELS.map((rule) => ({ kind: "order", ...rule }));

/** The rules that each anchor is of; links have a check of their own. */
const LOOKS: { text: string; look: Look | "link" }[] = [
  ...ORDERS_TO_MODELS.flatMap(({ anchors }, at) =>
    anchors.map((text) => ({ text, look: ORDERS[at]! }))
  ),
  ...NAMED_SECRETS.flatMap(({ anchors }, at) =>
    anchors.map((text) => ({ text, look: NAMED[at]! }))
  ),
  ...LINK_ANCHORS.map((text) => ({ text, look: "link" as const })),
];
const KEYS = KEY_FORMATS.flatMap((format) => format.starts.map((start) => ({ start, format })));
const ANCHORS = new Anchors(LOOKS.map(({ text }) => text), KEYS.map(({ start }) => start));

/** An invisible or a control character as an escape, or a letter or digit: nobody writes those so. */
const ODD_ESCAPE =
  /\\u(?:001b|009b|00ad|034f|061c|115f|1160|180e|200[b-f]|202[a-e]|206[0-9a-f]|3164|fe0[0-e]|feff|ff[0-5][0-9a-f]|d835|db40|00(?:4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a]|3[0-9]|2d)|0[34][0-9a-f]{2})/i;

/**
 * Whether something may be found in the text of a JSON message. Looks only around anchors, so that an
 * ordinary answer is neither parsed nor copied. May say yes where detect() then finds nothing.
 */
export function isSuspicious(json: string): boolean {
  if (json.includes("\\u") && ODD_ESCAPE.test(json)) return true;
  return ANCHORS.find(json, ({ kind, index, start, end }) => {
    if (kind === "odd") return true;
    if (kind === "key") return keyAt(json, start, KEYS[index]!.format) !== undefined;
    const { look } = LOOKS[index]!;
    if (look === "link") return leaksData(json, start) !== undefined;
    const after = look.kind === "secret" ? 2_000 : AROUND;
    const around = unescaped(json.slice(Math.max(0, start - AROUND), end + after));
    look.expression.lastIndex = 0;
    return look.expression.test(around);
  });
}

/** What is found in a text, in order, without overlaps. */
export function detect(text: string): Passage[] {
  const hidden = findHidden(text);
  const found = [...hidden, ...detectIn(text)];
  if (HIDING.test(text)) {
    // As a reader sees it, or a model takes it.
    const folded = foldText(text);
    if (folded) {
      for (const passage of detectIn(folded.text)) {
        found.push({
          ...passage,
          start: folded.places[passage.start]!,
          end: folded.places[passage.end - 1]! + 1,
        });
      }
    }
  }
  return withoutOverlaps(found);
}

function detectIn(text: string): Passage[] {
  const found: Passage[] = [];
  /** Where each rule has looked already. */
  const seen = new Map<Look, number>();
  ANCHORS.find(text, ({ kind, index, start, end }) => {
    if (kind === "key") {
      const { format } = KEYS[index]!;
      const keyEnd = keyAt(text, start, format);
      const { name } = format;
      if (keyEnd !== undefined) {
        found.push({ kind: "secret", rule: name, why: `is a secret: ${name}`, start, end: keyEnd });
      }
    } else if (kind === "anchor") {
      const { look } = LOOKS[index]!;
      if (look === "link") {
        const link = leaksData(text, start);
        if (link) {
          found.push({
            kind: "link",
            rule: "link",
            why: link.why,
            start: link.start,
            end: link.end,
          });
        }
        return false;
      }
      const from = Math.max(0, start - AROUND);
      const to = Math.min(text.length, end + (look.kind === "secret" ? 20_000 : AROUND));
      if ((seen.get(look) ?? -1) >= end + 20) return false;
      seen.set(look, Math.min(to, end + AROUND - 100));
      const around = text.slice(from, to);
      look.expression.lastIndex = 0;
      for (let match = look.expression.exec(around); match; match = look.expression.exec(around)) {
        if (match[0] === "") break;
        const { rule, why, kind } = look;
        if (kind === "secret" && /x{8}|\*{3}|EXAMPLE|\.{3}/.test(match[0])) continue;
        found.push({
          kind,
          rule,
          why,
          start: from + match.index,
          end: from + match.index + match[0].length,
        });
      }
    }
    return false;
  });
  return found;
}

/** Where the key at a place ends; undefined if there is none, or only the picture of one. */
function keyAt(
  text: string,
  start: number,
  { expression, hasChecksum }: (typeof KEY_FORMATS)[number],
): number | undefined {
  const before = text.charCodeAt(start - 1);
  if (start > 0 && (isWord(before)) && text[start - 2] !== "\\") return undefined;
  expression.lastIndex = start;
  const match = expression.exec(text);
  if (!match || PLACEHOLDER.test(match[0])) return undefined;
  if (new Set(match[0]).size < 10) return undefined;
  if (hasChecksum && !isChecked(match[1]!)) return undefined;
  return start + match[0].length;
}

function isWord(code: number): boolean {
  return code >= 48 && code <= 57 || code >= 65 && code <= 90 || code >= 97 && code <= 122;
}

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** GitHub and npm put a checksum at the end: of other texts one in 56 billion has the right one. */
export function isChecked(body: string): boolean {
  let rest = crc32(body.slice(0, -6));
  let sum = "";
  for (let at = 0; at < 6; at++) {
    sum = BASE62[rest % 62] + sum;
    rest = Math.floor(rest / 62);
  }
  return sum === body.slice(-6);
}

/** A part of JSON text as a reader has it, near enough for a first look. */
function unescaped(part: string): string {
  if (!part.includes("\\")) return part;
  if (part.includes("\\u")) {
    part = part.replaceAll(
      /\\u([0-9a-fA-F]{4})/g,
      (_, code: string) => String.fromCharCode(parseInt(code, 16)),
    );
  }
  return part.replaceAll("\\n", "\n").replaceAll("\\r", "\n").replaceAll("\\t", "\t")
    .replaceAll("\\", "");
}

function withoutOverlaps(found: Passage[]): Passage[] {
  // Of two, what is to be taken out counts.
  const weight = { secret: 0, hidden: 1, link: 2, order: 3 };
  const sorted = found.sort((a, b) =>
    weight[a.kind] - weight[b.kind] || a.start - b.start || b.end - a.end
  );
  /** In the order of the text. */
  const kept: Passage[] = [];
  for (const [, ofKind] of Map.groupBy(sorted, ({ kind }) => kind)) {
    const more: Passage[] = [];
    let next = 0;
    for (const one of ofKind) {
      while (next < kept.length && kept[next]!.end <= one.start) next++;
      const heavier = kept[next];
      const isFree = (more.at(-1)?.end ?? 0) <= one.start &&
        (heavier === undefined || one.end <= heavier.start);
      if (isFree) more.push(one);
    }
    kept.push(...more);
    kept.sort((a, b) => a.start - b.start);
  }
  return kept;
}
