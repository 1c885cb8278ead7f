import type { Metrics } from "../../core/optimization.ts";
import { besideText } from "../../optimizer/beside.ts";
import { NONE } from "../../optimizer/confusion.ts";
import { percent, scoreText } from "../../optimizer/metrics.ts";
import type { BuiltinResult } from "../builtin_tool.ts";
import type { CandidateResults } from "./tool_results.ts";

/** An answer that goes on to say what can be done with it. */
export function answer(
  lines: readonly string[],
  data: Record<string, unknown>,
  { next = [], warnings = [] }: { next?: readonly string[]; warnings?: readonly string[] } = {},
): BuiltinResult {
  const text = [
    ...lines,
    ...warnings.map((text) => `⚠️ ${text.startsWith("Warning: ") ? "" : "Warning: "}${text}`),
    ...(next.length > 0 ? ["", "💡 Next steps:", ...next.map((step) => `- ${step}`)] : []),
  ].join("\n");
  return { text, data: { ...data, ...(warnings.length > 0 ? { warnings } : {}) } };
}

/** "2 prompts", "1 prompt". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function metricsText(metrics: Metrics): string {
  const { direct, indirect, negative, overall } = metrics;
  return `direct ${percent(direct)}, indirect ${percent(indirect)}, negative ${
    percent(negative)
  }, overall ${scoreText(overall)}`;
}

/** What is known of one description, in a few lines. */
export function resultLines({ candidateId, counts, ...more }: CandidateResults): string[] {
  const { tool, evidence, confusion, ranks } = more;
  if (!evidence) return [`${candidateId}: no data`];
  const { source, depth, beside = 0, errors, problem, verdict } = evidence;
  const words = problem ?? verdict?.words;
  return [
    `${candidateId} (${depth}, ${source === "measured" ? "measured" : "reported by the caller"}${
      beside === 0 ? "" : `, ${besideText(beside)}`
    }${errors === 0 ? "" : `, ${counted(errors, "run")} failed and not counted`}): ${
      metricsText(counts)
    }`,
    ...(words === undefined ? [] : [`  ${words}`]),
    ...mistakeLines(confusion, tool),
    ...rankLines(ranks),
  ];
}

/** What was called in the place of what should have been. */
function mistakeLines(confusion: CandidateResults["confusion"], tool: string): string[] {
  return Object.entries(confusion).flatMap(([should, row]) => {
    // Where none is named, any other tool is as right as none.
    const others = Object.entries(row)
      .filter(([called]) => should === NONE ? called === tool : called !== should)
      .map(([called, count]) => `${called} ${counted(count, "time")}`);
    return others.length === 0 ? [] : [`  in place of ${should}: ${others.join(", ")}`];
  });
}

function rankLines(ranks: CandidateResults["ranks"]): string[] {
  if (ranks.length === 0) return [];
  const firstOf = (isNegative: boolean) => {
    const asked = ranks.filter(({ category }) => (category === "negative") === isNegative);
    return `${asked.filter(({ rank }) => rank === 1).length} of ${asked.length}`;
  };
  return [
    `  our own search puts it first for ${firstOf(false)} prompts that are for it, and for ${
      firstOf(true)
    } that are not`,
  ];
}
