import { z } from "zod";
import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import { type OptimizationJob, PromptCategory } from "../core/optimization.ts";
import type { OptimizationAdmin } from "../surfaces/optimization_admin.ts";
import type { Tab } from "./optimization_tool_page.ts";
import { jobPath } from "./ui/job_progress.ts";
import { optimizationPath } from "./ui/paths.ts";

/** A form's lines end in two characters, whatever was typed. */
const Text = z.string().transform((text) => text.replaceAll("\r\n", "\n"));
/** An empty field says nothing. */
const Optional = Text.transform((text) => text.trim() === "" ? undefined : text).optional();
const Count = z.coerce.number().int().min(0).max(50);
const PromptFields = {
  category: PromptCategory,
  prompt: Text,
  notes: Optional,
  expectedTool: Optional,
};

const ToolAction = z.discriminatedUnion("do", [
  z.object({ do: z.literal("promote"), candidate: z.string(), reason: Optional }),
  z.object({ do: z.literal("revert"), to: Optional, reason: Optional }),
  z.object({ do: z.literal("keep") }),
  z.object({ do: z.literal("propose"), description: Text, example: Optional }),
  z.object({ do: z.literal("add-prompt"), ...PromptFields }),
  z.object({ do: z.literal("edit-prompt"), id: z.string(), ...PromptFields }),
  z.object({ do: z.literal("retire-prompt"), id: z.string() }),
  z.object({ do: z.literal("evaluate"), candidate: z.string() }),
  z.object({ do: z.literal("generate-candidates"), count: z.coerce.number().int().min(1).max(10) }),
  z.object({
    do: z.literal("generate-prompts"),
    direct: Count,
    indirect: Count,
    negative: Count,
  }),
]);
type ToolAction = z.infer<typeof ToolAction>;

interface NamedTool {
  server: string;
  tool: string;
}

/** Where a form is shown again where it was not accepted. */
const TAB_OF: Record<ToolAction["do"], Tab> = {
  promote: "result",
  revert: "result",
  keep: "result",
  propose: "candidates",
  evaluate: "candidates",
  "generate-candidates": "candidates",
  "add-prompt": "prompts",
  "edit-prompt": "prompts",
  "retire-prompt": "prompts",
  "generate-prompts": "prompts",
};

export function tabOfAction(name: string | null): Tab {
  return Object.entries(TAB_OF).find(([action]) => action === name)?.[1] ?? "result";
}

/** Does what a form on a tool's page says, and gives the address that shows what came of it. */
export async function runToolAction(
  gateway: Pick<Gateway, "optimization" | "events">,
  named: NamedTool,
  fields: URLSearchParams,
  signal: AbortSignal,
): Promise<string> {
  const action = readAction(fields);
  const admin = await gateway.optimization();
  if (action.do === "evaluate") return await evaluate(admin, named, action.candidate);
  const done = await run(admin, named, action, signal);
  // Pages that show this tool elsewhere look again.
  gateway.events.publish("optimization", named);
  const query = new URLSearchParams({ tab: TAB_OF[action.do], done });
  if (query.get("tab") === "result") query.delete("tab");
  return `${optimizationPath(named.server, named.tool)}?${query}`;
}

function readAction(fields: URLSearchParams): ToolAction {
  const parsed = ToolAction.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: issue?.path[0] === "do"
      ? `Cannot do "${fields.get("do") ?? ""}": the page knows no such action`
      : `The field "${issue?.path.join(".") ?? ""}" is not valid: ${issue?.message ?? ""}`,
  });
}

async function run(
  admin: OptimizationAdmin,
  named: NamedTool,
  action: Exclude<ToolAction, { do: "evaluate" }>,
  signal: AbortSignal,
): Promise<string> {
  switch (action.do) {
    case "promote": {
      const { candidate: candidateId, reason } = action;
      await admin.promote({ ...named, candidateId, reason }, "person");
      return "promoted";
    }
    case "revert": {
      const promotion = await admin.revert({ ...named, ...action }, "person");
      return promotion === null ? "reverted" : "restored";
    }
    case "keep":
      await admin.keep(named.server, named.tool);
      return "kept";
    case "propose": {
      const { description, example } = action;
      await admin.propose({ ...named, description, example }, "person");
      return "proposed";
    }
    case "add-prompt": {
      const { category, prompt, notes, expectedTool } = action;
      const prompts = [{ category, prompt, expectedBehavior: { notes, expectedTool } }];
      await admin.savePrompts({ ...named, prompts }, "person");
      return "added";
    }
    case "edit-prompt": {
      const { id, category, prompt, notes, expectedTool } = action;
      const expectedBehavior = { notes, expectedTool };
      await admin.editPrompt({ ...named, id, category, prompt, expectedBehavior });
      return "edited";
    }
    case "retire-prompt":
      await admin.retirePrompt(named.server, named.tool, action.id);
      return "retired";
    case "generate-candidates":
      await admin.generateCandidates({ ...named, count: action.count }, undefined, signal);
      return "written";
    case "generate-prompts": {
      const { direct, indirect, negative } = action;
      const counts = { directCount: direct, indirectCount: indirect, negativeCount: negative };
      await admin.generatePrompts({ ...named, ...counts }, undefined, signal);
      return "prompts-written";
    }
  }
}

/** Does to a job what an address says. */
export async function changeJob(
  gateway: Pick<Gateway, "optimization">,
  { id = "", action }: { id?: string; action?: string },
): Promise<OptimizationJob> {
  const { jobs } = await gateway.optimization();
  switch (action) {
    case "pause":
    case "resume":
    case "cancel":
      return await jobs[action](id);
  }
  throw new GatewayError("NOT_FOUND");
}

/** Tries one candidate with the prompts there are, and leaves the decision to the person. */
async function evaluate(
  admin: OptimizationAdmin,
  { server, tool }: NamedTool,
  candidate: string,
): Promise<string> {
  const options = { candidateIds: [candidate], autoPromote: false };
  const job = await admin.jobs.start({ server, tools: [tool], options, by: "person" });
  return jobPath(job.id);
}
