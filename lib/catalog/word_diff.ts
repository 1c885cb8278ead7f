import { diffArrays } from "diff";
import * as z from "zod";

export const TextSegment = z.object({
  kind: z.enum(["same", "added", "removed"]),
  text: z.string(),
});
export type TextSegment = z.infer<typeof TextSegment>;

/** Beyond this many changed words, everything between the common ends counts as one change. */
const MAX_EDITS = 400;
const MAX_SEGMENTS = 200;
const LONGEST_SAME = 400;
const LONGEST_CHANGE = 4_000;

export function wordDiff(before: string, after: string): TextSegment[] {
  const [old, fresh] = [words(before), words(after)];
  const changes = diffArrays(old, fresh, { maxEditLength: MAX_EDITS })?.map((
    { added, removed, value },
  ): TextSegment => ({
    kind: added ? "added" : removed ? "removed" : "same",
    text: value.join(""),
  }));
  const segments = joined(changes ?? []);
  const isUsable = changes !== undefined && segments.length <= MAX_SEGMENTS;
  return trimSegments(isUsable ? segments : asOneChange(old, fresh), LONGEST_SAME, LONGEST_CHANGE);
}

/** Words and what stands between them; put together they are the text again. */
function words(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

function asOneChange(old: string[], fresh: string[]): TextSegment[] {
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (
    end < old.length - start && end < fresh.length - start &&
    old.at(-1 - end) === fresh.at(-1 - end)
  ) end++;
  const segments: TextSegment[] = [
    { kind: "same", text: old.slice(0, start).join("") },
    { kind: "removed", text: old.slice(start, old.length - end).join("") },
    { kind: "added", text: fresh.slice(start, fresh.length - end).join("") },
    { kind: "same", text: old.slice(old.length - end).join("") },
  ];
  return segments.filter(({ text }) => text !== "");
}

/** Changes that only a space separates are one change, removed before added. */
function joined(segments: TextSegment[]): TextSegment[] {
  const result: TextSegment[] = [];
  let [removed, added] = ["", ""];
  const flush = () => {
    if (removed !== "") result.push({ kind: "removed", text: removed });
    if (added !== "") result.push({ kind: "added", text: added });
    [removed, added] = ["", ""];
  };
  for (const [index, { kind, text }] of segments.entries()) {
    const isBetween = kind === "same" && /^\s+$/.test(text) && removed !== "" && added !== "" &&
      index < segments.length - 1;
    if (kind === "removed" || isBetween) removed += text;
    if (kind === "added" || isBetween) added += text;
    if (kind !== "same" || isBetween) continue;
    flush();
    result.push({ kind, text });
  }
  flush();
  return result;
}

/** Of a long change the beginning is kept, of what is the same also the end. */
export function trimSegments(segments: TextSegment[], same: number, change: number): TextSegment[] {
  return segments.map(({ kind, text }) => {
    if (text.length <= (kind === "same" ? same : change)) return { kind, text };
    if (kind !== "same") return { kind, text: `${cut(text, change)} …` };
    return { kind, text: `${cut(text, same / 2)} … ${text.slice(-same / 2).toWellFormed()}` };
  });
}

function cut(text: string, length: number): string {
  return text.slice(0, length).toWellFormed();
}
