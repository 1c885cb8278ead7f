import type { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { JobOptions } from "../core/optimization.ts";
import { nearestNames } from "../core/nearest.ts";
import type { Subjects } from "./subjects.ts";

export interface JobRequest {
  server?: string;
  /** By their own names; all of the server's where missing. */
  tools?: string[];
  /** Every tool of every server. */
  all?: boolean;
  options?: z.input<typeof JobOptions>;
  by: "caller" | "person";
}

export interface SelectedTool {
  server: string;
  tool: string;
}

/** The tools that a request is about. */
export function selectTools(subjects: Subjects, request: JobRequest): SelectedTool[] {
  const { server, tools, all } = request;
  if (all && (server !== undefined || tools !== undefined)) {
    throw refused("either all tools can be selected or some of them, not both");
  }
  if (tools !== undefined) {
    if (server === undefined) throw refused("the tools need the server that they belong to");
    if (tools.length === 0) throw refused("the list of tools is empty");
    return [...new Set(tools)].map((tool) => selectTool(subjects, server, tool));
  }
  if (server === undefined && !all) throw refused("no tools are selected");
  const known = subjects.tools(server);
  if (known.length === 0) {
    throw new GatewayError("TOOL_NOT_FOUND", {
      message: server === undefined
        ? "Cannot optimize: no server has any tools"
        : `Cannot optimize: server "${server}" is not there or has no tools`,
      recoveryAction: "Check the server's name and that it is connected",
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

/** With the defaults, checked. */
export function readJobOptions(request: JobRequest, tools: readonly SelectedTool[]): JobOptions {
  const parsed = JobOptions.safeParse(request.options ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refused(`options.${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not valid"}`);
  }
  if (parsed.data.candidateIds && tools.length !== 1) {
    throw refused("candidates can be named for one tool only");
  }
  if (parsed.data.candidateIds?.length === 0) throw refused("the list of candidates is empty");
  return parsed.data;
}

function selectTool(subjects: Subjects, server: string, tool: string): SelectedTool {
  const found = subjects.find(server, tool);
  if (found?.enabled) return { server, tool };
  if (found) {
    throw new GatewayError("TOOL_DISABLED", {
      message: `Cannot optimize "${server}.${tool}": it is disabled`,
      recoveryAction: "Enable the tool first, or leave it out",
    });
  }
  const near = nearestNames(tool, subjects.tools(server).map((one) => one.tool));
  throw new GatewayError("TOOL_NOT_FOUND", {
    message: `Cannot optimize "${server}.${tool}": there is no such tool`,
    ...(near.length === 0 ? {} : { hint: `Did you mean ${near.join(", ")}?` }),
  });
}

function refused(why: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot optimize: ${why}`,
    recoveryAction: "Name a server, a server with some of its tools, or select all",
  });
}
