import { changeLine } from "../trust/tool_changes.ts";
import type { ToolDiff } from "../catalog/tool_diff.ts";
import { type ServerHistory, type ToolEvent, toolEvents } from "../catalog/tool_history.ts";
import { shownLine } from "../core/text.ts";
import type { Color } from "./terminal.ts";

type Paint = (color: Color, text: string) => string;

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
  const head = `${new Date(event.at).toISOString().slice(0, 16).replace("T", " ")}  ${
    shownLine(event.tool)
  }`;
  if (event.kind !== "changed") {
    return [`${head}  ${event.kind === "added" ? paint("green", "new") : paint("yellow", "gone")}`];
  }
  const version = `version ${event.version}`;
  const { diff } = event;
  if (diff === undefined) return [`${head}  ${version}`];
  return [`${head}  ${version}  ${verdictWord(diff, paint)}`, ...diffLines(diff, paint)];
}

/** Whether callers can go on as before. */
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
