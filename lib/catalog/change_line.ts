import { shownLine } from "../core/hidden_text.ts";
import type { ToolChange } from "./tool_diff.ts";
import type { TextSegment } from "./word_diff.ts";

/** Sets off what came or went, beyond the signs around it. */
type Mark = (kind: "added" | "removed", words: string) => string;

/** A difference in one line, as a person reads it; nothing that is hidden in it stays so. */
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
      return `${path}: same values in another order`;
  }
}

/** As word diffs are written where there are no colors. */
function marked({ kind, text }: TextSegment, mark: Mark): string {
  const words = shownLine(text);
  if (kind === "same") return words;
  return mark(kind, kind === "added" ? `{+${words}+}` : `[-${words}-]`);
}
