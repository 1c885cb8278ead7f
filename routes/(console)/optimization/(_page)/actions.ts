import { defined } from "../../../../lib/core/defined.ts";
import * as z from "zod";
import {
  type Operation,
  type OperationCall,
  type OutputOf,
  runOperation,
} from "../../../../lib/operations/operation.ts";
import type { Services } from "../../../../lib/operations/services.ts";
import { readField } from "../../../../lib/operations/fields.ts";
import { JOB_OPERATIONS } from "../../../../lib/operations/jobs.ts";
import { OPTIMIZATION_OPERATIONS } from "../../../../lib/operations/optimization.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { parseJson } from "../../../../lib/core/rpc.ts";
import type { OptimizationJob } from "../../../../lib/core/optimization.ts";
import type { Tab } from "./tool.ts";
import { PARAMETER } from "./browser.ts";
import { jointViews } from "./joint.ts";
import { jobPath } from "../../../../lib/console/ui/jobs.ts";
import { optimizationPath } from "../../../../lib/console/ui/pages.ts";

interface ToolAction {
  operation: Operation;
  tab: Tab;
  input(
    field: (name: string) => string | undefined,
    fields: URLSearchParams,
  ): Record<string, unknown>;
  done: string | ((output: never) => string);
}

const { promote, revert, keep, abStart, abStop, propose, savePrompts, editPrompt, retirePrompt } =
  OPTIMIZATION_OPERATIONS;
const { generateCandidates, generatePrompts, judgeLabel } = OPTIMIZATION_OPERATIONS;

const ACTIONS: Record<string, ToolAction> = {
  promote: {
    operation: promote,
    tab: "result",
    input: (field) => ({
      candidateId: field("candidate"),
      reason: field("reason"),
      family: field("family"),
      share: numberOf(field("share")),
    }),
    done: "promoted",
  },
  revert: {
    operation: revert,
    tab: "result",
    input: (field) => ({ to: field("to"), reason: field("reason"), family: field("family") }),
    done: ({ promotion }: OutputOf<typeof revert>) => promotion === null ? "reverted" : "restored",
  },
  keep: {
    operation: keep,
    tab: "result",
    input: (field) => ({ family: field("family") }),
    done: "kept",
  },
  "ab-start": {
    operation: abStart,
    tab: "result",
    input: (field) => ({ family: field("family"), share: numberOf(field("share")) }),
    done: "ab-started",
  },
  "ab-stop": {
    operation: abStop,
    tab: "result",
    input: (field) => ({ family: field("family") }),
    done: "ab-stopped",
  },
  propose: {
    operation: propose,
    tab: "candidates",
    input: (field, fields) => ({
      description: field("description") ?? "",
      example: field("example"),
      parameters: parametersOf(field, fields),
    }),
    done: "proposed",
  },
  "add-prompt": {
    operation: savePrompts,
    tab: "prompts",
    input: (field) => ({ prompts: [promptOf(field)], mode: "merge" }),
    done: "added",
  },
  "edit-prompt": {
    operation: editPrompt,
    tab: "prompts",
    input: (field) => ({ id: field("id"), ...promptOf(field) }),
    done: "edited",
  },
  "retire-prompt": {
    operation: retirePrompt,
    tab: "prompts",
    input: (field) => ({ id: field("id") }),
    done: "retired",
  },
  label: {
    operation: judgeLabel,
    tab: "prompts",
    input: (field) => ({ promptId: field("id"), decision: field("decision") }),
    done: ({ prompt }: OutputOf<typeof judgeLabel>) => prompt === null ? "retired" : "labeled",
  },
  "generate-candidates": {
    operation: generateCandidates,
    tab: "candidates",
    input: (field, fields) => ({
      count: numberOf(field("count")),
      parameters: fields.has("parameters"),
    }),
    done: "written",
  },
  "generate-prompts": {
    operation: generatePrompts,
    tab: "prompts",
    input: (field) => ({
      directCount: numberOf(field("direct")),
      indirectCount: numberOf(field("indirect")),
      negativeCount: numberOf(field("negative")),
    }),
    done: "prompts-written",
  },
};
const EVALUATE = "evaluate";

function promptOf(field: (name: string) => string | undefined) {
  const written = field("expectedArguments");
  const expectedArguments = written === undefined ? undefined : parseJson(written) ?? written;
  const expectedBehavior = {
    notes: field("notes"),
    expectedTool: field("expectedTool"),
    ...(expectedArguments === undefined ? {} : { expectedArguments }),
  };
  return { category: field("category"), prompt: field("prompt") ?? "", expectedBehavior };
}

function parametersOf(
  field: (name: string) => string | undefined,
  fields: URLSearchParams,
): Record<string, string> | undefined {
  const written = [...fields.keys()].flatMap((name) => {
    const text = name.startsWith(PARAMETER) ? field(name) : undefined;
    return text === undefined ? [] : [[name.slice(PARAMETER.length), text] as const];
  });
  return written.length === 0 ? undefined : Object.fromEntries(written);
}

function numberOf(text: string | undefined): unknown {
  return text === undefined ? undefined : readField({ type: z.number() }, [text]);
}

export function tabOfAction(name: string | null): Tab {
  if (name === EVALUATE) return "candidates";
  return name !== null && Object.hasOwn(ACTIONS, name) ? ACTIONS[name]!.tab : "result";
}

export async function runToolAction(
  gateway: Services & Pick<Gateway, "events">,
  named: { server: string; tool: string },
  fields: URLSearchParams,
  call: OperationCall,
): Promise<string> {
  const name = fields.get("do") ?? "";
  // A form's lines end in two characters, and an empty field says nothing.
  const field = (name: string) => {
    const text = fields.get(name)?.replaceAll("\r\n", "\n");
    return text === undefined || text.trim() === "" ? undefined : text;
  };
  if (name === EVALUATE) {
    // The decision is left to the person.
    const candidateIds = [field("candidate") ?? ""];
    const input = { server: named.server, tools: [named.tool], candidateIds, autoPromote: false };
    const { job } = await runOperation(JOB_OPERATIONS.start, gateway, input, call);
    return jobPath(job!.id);
  }
  if (!Object.hasOwn(ACTIONS, name)) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot do "${name}": unknown action`,
    });
  }
  const { operation, tab, input, done } = ACTIONS[name]!;
  const given = Object.entries(input(field, fields)).filter(([, value]) => value !== undefined);
  const toRun = { ...named, ...Object.fromEntries(given) };
  const output = await runOperation(operation, gateway, toRun, call);
  // Pages that show this tool elsewhere look again.
  gateway.events.publish("optimization", named);
  const query = new URLSearchParams(tab === "result" ? {} : { tab });
  query.set("done", typeof done === "string" ? done : done(output as never));
  return `${optimizationPath(named.server, named.tool)}?${query}`;
}

export async function changeJob(
  gateway: Services & Pick<Gateway, "promotions">,
  { id = "", action = "" }: { id?: string; action?: string },
  call: OperationCall,
): Promise<OptimizationJob> {
  if (action === "revert") return await revertTogether(gateway, id, call);
  const { pause, resume, cancel } = JOB_OPERATIONS;
  const operation = new Map([["pause", pause], ["resume", resume], ["cancel", cancel]]).get(action);
  if (!operation) throw new GatewayError("NOT_FOUND");
  return (await runOperation(operation, gateway, { jobId: id }, call)).job;
}

/** Reverts a job's promotions that did worse together, as far as they are still in force. */
async function revertTogether(
  gateway: Services & Pick<Gateway, "promotions">,
  id: string,
  call: OperationCall,
): Promise<OptimizationJob> {
  const job = await (await gateway.optimization()).jobs.get(id);
  const harmful = jointViews(job, gateway.promotions).filter(({ isHarmful }) => isHarmful);
  const reason = `They did worse together in the joint test of job ${id}`;
  for (const { server, inForce } of harmful) {
    for (const { tool, family } of inForce) {
      await runOperation(revert, gateway, { server, tool, ...defined({ family }), reason }, call);
    }
  }
  return job;
}
