import { z } from "zod";
import { ERROR_CODES, GatewayError, type NextStep } from "../core/errors.ts";
import { VERSION } from "../core/product.ts";
import { Credential } from "./credential.ts";
import type { ServersAccess, ToolCall, ToolResult, WaitingTool } from "./servers_access.ts";
import type { Operation } from "../operations/operation.ts";
import { REVIEW_OPERATIONS } from "../operations/review.ts";
import { GatewayStatus } from "../operations/status.ts";
import { type AllTools, TOOL_OPERATIONS } from "../operations/tool_search.ts";
import type { ReviewList } from "../trust/review_items.ts";

/** Adding, changing and restarting wait for a server to connect; an install takes up to 10 min. */
const SLOW_MS = 12 * 60_000;
const QUICK_MS = 10_000;
/** The audit log of the gateway says where a change came from. */
const USER_AGENT = `quartermaster-cli/${VERSION}`;

const ErrorAnswer = z.object({
  error: z.object({
    errorType: z.enum(ERROR_CODES),
    message: z.string(),
    recoveryAction: z.string(),
    recoverySteps: z.array(z.string()),
    hint: z.string().optional(),
    next: z.array(z.object({
      label: z.string(),
      operation: z.string(),
      input: z.record(z.string(), z.unknown()).optional(),
    })).optional(),
  }),
});

/** A running gateway, spoken to over its API. */
export class GatewayClient implements ServersAccess {
  readonly isRunning = true;
  readonly #address: string;
  readonly #credential: Credential;

  constructor(address: string, credential = new Credential({})) {
    this.#address = address;
    this.#credential = credential;
  }

  get address(): string {
    return this.#address;
  }

  async isHealthy(): Promise<boolean> {
    try {
      const response = await this.#fetch("GET", "/healthz", undefined, QUICK_MS);
      await response.body?.cancel();
      return response.ok;
    } catch {
      return false;
    }
  }

  status(): Promise<GatewayStatus> {
    return this.#ask(GatewayStatus, "GET", "/api/status.show");
  }

  allTools(): Promise<AllTools> {
    return this.run(TOOL_OPERATIONS.list, {});
  }

  async waiting(): Promise<WaitingTool[]> {
    const { items }: ReviewList = await this.run(REVIEW_OPERATIONS.list, {});
    return items.flatMap(({ server, tool, state, kind }): WaitingTool[] => {
      if (state !== "quarantined" && state !== "held") return [];
      const isServed = state === "held" && (kind === "changed" || kind === "invalid");
      // What is in parentheses is a text of the server's and no tool.
      return tool.startsWith("(") ? [] : [{ server, name: tool, state, isServed }];
    });
  }

  async callTool(call: ToolCall): Promise<ToolResult> {
    // Loaded when needed: the SDK takes longer to load than all else here together.
    const { callThroughEndpoint } = await import("./endpoint_call.ts");
    return await callThroughEndpoint(this.#address, call, this.#credential);
  }

  /** Runs an operation; resolves with its output, or with the file that it returns. */
  async run(operation: Operation, input: Record<string, unknown>) {
    const { name, output, fileInput } = operation;
    const path = `/api/${name}`;
    if ("file" in output) {
      const response = await this.#fetch("POST", path, input, SLOW_MS);
      if (!response.ok) throw await this.#failure(response);
      const contentType = response.headers.get("content-type") ?? "";
      return { fileName: name, contentType, body: response.body ?? "" };
    }
    if (!fileInput) return await this.#ask(output, "POST", path, input, SLOW_MS);
    const { [fileInput.field]: file, ...others } = input;
    const query = new URLSearchParams(
      Object.entries(others).map(([key, value]) => [key, String(value)]),
    );
    return await this.#ask(output, "POST", `${path}?${query}`, String(file), SLOW_MS);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  async #ask<T>(
    schema: z.ZodType<T>,
    method: string,
    path: string,
    body?: unknown,
    limitMs = QUICK_MS,
  ): Promise<T> {
    const response = await this.#fetch(method, path, body, limitMs);
    if (!response.ok) throw await this.#failure(response);
    const parsed = schema.safeParse(await response.json().catch(() => undefined));
    if (parsed.success) return parsed.data;
    throw this.#notUnderstood(response);
  }

  async #failure(response: Response): Promise<GatewayError> {
    const value: unknown = await response.json().catch(() => undefined);
    const refused = ErrorAnswer.safeParse(value);
    if (refused.success) {
      const { errorType, hint, next, ...details } = refused.data.error;
      return new GatewayError(errorType, {
        ...details,
        ...(hint === undefined ? {} : { hint }),
        ...(next === undefined ? {} : { next: next as NextStep[] }),
      });
    }
    return this.#notUnderstood(response);
  }

  #notUnderstood(response: Response): GatewayError {
    return new GatewayError("SERVER_DISCONNECTED", {
      message:
        `The gateway at ${this.#address} gave an answer that is not understood (${response.status})`,
      recoverySteps: ["Check that gateway and command line are of the same version"],
    });
  }

  async #fetch(method: string, path: string, body: unknown, limitMs: number): Promise<Response> {
    try {
      return await this.#credential.fetch(new URL(path, this.#address), {
        method,
        redirect: "error",
        signal: AbortSignal.timeout(limitMs),
        ...(method === "GET" ? {} : {
          headers: { "content-type": "application/json", "user-agent": USER_AGENT },
          // A text is a file that is sent as it is.
          body: typeof body === "string" ? body : JSON.stringify(body ?? {}),
        }),
      });
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === "TimeoutError";
      throw new GatewayError(isLate ? "TIMEOUT" : "SERVER_DISCONNECTED", {
        message: isLate
          ? `The gateway at ${this.#address} did not answer within ${limitMs / 1000} s`
          : `The gateway at ${this.#address} does not answer`,
        recoverySteps: ["See `quartermaster status`"],
        cause: error,
      });
    }
  }
}
