import { shownLine } from "../core/hidden_text.ts";
import type { ReviewItem } from "../surfaces/review_item.ts";
import { diffLines, verdictWord } from "./history_text.ts";
import type { Color } from "./terminal.ts";

type Paint = (color: Color, text: string) => string;

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

/** What a row of the list says. */
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

/** All there is to see of one item. */
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
