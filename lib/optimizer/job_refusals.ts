import { GatewayError } from "../core/errors.ts";
import type { JobOptions } from "../core/optimization.ts";
import { knownToWriters } from "./held_out_check.ts";
import type { SelectedTool } from "./job_selection.ts";
import type { Subjects } from "./subjects.ts";
import { forecastOf, type ToolStock } from "./test_forecast.ts";

/** The equipped tools that a job shows beside those on trial; undefined where it shows none. */
export function besideOf(
  subjects: Pick<Subjects, "equipped">,
  tools: readonly SelectedTool[],
  { withToolset }: Pick<JobOptions, "withToolset">,
): SelectedTool[] | undefined {
  if (!withToolset) return undefined;
  const equipped = subjects.equipped().map(({ server, tool }) => ({ server, tool }));
  if (tools.some(({ server }) => equipped.some((one) => one.server !== server))) return equipped;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: "Cannot show the equipped toolset's tools beside the server's: " +
      (equipped.length === 0
        ? "no toolset is equipped, or it has no tools now"
        : "all of the equipped tools are of that server itself"),
    recoveryAction: "Equip a toolset with tools of other servers, or test without it",
  });
}

/**
 * CANNOT_EVALUATE where a thorough job could test none of its tools, since whoever wrote their
 * candidates may have known every prompt. Where it can test some, it says so of the others.
 */
export function refuseKnown(stock: readonly ToolStock[], options: JobOptions): void {
  if (!isDecidedBySaved(options)) return;
  const refusals = stock.map((tool) => {
    const forecast = forecastOf(tool, options);
    return forecast.prompts.length === 0 ? undefined : knownToWriters({ ...tool, ...forecast });
  });
  const [first] = refusals;
  if (first && refusals.every((refusal) => refusal !== undefined)) throw first;
}

/** Whether it is known beforehand which prompts decide. */
export function isDecidedBySaved({ depth, generate }: JobOptions): boolean {
  return depth === "thorough" && !generate;
}
