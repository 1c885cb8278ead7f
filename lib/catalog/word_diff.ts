import { z } from "zod";

/** A stretch of a text that stayed, came or went. */
export const TextSegment = z.object({
  kind: z.enum(["same", "added", "removed"]),
  text: z.string(),
});
export type TextSegment = z.infer<typeof TextSegment>;

/** Beyond this many pairs of words, what lies between the common ends counts as one change. */
const MAX_PAIRS = 1_000_000;
const MAX_SEGMENTS = 200;
const LONGEST_SAME = 400;
const LONGEST_CHANGE = 4_000;

/** What changed between two texts, word by word; long stretches are cut. */
export function wordDiff(before: string, after: string): TextSegment[] {
  if (before === after) return before === "" ? [] : trimmed([{ kind: "same", text: before }]);
  const [old, fresh] = [words(before), words(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (
    end < old.length - start && end < fresh.length - start &&
    old[old.length - 1 - end] === fresh[fresh.length - 1 - end]
  ) end++;
  const middle = between(
    old.slice(start, old.length - end),
    fresh.slice(start, fresh.length - end),
  );
  return trimmed(joined([
    { kind: "same", text: old.slice(0, start).join("") },
    ...middle,
    { kind: "same", text: old.slice(old.length - end).join("") },
  ]));
}

/** Words and what stands between them; put together they are the text again. */
function words(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

function between(old: string[], fresh: string[]): TextSegment[] {
  const whole: TextSegment[] = [
    { kind: "removed", text: old.join("") },
    { kind: "added", text: fresh.join("") },
  ];
  if (old.length * fresh.length > MAX_PAIRS) return whole;
  const segments = joined(longestCommon(old, fresh));
  return segments.length > MAX_SEGMENTS ? whole : segments;
}

/** By the table of the longest common run of words from each pair of places on. */
function longestCommon(old: string[], fresh: string[]): TextSegment[] {
  const width = fresh.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      lengths[i * width + j] = old[i] === fresh[j]
        ? at(i + 1, j + 1) + 1
        : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const segments: TextSegment[] = [];
  for (let i = 0, j = 0; i < old.length || j < fresh.length;) {
    const [a, b] = [old[i], fresh[j]];
    if (a !== undefined && a === b) {
      segments.push({ kind: "same", text: a });
      i++;
      j++;
    } else if (a !== undefined && (b === undefined || at(i + 1, j) >= at(i, j + 1))) {
      segments.push({ kind: "removed", text: a });
      i++;
    } else {
      segments.push({ kind: "added", text: b ?? "" });
      j++;
    }
  }
  return segments;
}

/** Neighbors of one kind as one; a lone space between two changes belongs to both. */
function joined(segments: TextSegment[]): TextSegment[] {
  const result: TextSegment[] = [];
  let [removed, added] = ["", ""];
  const flush = () => {
    if (removed !== "") result.push({ kind: "removed", text: removed });
    if (added !== "") result.push({ kind: "added", text: added });
    [removed, added] = ["", ""];
  };
  for (const [index, { kind, text }] of segments.entries()) {
    if (text === "") continue;
    const following = segments[index + 1];
    const isBetween = /^\s+$/.test(text) && removed !== "" && added !== "" &&
      following !== undefined && following.kind !== "same" && following.text !== "";
    if (kind === "removed" || kind === "same" && isBetween) removed += text;
    if (kind === "added" || kind === "same" && isBetween) added += text;
    if (kind !== "same" || isBetween) continue;
    flush();
    const last = result.at(-1);
    if (last?.kind === "same") last.text += text;
    else result.push({ kind, text });
  }
  flush();
  return result;
}

function trimmed(segments: TextSegment[]): TextSegment[] {
  return segments.map(({ kind, text }) => {
    if (kind !== "same") {
      return { kind, text: text.length > LONGEST_CHANGE ? `${cut(text, LONGEST_CHANGE)} …` : text };
    }
    if (text.length <= LONGEST_SAME) return { kind, text };
    const half = LONGEST_SAME / 2;
    return { kind, text: `${cut(text, half)} … ${text.slice(-half).toWellFormed()}` };
  });
}

function cut(text: string, length: number): string {
  return text.slice(0, length).toWellFormed();
}
