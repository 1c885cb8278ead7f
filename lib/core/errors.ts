import { defined } from "./defined.ts";

/** What each error means on the wire and what its reader can do about it. */
const TABLE = {
  TOOLKEY_EXPIRED: entry(-32001, 410, [
    "The tool key has expired",
    "Search again to get a new key",
  ]),
  TOOLKEY_INVALID: entry(-32602, 400, [
    "The tool key is not valid",
    "Search again, and pass the key exactly as it was given",
  ]),
  TOOL_NOT_FOUND: entry(-32602, 404, [
    "There is no such tool",
    "Check the name, or search for the tool",
  ]),
  TOOL_DISABLED: entry(-32002, 403, [
    "The tool is disabled",
    "Ask the owner to enable it, or use another tool",
  ]),
  TOOL_QUARANTINED: entry(-32002, 403, [
    "The tool is held back until its owner has reviewed it",
    "Ask the owner to review it in the console",
  ]),
  TOOL_NAME_COLLISION: entry(-32002, 409, [
    "Two tools would have the same name",
    "Rename one of their servers",
  ]),
  SERVER_NOT_FOUND: entry(-32602, 404, [
    "There is no such server",
    "Check the name in the list of servers",
  ]),
  SERVER_STARTING: entry(-32003, 503, ["The server is still starting", "Try again in a moment"]),
  SERVER_DISCONNECTED: entry(-32003, 502, [
    "The server is not connected",
    "Wait for it to reconnect, or restart it",
  ]),
  SERVER_NOT_RUNNING: entry(-32003, 503, ["The server is not running", "Start it, then try again"]),
  TOKEN_REQUIRED: entry(-32001, 401, [
    "A valid token is needed",
    "Send `Authorization: Bearer TOKEN`, with a token of this gateway's",
  ]),
  LOGIN_FAILED: entry(-32003, 502, ["The login did not succeed", "Begin the login again"]),
  ACCESS_DENIED: entry(-32004, 403, ["Access denied", "Ask the owner for the missing right"]),
  CONSENT_NEEDED: entry(-32004, 403, [
    "The owner of the gateway has to agree first",
    "Ask the owner to look at /security/consents on the gateway's own machine",
  ]),
  INSUFFICIENT_SCOPE: entry(-32004, 403, [
    "The token's scopes are not enough",
    "Ask your identity provider for a token with the missing scope",
  ]),
  ISSUER_UNAVAILABLE: entry(-32003, 503, [
    "The identity provider cannot be asked for its keys",
    "Wait a moment, then try again",
  ]),
  PROJECT_MISMATCH: entry(-32004, 403, [
    "This belongs to another project",
    "Switch to the project it belongs to",
  ]),
  INVALID_PARAMS: entry(-32602, 400, [
    "The request's parameters are not as the protocol has them",
    "Correct the parameters and try again",
  ]),
  INVALID_ARGUMENTS: entry(-32602, 400, [
    "The arguments do not fit",
    "Correct the arguments and try again",
  ]),
  TIMEOUT: entry(-32005, 504, [
    "The time limit was reached",
    "Try again, ask for less at once, or raise the limit",
  ]),
  OPERATION_IN_PROGRESS: entry(-32006, 409, [
    "Another operation is in progress",
    "Wait for it to end, then try again",
  ]),
  CONFLICT: entry(-32006, 409, [
    "It was changed by somebody else in the meantime",
    "Load it again and repeat the change",
  ]),
  LIMIT_EXCEEDED: entry(-32007, 429, ["A limit was reached", "Wait a moment, then try again"]),
  REQUEST_TIMEOUT: entry(-32600, 408, [
    "The request did not arrive in time",
    "Send it again, without pauses",
  ]),
  PAYLOAD_TOO_LARGE: entry(-32600, 413, [
    "The request is too large",
    "Send less at once, or raise --max-body",
  ]),
  FOREIGN_HOST: entry(-32600, 403, [
    "The request names a host that is not this gateway",
    "Use the address the gateway printed at start, or name this one with --public-url",
  ]),
  FOREIGN_ORIGIN: entry(-32600, 403, [
    "The request comes from a foreign web page",
    "Open the gateway's own console, or name its address with --public-url",
  ]),
  OPTIMIZATION_DISABLED: entry(-32002, 403, [
    "Optimization is switched off, because it spends model time",
    "Ask the owner to switch it on",
  ]),
  CANNOT_EVALUATE: entry(-32003, 503, [
    "Cannot evaluate",
    "Make a model available to the gateway, or run the prompts yourself and report results",
  ]),
  CANNOT_GENERATE: entry(-32003, 503, [
    "Cannot generate",
    "Make a model available to the gateway, or write the texts yourself",
  ]),
  PROMOTION_REFUSED: entry(-32002, 409, [
    "The evidence does not support this promotion",
    "Evaluate the candidate, or propose a better one",
  ]),
  NOT_FOUND: entry(-32601, 404, ["There is nothing here", "Check the address"]),
  NOT_AVAILABLE_HERE: entry(-32008, 501, [
    "This cannot run here",
    "Run the gateway on a machine of your own",
  ]),
  CONFIG_INVALID: entry(-32603, 500, [
    "The configuration is not valid",
    "Correct the place that is named",
  ]),
  SECRET_UNREADABLE: entry(-32603, 409, [
    "A secret cannot be opened with the key that is here",
    "Start with the key it was sealed with, or set it again",
  ]),
  STORAGE_UNAVAILABLE: entry(-32603, 503, [
    "The data store cannot be reached",
    "Check --kv and --data-dir",
  ]),
  STORAGE_FULL: entry(-32603, 507, [
    "The disk is full: nothing can be saved until there is room",
    "Free some space; what was saved before is intact",
  ]),
  STORAGE_CORRUPT: entry(-32603, 500, [
    "The data store is damaged or is not Quartermaster's",
    "Restore a backup with `quartermaster restore FILE`, or move the file away",
  ]),
  STORAGE_NEWER: entry(-32603, 500, [
    "The data was written by a newer Quartermaster",
    "Update Quartermaster, or choose another --data-dir",
  ]),
  INTERNAL: entry(-32603, 500, [
    "Something went wrong inside the gateway",
    "Try again; if it happens again, look for the error id in the log",
  ]),
};

function entry(rpc: number, http: number, [sentence, recovery]: [string, string]) {
  return { rpc, http, sentence, recovery };
}

export type ErrorCode = keyof typeof TABLE;

/** Data that each entrance renders as its own tool name, command or link. */
export interface NextStep {
  /** What it is for, as the beginning of a sentence: "Equip it". */
  label: string;
  /** The operation to run: `toolset.equip`. */
  operation: string;
  input?: Record<string, unknown>;
}

export interface ErrorDetails {
  /** What went wrong, in place of the table's sentence. */
  message?: string;
  /** What to do, in place of the table's recovery. */
  recoveryAction?: string;
  recoverySteps?: string[];
  hint?: string;
  /** Operations that help; they replace recoverySteps at entrances that can render them. */
  next?: NextStep[];
  suggestedTools?: string[];
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** What a caller gets to read of an error, whatever the wire. */
export interface ErrorBody
  extends Pick<ErrorDetails, "hint" | "next" | "suggestedTools" | "retryAfterSeconds"> {
  errorType: ErrorCode;
  message: string;
  recoveryAction: string;
  recoverySteps: string[];
}

/** The one error class of the gateway; its code decides how it looks on every wire. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(details.message ?? TABLE[code].sentence, { cause: details.cause });
    this.code = code;
    this.details = details;
  }

  get httpStatus(): number {
    return TABLE[this.code].http;
  }

  get rpcCode(): number {
    return TABLE[this.code].rpc;
  }

  toBody(): ErrorBody {
    const { recoveryAction, recoverySteps, hint, next, suggestedTools, retryAfterSeconds } =
      this.details;
    const action = recoveryAction ?? TABLE[this.code].recovery;
    return {
      errorType: this.code,
      message: this.message,
      recoveryAction: action,
      recoverySteps: recoverySteps ?? [action],
      ...defined({ hint, next, suggestedTools, retryAfterSeconds }),
    };
  }

  /** Wraps what is not ours as INTERNAL, without letting its text out. */
  static from(error: unknown): GatewayError {
    return error instanceof GatewayError ? error : new GatewayError("INTERNAL", { cause: error });
  }
}

export function describeErrors() {
  return ERROR_CODES.map((code) => ({ code, ...TABLE[code] }));
}

export const ERROR_CODES = Object.keys(TABLE) as ErrorCode[];

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error of the system's, such as ENOENT. */
export function systemErrorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** An error as the result of a tool call: words for the model, and the same as data. */
export function toolErrorResult(error: GatewayError) {
  const body = error.toBody();
  const steps = body.recoverySteps.map((step, index) => `${index + 1}. ${step}`).join("\n");
  const hint = body.hint === undefined ? "" : `\n${body.hint}`;
  const text = `${body.errorType}: ${body.message}\n\nWhat to do:\n${steps}${hint}`;
  return { content: [{ type: "text", text }], structuredContent: { ...body }, isError: true };
}
