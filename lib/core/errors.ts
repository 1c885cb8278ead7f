import type { CallToolResult } from "@modelcontextprotocol/sdk/types";
import { defined } from "./defined.ts";

/** The JSON-RPC code, HTTP status, message and recovery of each error. */
const TABLE = {
  TOOLKEY_EXPIRED: entry(-32001, 410, [
    "The tool key has expired",
    "Search again to get a new key",
  ]),
  TOOLKEY_INVALID: entry(-32602, 400, [
    "The tool key is invalid",
    "Search again, and pass the key exactly as returned",
  ]),
  TOOL_NOT_FOUND: entry(-32602, 404, [
    "Tool not found",
    "Check the name, or search for the tool",
  ]),
  TOOL_DISABLED: entry(-32002, 403, [
    "The tool is disabled",
    "Ask the owner to enable it, or use another tool",
  ]),
  TOOL_QUARANTINED: entry(-32002, 403, [
    "The tool is blocked until the owner reviews it",
    "Ask the owner to review it in the console",
  ]),
  TOOL_NAME_COLLISION: entry(-32002, 409, [
    "Two tools would have the same name",
    "Rename one of their servers",
  ]),
  SERVER_NOT_FOUND: entry(-32602, 404, [
    "Server not found",
    "Check the name in the list of servers",
  ]),
  SERVER_STARTING: entry(-32003, 503, ["The server is still starting", "Try again in a moment"]),
  SERVER_DISCONNECTED: entry(-32003, 502, [
    "The server is not connected",
    "Wait for it to reconnect, or restart it",
  ]),
  SERVER_NOT_RUNNING: entry(-32003, 503, ["The server is not running", "Start it, then try again"]),
  PACKAGE_CHANGED: entry(-32003, 409, [
    "A server's package is not what was pinned, so it was not run",
    "Find out whether its release was replaced, then forget the pin or choose another version",
  ]),
  TOKEN_REQUIRED: entry(-32001, 401, [
    "A valid token is required",
    "Send `Authorization: Bearer TOKEN` with a token from this gateway",
  ]),
  LOGIN_FAILED: entry(-32003, 502, ["The login failed", "Start the login again"]),
  LOGIN_SCOPE_REQUIRED: entry(-32004, 403, [
    "The login to the server lacks a scope that the call requires",
    "Log in to the server again to grant it, then repeat the call",
  ]),
  ACCESS_DENIED: entry(-32004, 403, ["Access denied", "Ask the owner for the missing right"]),
  ANSWER_BLOCKED: entry(-32004, 502, [
    "The content guard withheld the server's answer",
    "Do not repeat the request; ask the owner to check the server",
  ]),
  FORM_REFUSED: entry(-32602, 502, [
    "The server's form asks for a secret",
    "Ask for secrets outside of MCP, or with a URL elicitation",
  ]),
  SECRET_IN_ARGUMENTS: entry(-32602, 400, [
    "The arguments contain a secret",
    "Send the request without the secret",
  ]),
  CONSENT_NEEDED: entry(-32004, 403, [
    "The gateway's owner must give consent first",
    "Ask the owner to open /security/consents on the gateway's machine",
  ]),
  INSUFFICIENT_SCOPE: entry(-32004, 403, [
    "The token does not have the required scope",
    "Ask your identity provider for a token with the missing scope",
  ]),
  ISSUER_UNAVAILABLE: entry(-32003, 503, [
    "Cannot fetch the identity provider's keys",
    "Wait a moment, then try again",
  ]),
  PROJECT_MISMATCH: entry(-32004, 403, [
    "This belongs to another project",
    "Switch to that project",
  ]),
  INVALID_PARAMS: entry(-32602, 400, [
    "The request's parameters are invalid",
    "Correct the parameters and try again",
  ]),
  HEADER_MISMATCH: entry(-32020, 400, [
    "A header does not match the request's body",
    "Send the same value in the header as in the body",
  ]),
  INVALID_ARGUMENTS: entry(-32602, 400, [
    "The arguments are invalid",
    "Correct the arguments and try again",
  ]),
  TIMEOUT: entry(-32005, 504, [
    "The request timed out",
    "Try again, request less at once, or raise the limit",
  ]),
  OPERATION_IN_PROGRESS: entry(-32006, 409, [
    "Another operation is in progress",
    "Wait for it to finish, then try again",
  ]),
  CONFLICT: entry(-32006, 409, [
    "Someone else changed it in the meantime",
    "Reload it, then make the change again",
  ]),
  LIMIT_EXCEEDED: entry(-32007, 429, ["A limit was reached", "Wait a moment, then try again"]),
  REQUEST_TIMEOUT: entry(-32600, 408, [
    "The request did not arrive in time",
    "Send it again, without pausing",
  ]),
  PAYLOAD_TOO_LARGE: entry(-32600, 413, [
    "The request is too large",
    "Send less at once, or raise --max-body",
  ]),
  FOREIGN_HOST: entry(-32600, 403, [
    "The request's Host header does not match this gateway",
    "Use the URL the gateway printed at startup, or set --public-url (QUARTERMASTER_PUBLIC_URL) to this one",
  ]),
  FOREIGN_ORIGIN: entry(-32600, 403, [
    "The request comes from another website",
    "Open the gateway's own console, or set --public-url (QUARTERMASTER_PUBLIC_URL) to its URL",
  ]),
  OPTIMIZATION_DISABLED: entry(-32002, 403, [
    "Optimization is disabled because it spends model time",
    "Ask the owner to enable it",
  ]),
  CANNOT_EVALUATE: entry(-32003, 503, [
    "Cannot run the evaluation",
    "Configure a model for the gateway, or run the prompts yourself and report the results",
  ]),
  CANNOT_GENERATE: entry(-32003, 503, [
    "Cannot generate text",
    "Configure a model for the gateway, or write the text yourself",
  ]),
  PROMOTION_REFUSED: entry(-32002, 409, [
    "The evidence does not support this promotion",
    "Evaluate the candidate, or propose a better one",
  ]),
  NOT_FOUND: entry(-32601, 404, ["Not found", "Check the URL"]),
  NOT_AVAILABLE_HERE: entry(-32008, 501, [
    "Not available on this platform",
    "Run the gateway on your own machine",
  ]),
  CONFIG_INVALID: entry(-32603, 500, [
    "The configuration is invalid",
    "Fix the reported problem",
  ]),
  SECRET_UNREADABLE: entry(-32603, 409, [
    "Cannot decrypt a secret with the current key",
    "Start with the key that encrypted it, or set the secret again",
  ]),
  STORAGE_UNAVAILABLE: entry(-32603, 503, [
    "Cannot reach the data store",
    "Check --kv and --data-dir",
  ]),
  STORAGE_FULL: entry(-32603, 507, [
    "The disk is full: nothing can be saved",
    "Free some space; data already saved is intact",
  ]),
  STORAGE_CORRUPT: entry(-32603, 500, [
    "The data store is damaged or does not belong to Quartermaster",
    "Restore a backup with `quartermaster restore FILE`, or move the file away",
  ]),
  STORAGE_NEWER: entry(-32603, 500, [
    "A newer version of Quartermaster wrote this data",
    "Update Quartermaster, or choose another --data-dir",
  ]),
  INTERNAL: entry(-32603, 500, [
    "Internal error in the gateway",
    "Try again; if it happens again, search the log for the error ID",
  ]),
};

function entry(rpc: number, http: number, [sentence, recovery]: [string, string]) {
  return { rpc, http, sentence, recovery };
}

export type ErrorCode = keyof typeof TABLE;

/** Data that each entrance renders as its own tool name, command or link. */
export interface NextStep {
  /** The purpose, as the beginning of a sentence: "Equip it". */
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

/** The part of an error that callers see, on every transport. */
export interface ErrorBody
  extends Pick<ErrorDetails, "hint" | "next" | "suggestedTools" | "retryAfterSeconds"> {
  errorType: ErrorCode;
  message: string;
  recoveryAction: string;
  recoverySteps: string[];
}

/** The gateway's only error class; the code selects its HTTP status and JSON-RPC code. */
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

  /** Wraps a foreign error as INTERNAL; its text stays hidden from callers. */
  static from(error: unknown): GatewayError {
    if (error instanceof GatewayError) return error;
    return notPermitted(error) ?? new GatewayError("INTERNAL", { cause: error });
  }
}

/** What Deno refuses this process; the text names a file or a host, and says nothing else. */
function notPermitted(error: unknown): GatewayError | undefined {
  if (!(error instanceof Error) || error.name !== "NotCapable") return undefined;
  const [, kind, what] = /^Requires (write|net) access to (.+), run again/.exec(error.message) ??
    [];
  if (kind === undefined) return undefined;
  return new GatewayError("CONFIG_INVALID", {
    message: `The gateway is not permitted to ${kind === "net" ? "connect to" : "write"} ${
      what === "<TMP>" ? "the temporary folder" : what
    }`,
    recoveryAction: kind === "net"
      ? "Name the host in the configuration and restart the gateway, or start it without --harden"
      : "Use a path in its data folder or the temporary folder, or add the folder to --allow-write",
    cause: error,
  });
}

export function describeErrors() {
  return ERROR_CODES.map((code) => ({ code, ...TABLE[code] }));
}

export const ERROR_CODES = Object.keys(TABLE) as ErrorCode[];

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a system error, such as ENOENT. */
export function systemErrorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** An error as a tool result: text for the model, and the same as structured content. */
export function toolErrorResult(error: GatewayError): CallToolResult {
  const body = error.toBody();
  const steps = body.recoverySteps.map((step, index) => `${index + 1}. ${step}`).join("\n");
  const hint = body.hint === undefined ? "" : `\n${body.hint}`;
  const text = `${body.errorType}: ${body.message}\n\nWhat to do:\n${steps}${hint}`;
  return { content: [{ type: "text", text }], structuredContent: { ...body }, isError: true };
}
