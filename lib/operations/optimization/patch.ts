import * as z from "zod";
import { GatewayError } from "../../core/errors.ts";
import { CATEGORIES, type Evaluation, parseModelRef } from "../../core/optimization.ts";
import { counted } from "../../core/text.ts";
import type { OwnParameterTexts, ToolText } from "../../core/tool_text.ts";
import { gainTextOf, promptsIn, scoreText } from "../../optimizer/evaluation/metrics.ts";
import type { Evidence } from "./schemas.ts";

export const DescriptionPatch = z.object({
  format: z.enum(["diff", "issue"]),
  text: z.string(),
  candidateId: z.string(),
});

export interface PatchInput {
  server: string;
  tool: string;
  canonical: string;
  /** The server's own texts of the parameters that are replaced. */
  parameters: OwnParameterTexts;
  text: ToolText;
  evidence: Evidence | undefined;
  evaluation: Evaluation | undefined;
}

/** Text for the author of the server: what to change, and what speaks for it. */
export function issueText(input: PatchInput): string {
  const { tool, canonical, text: { description, parameters = {} }, evidence } = input;
  const isNew = description !== canonical;
  return [
    `# Improve the description of \`${tool}\`${isNew ? "" : "'s parameters"}`,
    "Models choose a tool by its description. " +
    (evidence?.verdict?.confirmed
      ? `With the description below, a model chose rightly about \`${tool}\` more often.`
      : "The description below may help them choose."),
    ...(isNew
      ? [
        "Current description:",
        quoted(canonical === "" ? "(none)" : canonical),
        `Proposed description (${description.length} characters):`,
        quoted(description),
      ]
      : []),
    ...Object.entries(parameters).flatMap(([path, text]) => [
      `Parameter \`${path}\`, current description:`,
      quoted(input.parameters[path] || "(none)"),
      "Proposed description:",
      quoted(text),
    ]),
    "## Evidence",
    ...evidenceLines(input),
  ].join("\n\n") + "\n";
}

function quoted(text: string): string {
  const fence = "`".repeat(Math.max(3, 1 + longestRun(text)));
  return `${fence}text\n${text}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

function evidenceLines({ evidence, evaluation }: PatchInput): string[] {
  if (!evidence) return ["None: the description has not been evaluated yet."];
  const { metrics, baseline, source, verdict, time } = evidence;
  const gain = gainTextOf(verdict ?? {}, baseline.overall, metrics.overall);
  const asked = CATEGORIES.map((category) => `${promptsIn(metrics[category])} ${category}`);
  const models = evaluation?.models?.map((ref) => parseModelRef(ref).model) ??
    (evaluation?.model === undefined ? [] : [evaluation.model]);
  const model = models.length === 0 ? "" : ` by ${models.join(" and ")}`;
  const rows = ([...CATEGORIES, "overall"] as const).map((name) =>
    `| ${name} | ${scoreText(baseline[name])} | ${scoreText(metrics[name])} |`
  );
  return [
    `Tested ${time.slice(0, 10)}${model} with ${counted(evidence.prompts, "prompt")} ` +
    `(${asked.join(", ")}), among the server's other tools; no tool was run.` +
    (source === "reported" ? " These results were reported by a client." : ""),
    ["| prompts | current | proposed |", "| --- | --- | --- |", ...rows].join("\n"),
    ...(gain ? [`Gain: ${gain}.`] : []),
    ...(verdict?.confirmed
      ? ["Confirmed on prompts that neither the writer nor the selection had seen."]
      : ["Not confirmed on unseen prompts."]),
  ];
}

type Quote = '"' | "'" | "`" | "";

/** How a text is written between quotes of this kind; bare, as it is. */
function written(text: string, quote: Quote): string {
  if (quote === "") return text;
  if (quote === '"') return JSON.stringify(text).slice(1, -1);
  const plain = text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`);
  return quote === "`" ? plain.replaceAll("${", "\\${") : plain.replaceAll("\n", "\\n");
}

/** A unified diff that replaces the descriptions in the server's source. */
export function descriptionDiff(
  { tool, canonical, parameters: own, text }: Pick<
    PatchInput,
    "tool" | "canonical" | "parameters" | "text"
  >,
  { path, source }: { path: string; source: string },
): string {
  const { description, parameters = {} } = text;
  const replaced = [
    ...(description === canonical
      ? []
      : [{ what: `the description of "${tool}"`, before: canonical, after: description }]),
    ...Object.entries(parameters).map(([name, after]) => ({
      what: `the description of the parameter "${name}" of "${tool}"`,
      before: own[name] ?? "",
      after,
    })),
  ];
  const taken = new Set<number>();
  const edits = replaced.map(({ what, before, after }) => {
    const found = before === "" ? undefined : findText(source, before, { tool, taken });
    taken.add(found?.at ?? -1);
    if (found) return { ...found, text: written(after, found.quote) };
    throw new GatewayError("NOT_FOUND", {
      message: `Cannot patch ${path}: it does not contain ${what} in one piece`,
      recoveryAction: "Name the file that has the description, or leave it out for an issue text",
    });
  }).sort((one, other) => other.at - one.at);
  const changed = edits.reduce(
    (whole, { at, length, text }) => whole.slice(0, at) + text + whole.slice(at + length),
    source,
  );
  return unifiedDiff(path, source, changed);
}

/** The description as the source writes it; of several, the first one behind the tool's name. */
function findText(
  source: string,
  text: string,
  { tool, taken }: { tool: string; taken: ReadonlySet<number> },
) {
  const places = (['"', "'", "`", ""] as const).flatMap((quote) => {
    const sought = written(text, quote);
    const all: { at: number; length: number; quote: Quote }[] = [];
    for (let at = source.indexOf(sought); at !== -1; at = source.indexOf(sought, at + 1)) {
      const isQuoted = source[at - 1] === quote;
      if (quote === "" ? !/["'`]/.test(source[at - 1] ?? "") : isQuoted) {
        all.push({ at, length: sought.length, quote });
      }
    }
    return all;
  }).sort((one, other) => one.at - other.at);
  const free = places.filter(({ at }) => !taken.has(at));
  // A short text can be the start of another one.
  const whole = free.filter(({ at, length, quote }) => source.startsWith(quote, at + length));
  const chosen = whole.length > 0 ? whole : free;
  const named = source.indexOf(tool);
  return chosen.find(({ at }) => at > named) ?? chosen[0];
}

const CONTEXT = 3;

/** One hunk: the two texts differ in one place. */
export function unifiedDiff(path: string, before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (
    end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)
  ) end++;
  if (start === old.length && start === now.length) return "";
  const from = Math.max(0, start - CONTEXT);
  const [oldEnd, nowEnd] = [old.length - end, now.length - end];
  const tail = old.slice(oldEnd, oldEnd + CONTEXT);
  const marked = (mark: string, lines: readonly string[]) =>
    lines.map((line) => mark + ended(line));
  const body = [
    ...marked(" ", old.slice(from, start)),
    ...marked("-", old.slice(start, oldEnd)),
    ...marked("+", now.slice(start, nowEnd)),
    ...marked(" ", tail),
  ];
  const range = (length: number) => `${from + 1},${length + start - from + tail.length}`;
  return `--- a/${path}\n+++ b/${path}\n` +
    `@@ -${range(oldEnd - start)} +${range(nowEnd - start)} @@\n${body.join("")}`;
}

/** With their ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function ended(line: string): string {
  return line.endsWith("\n") ? line : `${line}\n\\ No newline at end of file\n`;
}
