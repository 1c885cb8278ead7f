import type { z } from "zod";
import type { TaskRun } from "../../../../lib/core/task_comparison.ts";
import {
  COMPARISON_OPERATIONS,
  type ShownComparison,
} from "../../../../lib/operations/comparison.ts";
import { costText, knownCost } from "../../../../lib/optimizer/cost.ts";
import {
  differenceText,
  MEASURE_NAMES,
  MEASURES,
  measureText,
  successGainText,
  successText,
} from "../../../../lib/optimizer/comparison/result.ts";
import { readTexts } from "../../../../lib/operations/fields.ts";

export const COMPARISONS_PATH = "/optimization/~comparisons";

export function comparisonPath(id: string): string {
  return `${COMPARISONS_PATH}/${encodeURIComponent(id)}`;
}

/** A comparison as a form asks for it. */
export function readComparison(
  form: URLSearchParams,
): z.input<typeof COMPARISON_OPERATIONS.start.input> {
  const fields = ["repeats", "view", "maxCostUsd", "allowDestructive"];
  const texts = [...form].filter(([name]) => fields.includes(name));
  const { input } = COMPARISON_OPERATIONS.start;
  // What cannot be read is left for the schema to refuse.
  return {
    ...readTexts(input, texts),
    setups: form.getAll("setup"),
  } as z.input<typeof input>;
}

/** A task as a form describes it; empty checks are left out. */
export function readTask(form: URLSearchParams): z.input<typeof COMPARISON_OPERATIONS.add.input> {
  const check = (name: string) => form.getAll(name).map((text) => text.trim()).filter(Boolean);
  return {
    name: form.get("name")?.trim() ?? "",
    prompt: form.get("prompt")?.trim() ?? "",
    contains: check("contains"),
    // A field named "matches" would hide the form's own method from scripts.
    matches: check("pattern"),
    calls: check("calls"),
  };
}

/** A number of a run with its name, in words. */
interface NamedText {
  name: string;
  text: string;
}

/** A comparison's results as texts. */
export interface ComparisonTables {
  /** Names of the numbers of each set-up. */
  names: string[];
  setups: { setup: string; success: string; values: string[] }[];
  differences: { setup: string; baseline: string; rows: NamedText[] }[];
  tasks: { task: string; counts: string[] }[];
  failed: TaskRun[];
  cost: string;
}

export function comparisonTables({ result, runs, cost }: ShownComparison): ComparisonTables {
  return {
    names: MEASURES.map((measure) => MEASURE_NAMES[measure]),
    setups: result.setups.map((one) => ({
      setup: one.setup,
      success: successText(one),
      values: MEASURES.map((measure) => measureText(measure, one.means[measure])),
    })),
    differences: result.differences.map(({ setup, baseline, success, measures }) => ({
      setup,
      baseline,
      rows: [
        { name: "Success", text: successGainText(success) },
        ...MEASURES.map((measure) => ({
          name: MEASURE_NAMES[measure],
          text: differenceText(measure, measures[measure]),
        })),
      ],
    })),
    tasks: result.tasks.map(({ task, setups }) => ({
      task,
      counts: setups.map(({ correct, total }) => total === 0 ? "–" : `${correct}/${total}`),
    })),
    failed: runs.filter(({ status }) => status !== "success"),
    cost: costText(knownCost([cost])),
  };
}
