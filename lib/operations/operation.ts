import type { SampleModel } from "../core/client.ts";
import * as z from "zod";
import type { Right } from "../core/access.ts";
import { GatewayError, type NextStep } from "../core/errors.ts";
import { actingFor } from "../telemetry/audit_log.ts";
import type { CallerRights } from "../mcp/call.ts";
import type { Services } from "./services.ts";

/** One run of an operation: who asked for it, through which entrance, and what the run can do. */
export interface OperationCall {
  principal: string;
  via: "mcp" | "api" | "cli" | "console";
  /** Whether the caller sits at the gateway's own machine. */
  isLocal: boolean;
  /** The caller's address for the audit log; computed only if an entry is written. */
  from(): string;
  signal: AbortSignal;
  /** Reports progress to whoever is waiting; does nothing if nobody asked for it. */
  progress(message: string): void;
  /** Whether somebody asked for progress, and so is ready to wait. */
  showsProgress?: boolean;
  /** Asks the person behind the client; undefined if the client cannot ask. */
  confirm?: ((question: string) => Promise<boolean>) | undefined;
  /** Has the client's model write something; undefined if the client does not offer one. */
  sample?: SampleModel | undefined;
}

/** Who decides: a model speaks for nobody, so only the numbers count for it. */
export function decidedBy({ via }: Pick<OperationCall, "via">): "caller" | "person" {
  return via === "mcp" ? "caller" : "person";
}

/** A file that an operation returns instead of JSON. */
export interface FileOutput {
  fileName: string;
  contentType: string;
  body: string | ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** How entrances follow the `job` of an output until it has ended. */
export interface FollowedJob<Input, Output> {
  /** How many seconds a call over MCP waits for the job; default: 0. */
  waitSeconds?(input: Input): number;
  /** The operation that tells what the job will take, before a person agrees to it. */
  estimate?: { operation: string; input(input: Input): Record<string, unknown> };
  /** What to read once the job has completed, and how it is added to the output. */
  result?: {
    operation: string;
    input(output: Output, input: Input): Record<string, unknown>;
    add(output: Output, found: never, input: Input): Output;
  };
}

export interface OperationSpec<Input extends z.ZodObject, Output> {
  /** The one name, in the API, the audit log and the docs: `toolset.equip`. */
  name: string;
  title: string;
  /** One or two sentences for people and models, or a function if they depend on the caller. */
  description: string | ((services: Services, principal: string) => string);
  input: Input;
  /** The output's schema; a media type for an operation that returns a file. */
  output: z.ZodType<Output> | { file: string };
  /** All of these are required. */
  rights: readonly Right[];
  /**
   * What the operation touches: the caller's own things, those visible to the caller, or the whole
   * gateway, which tokens limited to some servers, tools or toolsets may not touch.
   */
  scope: "own" | "visible" | "whole";
  /** `this-machine`: refused from anywhere else, whatever the caller's rights. */
  from?: "anywhere" | "this-machine";
  effect: "read" | "write" | "destroy";
  /** Whether a second run with the same input changes nothing more. */
  idempotent?: boolean;
  /** The MCP tool's name; without one, models cannot run the operation. */
  mcp?: string;
  /** The command: `toolset equip NAME`. Placeholders name input fields, in any case and number. */
  cli?: string;
  /** A field whose value is a file: the body of an API request, a path or `-` on the command line. */
  fileInput?: { field: string; maxBytes: number };
  /** Throws if the operation cannot run now, whatever its input; MCP does not list it then. */
  available?(services: Services): void;
  /** Only a running gateway can run it: the command line does not run it in its own process. */
  isLive?: boolean;
  /** The output's `job` goes on after the operation has returned; entrances that can wait follow it. */
  follow?: FollowedJob<z.infer<Input>, Output>;
  /** The question to answer before the operation runs, for an effect that cannot be undone. */
  confirm?(input: z.infer<Input>): string;
  run(services: Services, input: z.infer<Input>, call: OperationCall): Promise<Output> | Output;
  /** States the outcome. Data that only a program reads needs no text. */
  text?(output: Output, input: z.infer<Input>): string;
  /** What the caller may want to do next; each entrance renders it as its own tool, command or link. */
  next?(output: Output, input: z.infer<Input>): NextStep[];
}

/** An operation whose types are checked by its own declaration only. */
// deno-lint-ignore no-explicit-any
export type Operation = OperationSpec<z.ZodObject, any>;

/** The rights and effects that most operations have. */
export const READS = { rights: ["read"], scope: "whole", effect: "read" } as const;
export const READS_GUARDED = { ...READS, rights: ["read", "manage"] } as const;
export const MANAGES = { rights: ["manage"], scope: "whole", effect: "write" } as const;
export const DESTROYS = { ...MANAGES, effect: "destroy" } as const;

export type OutputOf<T> = T extends OperationSpec<infer _, infer Output> ? Output : never;

/** Declares an operation; infers its types. */
export function operation<Input extends z.ZodObject, Output>(
  spec: OperationSpec<Input, Output>,
): OperationSpec<Input, Output> {
  return spec;
}

/** Checks rights and input, then runs the operation: the one way in, for every entrance. */
export async function runOperation<Input extends z.ZodObject, Output>(
  operation: OperationSpec<Input, Output>,
  services: Services,
  input: unknown,
  call: OperationCall,
): Promise<Output> {
  demandRights(operation, services.access, call);
  const parsed = parseInput(operation, input);
  operation.available?.(services);
  const { principal, from } = call;
  const output = await actingFor(
    { principal, from },
    () => operation.run(services, parsed, call),
  );
  if (operation.effect !== "read") await services.othersFollow?.();
  return output;
}

export function parseInput<Input extends z.ZodObject>(
  { name, input: schema }: Pick<OperationSpec<Input, unknown>, "name" | "input">,
  input: unknown,
): z.infer<Input> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const message = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`
  ).join("; ");
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `${name}: ${message}`,
    recoveryAction: "Correct the input and try again",
  });
}

/** What decides whether a caller may run an operation. */
export type Restrictions = Pick<Operation, "name" | "rights" | "scope" | "from">;

/** Whether a caller's rights suffice, wherever the call comes from. */
export function mayRun(
  { rights, scope }: Restrictions,
  access: Pick<CallerRights, "grants">,
  principal: string,
): boolean {
  const grants = access.grants(principal);
  return rights.every((right) => grants.may(right)) && (scope !== "whole" || grants.isWhole);
}

/** Throws ACCESS_DENIED, or the error that asks a foreign token's client for more rights. */
export function demandRights(
  operation: Restrictions,
  access: Pick<CallerRights, "grants" | "demand">,
  { principal, isLocal }: Pick<OperationCall, "principal" | "isLocal">,
): void {
  const { name, rights, scope, from } = operation;
  const { isWhole } = access.grants(principal);
  if (scope === "whole" && !isWhole) {
    throw new GatewayError("ACCESS_DENIED", {
      message: `This token may not run ${name}: it is limited to some servers, tools or toolsets`,
      recoverySteps: ["Ask the owner for a token without these limits"],
    });
  }
  for (const right of rights) access.demand(principal, right, `Running ${name}`);
  if (from === "this-machine" && !isLocal) {
    throw new GatewayError("ACCESS_DENIED", {
      message: `${name} is allowed only on the gateway's own machine`,
      recoverySteps: ["Run it there, in the console or on the command line"],
    });
  }
}

/** Whether an operation can run now; its tool is listed and advised only then. */
export function isAvailable({ available }: Operation, services: Services): boolean {
  try {
    available?.(services);
    return true;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}
