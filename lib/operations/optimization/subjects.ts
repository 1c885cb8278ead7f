import type { LiveTrials } from "../../optimizer/live/trials.ts";
import type { OptimizationJobs } from "../../optimizer/jobs/queue.ts";
import type { Target, Targets } from "../../optimizer/targets.ts";
import type { JobsOptions } from "../../optimizer/jobs/run.ts";
import type { EvaluatorInfo } from "../../core/optimization.ts";
import type { OriginalTool } from "./schemas.ts";
import { GatewayError } from "../../core/errors.ts";
import { didYouMean, nearestNames } from "../../core/text.ts";

type Records = "candidates" | "prompts" | "runs" | "evaluations" | "promotions";

export interface OptimizationAdminOptions
  extends Pick<JobsOptions, Records | "textModel" | "isEnabled"> {
  /** Called when candidates, prompts, reports or promotions were changed here. */
  onChange?(): void;
  jobs: OptimizationJobs;
  /** Live A/B of promoted descriptions. */
  trials: LiveTrials;
  subjects: Targets;
  setEnabled(on: boolean): Promise<void>;
  /** Whether a caller may decide which words all clients read. */
  mayPromote(principal: string): boolean;
  evaluatorInfo(): Promise<EvaluatorInfo>;
  /** A tool by any of the names that clients have for it. Throws TOOL_NOT_FOUND. */
  findTool(name: string): LocatedTool;
  hasServer(name: string): boolean;
  /** Throws SERVER_NOT_FOUND. */
  canonicalTools(server: string): OriginalTool[];
}

/** A tool by its server's name and its own. */
export interface LocatedTool {
  server: string;
  tool: string;
}

/** A tool as people and models name it: without its server, by any name that clients have for it. */
export interface WrittenTool {
  server?: string | undefined;
  tool: string;
}

type Lookup = Pick<OptimizationAdminOptions, "subjects" | "canonicalTools" | "findTool">;

/** The tool that is meant; there may be records of one that its server no longer has. */
export function locateTool({ findTool }: Lookup, { server, tool }: WrittenTool): LocatedTool {
  if (server !== undefined) return { server, tool };
  try {
    return findTool(tool);
  } catch (error) {
    const [, owner = "", name = ""] = /^([\w-]+)\.(.+)$/s.exec(tool) ?? [];
    if (!(error instanceof GatewayError) || name === "") throw error;
    return { server: owner, tool: name };
  }
}

/** By the server's own name for it, or with the server's name before that. */
export function findSubject({ subjects }: Lookup, server: string, tool: string) {
  const prefix = `${server}.`;
  return subjects.find(server, tool) ??
    (tool.startsWith(prefix) ? subjects.find(server, tool.slice(prefix.length)) : undefined);
}

export function resolveSubject(lookup: Lookup, written: WrittenTool): Target {
  const { server, tool } = locateTool(lookup, written);
  const found = findSubject(lookup, server, tool);
  if (found) return found;
  const near = nearestNames(tool, canonicalTools(lookup, server).map(({ name }) => name), 3);
  throw new GatewayError("TOOL_NOT_FOUND", {
    message: `Server "${server}" has no tool "${tool}"`,
    ...didYouMean(near.map((name) => `${server}.${name}`)),
    recoveryAction: "Use the server's own name for the tool",
    recoverySteps: [`List the tools of "${server}" and use one of their names`],
    next: [{ label: "List its tools", operation: "optimization.canonical", input: { server } }],
  });
}

/** The server's own name for a tool, also for one that is no longer there. */
export function ownName(lookup: Lookup, server: string, tool: string): string {
  return findSubject(lookup, server, tool)?.name ?? tool;
}

export function canonicalTools(lookup: Lookup, server: string): OriginalTool[] {
  const tools = lookup.canonicalTools(server);
  if (tools.length > 0) return tools;
  throw new GatewayError("NOT_FOUND", {
    message: "No canonical tools found - have you connected to the server?",
    recoveryAction: `Connect to the server "${server}", then try again`,
    recoverySteps: [
      `Check the state of "${server}" in the list of servers`,
      "Restart it, then try again",
    ],
    next: [
      { label: "Check its state", operation: "server.list" },
      { label: "Restart it", operation: "server.restart", input: { name: server } },
    ],
  });
}

/** Says how to switch on what spends model time. */
export function switchedOff(attempt: string): GatewayError {
  return new GatewayError("OPTIMIZATION_DISABLED", {
    message: `Cannot ${attempt}: optimization is off, because it spends model time`,
    recoverySteps: [
      "Ask the owner to start the gateway with --enable-optimization",
      "Or to run `quartermaster optimize enable`",
      "Or to switch it on in the console's settings",
    ],
    hint: "While it is off, you can still propose candidates, save prompts and report results.",
    next: [{ label: "Switch it on", operation: "optimization.enable" }],
  });
}
