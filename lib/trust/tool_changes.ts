import { defined } from "../core/defined.ts";
import { shortened, shownLine } from "../core/text.ts";
import { compareTools, type ToolChange } from "../catalog/tool_diff.ts";
import { type TextSegment, trimSegments } from "../catalog/word_diff.ts";
import type { HeldTool, ToolGuard } from "../catalog/tool_guard.ts";

/** Styles added and removed text, in addition to the signs around it. */
type Mark = (kind: "added" | "removed", words: string) => string;

/** A difference in one line for a person; hidden characters are shown. */
export function changeLine(change: ToolChange, mark: Mark = (_, words) => words): string {
  const path = shownLine(change.path);
  switch (change.kind) {
    case "text":
      return `${path}: ${change.segments.map((segment) => marked(segment, mark)).join("")}`;
    case "added":
      return `${path}: ${shownLine(change.after)} added`;
    case "removed":
      return `${path}: ${shownLine(change.before)} removed`;
    case "changed":
      return `${path}: ${shownLine(change.before)} -> ${shownLine(change.after)}`;
    case "reordered":
      return `${path}: same values in a different order`;
  }
}

/** As word diffs are written where there are no colors. */
function marked({ kind, text }: TextSegment, mark: Mark): string {
  const words = shownLine(text);
  if (kind === "same") return words;
  return mark(kind, kind === "added" ? `{+${words}+}` : `[-${words}-]`);
}

/** As many tools as a line of the log should have. */
const MAX_TOOLS = 50;
/** Comparing takes time that calls wait for; the review shows every change. */
const MAX_COMPARED = 20;
const MAX_COMPARED_CHARS = 60_000;
const LONGEST_COMPARED = 20_000;
const MAX_CHARS = 16_000;
const MAX_LINES = 8;
const LONGEST_LINE = 1_000;
const LONGEST_CHANGE = 400;
const LONGEST_SAME = 120;
const LONGEST_NAME = 200;

interface ChangedTool {
  tool: string;
  kind?: HeldTool["kind"];
  /** Its name before, where it has another. */
  from?: string | undefined;
  text: string;
  /** None of what was not there before. */
  before?: string | undefined;
}

/**
 * What changed of these tools, for the log: field by field, or the definition if it is new, or
 * neither if there is too much. `mask` takes out secrets: of one that the comparison took apart the
 * log would not recognize the pieces.
 */
export function loggedChanges(
  changed: readonly ChangedTool[],
  mask: (text: string) => string,
): (Omit<ChangedTool, "text" | "before"> & { diff?: string[]; definition?: string })[] {
  let chars = 0;
  let compared = 0;
  return changed.slice(0, MAX_TOOLS).map(({ tool, kind, from, text, before }, index) => {
    const named = {
      tool: shownName(tool),
      ...defined({ kind, from: from === undefined ? undefined : shownName(from) }),
    };
    if (index >= MAX_COMPARED || chars >= MAX_CHARS) return named;
    if (before === undefined) {
      const definition = shortened(shownLine(mask(text)), LONGEST_LINE);
      chars += definition.length;
      return { ...named, definition };
    }
    const length = before.length + text.length;
    compared += length;
    if (length > LONGEST_COMPARED || compared > MAX_COMPARED_CHARS) return named;
    const diff = diffLines(mask(before), mask(text));
    for (const line of diff) chars += line.length;
    return { ...named, diff };
  });
}

/** What is held, against what is served in its place. */
export function heldChanges(
  server: string,
  held: readonly HeldTool[],
  guard: Pick<ToolGuard, "servedFor">,
): ChangedTool[] {
  return held.filter(({ isRejected }) => !isRejected).map((tool) => ({
    tool: tool.name,
    kind: tool.kind,
    from: tool.from,
    text: tool.listed.text,
    before: guard.servedFor(server, tool)?.text,
  }));
}

function diffLines(before: string, after: string): string[] {
  const { changes, more } = compareTools(before, after, MAX_LINES);
  return [
    ...changes.map((change) => shortened(changeLine(brief(change)), LONGEST_LINE)),
    ...(more > 0 ? [`and ${more} more changes`] : []),
  ];
}

/** Both what went and what came are to be seen, and where. */
function brief(change: ToolChange): ToolChange {
  if (change.kind !== "text") return change;
  return { ...change, segments: trimSegments(change.segments, LONGEST_SAME, LONGEST_CHANGE) };
}

function shownName(name: string): string {
  return shortened(shownLine(name), LONGEST_NAME);
}
