import type { z } from "zod";
import { GatewayError } from "../../core/errors.ts";
import { JobOptions, type OptimizationJob } from "../../core/optimization.ts";
import { didYouMean, nearestNames } from "../../core/text.ts";
import type { Targets } from "../targets.ts";
import { knownToWriters } from "../evaluation/selection.ts";
import { forecastOf, type ToolData } from "./estimate.ts";

export interface JobRequest {
  server?: string;
  tools?: string[];
  all?: boolean;
  options?: z.input<typeof JobOptions>;
  /** Whose equipped toolset is meant; default: everyone's. */
  principal?: string;
  by: "caller" | "person";
}

export interface SelectedTool {
  server: string;
  tool: string;
}

export function selectTools(targets: Targets, request: JobRequest): SelectedTool[] {
  const { server, tools, all } = request;
  if (all && (server !== undefined || tools !== undefined)) {
    throw refused("select either all tools or some of them, not both");
  }
  if (tools !== undefined) {
    if (server === undefined) throw refused("a list of tools requires their server");
    if (tools.length === 0) throw refused("the list of tools is empty");
    return [...new Set(tools)].map((tool) => selectTool(targets, server, tool));
  }
  if (server === undefined && !all) throw refused("no tools are selected");
  const known = targets.tools(server);
  if (known.length === 0) {
    throw new GatewayError("TOOL_NOT_FOUND", {
      message: server === undefined
        ? "Cannot optimize: no server has any tools"
        : `Cannot optimize: server "${server}" was not found or has no tools`,
      recoveryAction: "Check the server's name, and that it is connected",
    });
  }
  const enabled = known.filter((tool) => tool.enabled);
  if (enabled.length === 0) {
    throw new GatewayError("TOOL_DISABLED", {
      message: server === undefined
        ? "Cannot optimize: every tool is disabled"
        : `Cannot optimize: every tool of server "${server}" is disabled`,
    });
  }
  return enabled.map(({ server, tool }) => ({ server, tool }));
}

export function readJobOptions(request: JobRequest, tools: readonly SelectedTool[]): JobOptions {
  const parsed = JobOptions.safeParse(request.options ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refused(`options.${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not valid"}`);
  }
  if (parsed.data.candidateIds && tools.length !== 1) {
    throw refused("candidates can be selected for one tool only");
  }
  if (parsed.data.candidateIds?.length === 0) throw refused("the list of candidates is empty");
  return parsed.data;
}

function selectTool(targets: Targets, server: string, tool: string): SelectedTool {
  const found = targets.find(server, tool);
  if (found?.enabled) return { server, tool };
  if (found) {
    throw new GatewayError("TOOL_DISABLED", {
      message: `Cannot optimize "${server}.${tool}": it is disabled`,
      recoveryAction: "Enable the tool first, or leave it out",
    });
  }
  const near = nearestNames(tool, targets.tools(server).map((one) => one.tool));
  throw new GatewayError("TOOL_NOT_FOUND", {
    message: `Cannot optimize "${server}.${tool}": there is no such tool`,
    ...didYouMean(near),
  });
}

function refused(why: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot optimize: ${why}`,
    recoveryAction: "Name a server, a server with some of its tools, or select all",
  });
}

export function besideOf(
  targets: Pick<Targets, "equipped" | "toolset">,
  tools: readonly SelectedTool[],
  { withToolset, surface }: Pick<JobOptions, "withToolset" | "surface">,
): SelectedTool[] | undefined {
  const name = toolsetOf(surface);
  if (name !== undefined) return toolsOfSurface(targets.toolset(name), tools, name, withToolset);
  if (!withToolset) return undefined;
  if (surface === "discovery") throw refused("discovery shows no tools, so add none");
  const equipped = targets.equipped().map(({ server, tool }) => ({ server, tool }));
  if (tools.some(({ server }) => equipped.some((one) => one.server !== server))) return equipped;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: "Cannot include the equipped toolset's tools: " +
      (equipped.length === 0
        ? "no toolset is equipped, or it has no tools now"
        : "all equipped tools belong to that server"),
    recoveryAction: "Equip a toolset with tools of other servers, or test without one",
  });
}

/** Tools of other servers that the model gets as well, and all that it gets, if it gets those only. */
export function shownBeside(
  targets: Targets,
  { beside, options: { surface, withToolset } }: OptimizationJob,
  server: string,
): { beside: SelectedTool[]; only: readonly SelectedTool[] | undefined } {
  return {
    beside: (beside ?? (withToolset ? targets.equipped() : []))
      .filter((tool) => tool.server !== server),
    only: toolsetOf(surface) === undefined ? undefined : beside,
  };
}

/** The toolset whose tools the model gets, if it gets those only. */
export function toolsetOf(surface: JobOptions["surface"]): string | undefined {
  const [kind, name] = surface.split(/:(.*)/s);
  return kind === "toolset" ? name : undefined;
}

/** The equipped toolset by its name: a job keeps it, whatever is equipped later. */
export function namedSurface(
  surface: JobOptions["surface"],
  toolset: () => string | undefined,
): JobOptions["surface"] {
  if (surface !== "equipped") return surface;
  const name = toolset();
  if (name !== undefined) return `toolset:${name}`;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: "Cannot optimize in the equipped toolset: no toolset is equipped",
    recoveryAction: "Equip a toolset, or name one, as toolset:NAME",
  });
}

function toolsOfSurface(
  members: readonly SelectedTool[],
  tools: readonly SelectedTool[],
  name: string,
  withToolset: boolean,
): SelectedTool[] {
  if (withToolset) throw refused("show the tools of one toolset only, or add the equipped ones");
  const isIn = (tool: SelectedTool) =>
    members.some((one) => one.server === tool.server && one.tool === tool.tool);
  const missing = tools.find((tool) => !isIn(tool));
  if (missing === undefined) return members.map(({ server, tool }) => ({ server, tool }));
  throw new GatewayError("INVALID_ARGUMENTS", {
    message:
      `Cannot optimize "${missing.server}.${missing.tool}" in toolset "${name}": it is not in it`,
    recoveryAction: "Select tools of the toolset, or use the surface server",
  });
}

/** CANNOT_EVALUATE if a thorough job could test none of its tools: writers may know all prompts. */
export function refuseKnown(stock: readonly ToolData[], options: JobOptions): void {
  if (!isDecidedBySaved(options)) return;
  const refusals = stock.map((tool) => {
    const forecast = forecastOf(tool, options);
    return tool.prompts.length === 0 ? undefined : knownToWriters({ ...tool, ...forecast });
  });
  const [first] = refusals;
  if (first && refusals.every((refusal) => refusal !== undefined)) throw first;
}

export function isDecidedBySaved({ depth, generate }: JobOptions): boolean {
  return depth === "thorough" && !generate;
}
