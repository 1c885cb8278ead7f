/** What each error means on the wire and what its reader can do about it. */
const TABLE = {
  TOOLKEY_EXPIRED: {
    rpc: -32001,
    http: 410,
    sentence: "The tool key has expired",
    recovery: "Search again to get a new key",
  },
  TOOLKEY_INVALID: {
    rpc: -32602,
    http: 400,
    sentence: "The tool key is not valid",
    recovery: "Search again, and pass the key exactly as it was given",
  },
  TOOL_NOT_FOUND: {
    rpc: -32602,
    http: 404,
    sentence: "There is no such tool",
    recovery: "Check the name, or search for the tool",
  },
  TOOL_DISABLED: {
    rpc: -32002,
    http: 403,
    sentence: "The tool is disabled",
    recovery: "Ask the owner to enable it, or use another tool",
  },
  TOOL_QUARANTINED: {
    rpc: -32002,
    http: 403,
    sentence: "The tool is held back until its owner has reviewed it",
    recovery: "Ask the owner to review it in the console",
  },
  TOOL_NAME_COLLISION: {
    rpc: -32002,
    http: 409,
    sentence: "Two tools would have the same name",
    recovery: "Rename one of their servers",
  },
  SERVER_NOT_FOUND: {
    rpc: -32602,
    http: 404,
    sentence: "There is no such server",
    recovery: "Check the name in the list of servers",
  },
  SERVER_STARTING: {
    rpc: -32003,
    http: 503,
    sentence: "The server is still starting",
    recovery: "Try again in a moment",
  },
  SERVER_DISCONNECTED: {
    rpc: -32003,
    http: 502,
    sentence: "The server is not connected",
    recovery: "Wait for it to reconnect, or restart it",
  },
  SERVER_NOT_RUNNING: {
    rpc: -32003,
    http: 503,
    sentence: "The server is not running",
    recovery: "Start it, then try again",
  },
  TOKEN_REQUIRED: {
    rpc: -32001,
    http: 401,
    sentence: "A valid token is needed",
    recovery: "Send `Authorization: Bearer TOKEN`, with a token of this gateway's",
  },
  LOGIN_FAILED: {
    rpc: -32003,
    http: 502,
    sentence: "The login did not succeed",
    recovery: "Begin the login again",
  },
  ACCESS_DENIED: {
    rpc: -32004,
    http: 403,
    sentence: "Access denied",
    recovery: "Ask the owner for the missing right",
  },
  CONSENT_NEEDED: {
    rpc: -32004,
    http: 403,
    sentence: "The owner of the gateway has to agree first",
    recovery: "Ask the owner to look at /security/consents on the gateway's own machine",
  },
  INSUFFICIENT_SCOPE: {
    rpc: -32004,
    http: 403,
    sentence: "The token's scopes are not enough",
    recovery: "Ask your identity provider for a token with the missing scope",
  },
  ISSUER_UNAVAILABLE: {
    rpc: -32003,
    http: 503,
    sentence: "The identity provider cannot be asked for its keys",
    recovery: "Wait a moment, then try again",
  },
  PROJECT_MISMATCH: {
    rpc: -32004,
    http: 403,
    sentence: "This belongs to another project",
    recovery: "Switch to the project it belongs to",
  },
  INVALID_PARAMS: {
    rpc: -32602,
    http: 400,
    sentence: "The request's parameters are not as the protocol has them",
    recovery: "Correct the parameters and try again",
  },
  INVALID_ARGUMENTS: {
    rpc: -32602,
    http: 400,
    sentence: "The arguments do not fit",
    recovery: "Correct the arguments and try again",
  },
  TIMEOUT: {
    rpc: -32005,
    http: 504,
    sentence: "The time limit was reached",
    recovery: "Try again, ask for less at once, or raise the limit",
  },
  OPERATION_IN_PROGRESS: {
    rpc: -32006,
    http: 409,
    sentence: "Another operation is in progress",
    recovery: "Wait for it to end, then try again",
  },
  CONFLICT: {
    rpc: -32006,
    http: 409,
    sentence: "It was changed by somebody else in the meantime",
    recovery: "Load it again and repeat the change",
  },
  LIMIT_EXCEEDED: {
    rpc: -32007,
    http: 429,
    sentence: "A limit was reached",
    recovery: "Wait a moment, then try again",
  },
  REQUEST_TIMEOUT: {
    rpc: -32600,
    http: 408,
    sentence: "The request did not arrive in time",
    recovery: "Send it again, without pauses",
  },
  PAYLOAD_TOO_LARGE: {
    rpc: -32600,
    http: 413,
    sentence: "The request is too large",
    recovery: "Send less at once, or raise --max-body",
  },
  FOREIGN_HOST: {
    rpc: -32600,
    http: 403,
    sentence: "The request names a host that is not this gateway",
    recovery: "Use the address the gateway printed at start, or name this one with --public-url",
  },
  FOREIGN_ORIGIN: {
    rpc: -32600,
    http: 403,
    sentence: "The request comes from a foreign web page",
    recovery: "Open the gateway's own console, or name its address with --public-url",
  },
  OPTIMIZATION_DISABLED: {
    rpc: -32002,
    http: 403,
    sentence: "Optimization is switched off, because it spends model time",
    recovery: "Ask the owner to switch it on",
  },
  CANNOT_EVALUATE: {
    rpc: -32003,
    http: 503,
    sentence: "Cannot evaluate",
    recovery:
      "Make a model available to the gateway, or run the prompts yourself and report results",
  },
  CANNOT_GENERATE: {
    rpc: -32003,
    http: 503,
    sentence: "Cannot generate",
    recovery: "Make a model available to the gateway, or write the texts yourself",
  },
  PROMOTION_REFUSED: {
    rpc: -32002,
    http: 409,
    sentence: "The evidence does not support this promotion",
    recovery: "Evaluate the candidate, or propose a better one",
  },
  NOT_FOUND: {
    rpc: -32601,
    http: 404,
    sentence: "There is nothing here",
    recovery: "Check the address",
  },
  NOT_AVAILABLE_HERE: {
    rpc: -32008,
    http: 501,
    sentence: "This cannot run here",
    recovery: "Run the gateway on a machine of your own",
  },
  CONFIG_INVALID: {
    rpc: -32603,
    http: 500,
    sentence: "The configuration is not valid",
    recovery: "Correct the place that is named",
  },
  SECRET_UNREADABLE: {
    rpc: -32603,
    http: 409,
    sentence: "A secret cannot be opened with the key that is here",
    recovery: "Start with the key it was sealed with, or set it again",
  },
  STORAGE_UNAVAILABLE: {
    rpc: -32603,
    http: 503,
    sentence: "The data store cannot be reached",
    recovery: "Check --kv and --data-dir",
  },
  STORAGE_FULL: {
    rpc: -32603,
    http: 507,
    sentence: "The disk is full: nothing can be saved until there is room",
    recovery: "Free some space; what was saved before is intact",
  },
  STORAGE_CORRUPT: {
    rpc: -32603,
    http: 500,
    sentence: "The data store is damaged or is not Quartermaster's",
    recovery: "Restore a backup with `quartermaster restore FILE`, or move the file away",
  },
  STORAGE_NEWER: {
    rpc: -32603,
    http: 500,
    sentence: "The data was written by a newer Quartermaster",
    recovery: "Update Quartermaster, or choose another --data-dir",
  },
  INTERNAL: {
    rpc: -32603,
    http: 500,
    sentence: "Something went wrong inside the gateway",
    recovery: "Try again; if it happens again, look for the error id in the log",
  },
} as const satisfies Record<string, ErrorEntry>;

interface ErrorEntry {
  rpc: number;
  http: number;
  sentence: string;
  recovery: string;
}

export type ErrorCode = keyof typeof TABLE;

/**
 * Something the reader can do next, as data: each entrance renders it as its own tool name, command
 * or link.
 */
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
  /** How long to wait before the next try. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** What a caller gets to read of an error, whatever the wire. */
export interface ErrorBody {
  errorType: ErrorCode;
  message: string;
  recoveryAction: string;
  recoverySteps: string[];
  hint?: string;
  next?: NextStep[];
  suggestedTools?: string[];
  retryAfterSeconds?: number;
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
      ...(hint === undefined ? {} : { hint }),
      ...(next === undefined ? {} : { next }),
      ...(suggestedTools === undefined ? {} : { suggestedTools }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    };
  }

  /** Wraps what is not ours as INTERNAL, without letting its text out. */
  static from(error: unknown): GatewayError {
    return error instanceof GatewayError ? error : new GatewayError("INTERNAL", { cause: error });
  }
}

/** The whole table, for the reference. */
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
