import * as z from "zod";
import { GatewayError, type NextStep } from "../core/errors.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import { type BuiltinResult, type BuiltinTool, type ToolContext } from "../mcp/builtin_tool.ts";
import { fieldsOf } from "./fields.ts";
import { isAvailable, type Operation, type OperationCall, runOperation } from "./operation.ts";
import type { Services } from "./services.ts";

/** What the tools of one endpoint share. */
interface Entrance {
  services: Services;
  /** The operations whose tools can be called at the endpoint, by name. */
  operations: ReadonlyMap<string, Operation>;
}

const Confirm = z.boolean().optional().describe("Must be true");

/** The MCP tools of operations that are offered together; their next steps name one another. */
export function operationTools(
  operations: Iterable<Operation>,
  services: Services,
): BuiltinTool[] {
  const offered = [...operations].filter(({ mcp }) => mcp !== undefined);
  const entrance = { services, operations: new Map(offered.map((each) => [each.name, each])) };
  return offered.map((operation) => operationTool(operation, entrance));
}

function operationTool(operation: Operation, entrance: Entrance): BuiltinTool {
  const { title, description, effect, idempotent, confirm, rights, scope, available } = operation;
  const input = withoutFieldsForPeople(operation);
  const name = operation.mcp!;
  const { services } = entrance;
  return {
    name,
    title,
    description: typeof description === "string"
      ? description
      : (principal) => description(services, principal),
    input: confirm ? input.extend({ confirm: Confirm }) : input,
    annotations: {
      ...(effect === "read" ? { readOnlyHint: true } : {}),
      ...(effect === "destroy" ? { destructiveHint: true } : {}),
      ...(idempotent ? { idempotentHint: true } : {}),
    },
    needs: { rights, isWhole: scope === "whole" },
    ...(available ? { admit: () => admit(operation, entrance) } : {}),
    async run(given, context) {
      const { confirm: isConfirmed, ...rest } = given;
      const input = confirm ? rest : given;
      try {
        if (confirm && isConfirmed !== true) {
          await demandConfirmation(name, confirm(input), context);
        }
        const call = callOf(context);
        const output = await runOperation(operation, services, input, call);
        const ended = await waitForJob(operation, output, input, call, entrance);
        return resultOf(operation, ended, input, entrance);
      } catch (error) {
        throw error instanceof GatewayError ? withTools(error, entrance) : error;
      }
    },
  };
}

function withoutFieldsForPeople({ input }: Operation): z.ZodObject {
  const names = fieldsOf(input).filter(({ hints }) => hints.isForPeople).map(({ name }) => name);
  return names.length === 0 ? input : input.omit(
    Object.fromEntries(names.map((name) => [name, true])) as Record<never, true>,
  );
}

/** The output with its job as it is after the wait, and with what the job has found out. */
async function waitForJob(
  { follow, input: schema }: Operation,
  output: Record<string, unknown>,
  given: Record<string, unknown>,
  call: OperationCall,
  { services, operations }: Entrance,
): Promise<Record<string, unknown>> {
  const input = schema.parse(given);
  const seconds = follow?.waitSeconds?.(input) ?? 0;
  if (!follow || seconds === 0 || output.job === undefined) return output;
  const admin = await services.optimization();
  const job = await admin.followJob(output.job as OptimizationJob, seconds, call);
  const waited = { ...output, job };
  const { result } = follow;
  if (!result || job.status !== "completed") return waited;
  const reading = operations.get(result.operation)!;
  const found = await runOperation(reading, services, result.input(waited, input), call);
  return result.add(waited, found as never, input);
}

function callOf({ principal, signal, progress, confirm, sample, from }: ToolContext) {
  const call: OperationCall = {
    principal,
    via: "mcp",
    // A client's words are a model's: whoever it runs for has agreed to nothing.
    isLocal: false,
    from: from ?? (() => "MCP"),
    signal,
    progress: progress ?? (() => {}),
    showsProgress: progress !== undefined,
    confirm,
    sample,
  };
  return call;
}

function admit({ available }: Operation, entrance: Entrance): void {
  try {
    available?.(entrance.services);
  } catch (error) {
    throw error instanceof GatewayError ? withTools(error, entrance) : error;
  }
}

/** Asks the person if the client can; else the model has to ask and call again. */
async function demandConfirmation(
  name: string,
  question: string,
  { confirm }: ToolContext,
): Promise<void> {
  if (confirm && await confirm(question)) return;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Not confirmed: ${question}`,
    recoveryAction: "Call again with confirm: true if the user wants this",
    recoverySteps: ["Ask the user to confirm", `Then call ${name} again with confirm: true`],
  });
}

function resultOf(
  { text, next }: Operation,
  output: Record<string, unknown>,
  input: Record<string, unknown>,
  entrance: Entrance,
): BuiltinResult {
  if (!text) return { text: JSON.stringify(output), data: output };
  const warnings = Array.isArray(output.warnings) ? output.warnings : [];
  const lines = [
    text(output, input),
    ...warnings.map((warning) => `⚠️ Warning: ${warning}`),
    ...(next?.(output, input) ?? []).flatMap((step) => stepText(step, entrance)),
  ];
  return { text: lines.join("\n"), data: output };
}

function stepText(step: NextStep, entrance: Entrance): string[] {
  const tool = toolOf(step, entrance);
  return tool === undefined ? [] : [`${step.label} with ${tool}.`];
}

/** The tool of a next step, if it can be called now. */
function toolOf({ operation: name }: NextStep, { operations, services }: Entrance) {
  const operation = operations.get(name);
  return operation && isAvailable(operation, services) ? operation.mcp : undefined;
}

/** An error whose next steps are tools of this endpoint. */
function withTools(error: GatewayError, entrance: Entrance): GatewayError {
  const { next, ...details } = error.details;
  if (!next) return error;
  const steps = next.flatMap((step) => stepText(step, entrance));
  const tools = next.flatMap((step) => toolOf(step, entrance) ?? []);
  return new GatewayError(error.code, {
    ...details,
    message: error.message,
    ...(steps.length > 0 ? { recoverySteps: steps, suggestedTools: tools } : {}),
    cause: error,
  });
}
