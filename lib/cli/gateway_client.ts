import * as z from "zod";
import { parseError } from "../core/error_body.ts";
import { GatewayError } from "../core/errors.ts";
import { VERSION } from "../core/product.ts";
import type { OperationTarget, ToolCall, ToolResult } from "./operation_target.ts";
import type { Operation } from "../operations/operation.ts";
import { GatewayStatus } from "../operations/status.ts";
import { type GatewayRun, ownerTicket } from "../auth/credentials.ts";
import { once } from "../core/async.ts";

/** Adding, changing and restarting wait for a server to connect; an install takes up to 10 min. */
const SLOW_MS = 12 * 60_000;
const QUICK_MS = 10_000;
/** The audit log of the gateway says where a change came from. */
const USER_AGENT = `quartermaster-cli/${VERSION}`;

/** A running gateway, spoken to over its API. */
export class GatewayClient implements OperationTarget {
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
    const body = await response.json().catch(() => undefined);
    return parseError(body?.error) ?? this.#notUnderstood(response);
  }

  #notUnderstood(response: Response): GatewayError {
    return new GatewayError("SERVER_DISCONNECTED", {
      message: `The gateway at ${this.#address} sent an invalid response (${response.status})`,
      recoverySteps: ["Check that the gateway and the command line have the same version"],
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

export interface CredentialOptions {
  token?: string | undefined;
  /** How the gateway can be shown that its data is read here. */
  owner?: {
    /** The only one that the proof is good at. */
    gateway: GatewayRun;
    secret(): Promise<Uint8Array>;
  };
}

/**
 * What a command authenticates with at one gateway: the token that the user gave, else, if the
 * gateway asks, the proof that its data can be read here.
 */
export class Credential {
  readonly #token: string | undefined;
  readonly #owner: CredentialOptions["owner"];
  #secret: (() => Promise<Uint8Array>) | undefined;

  constructor({ token, owner }: CredentialOptions) {
    this.#token = token;
    this.#owner = token === undefined ? owner : undefined;
  }

  /** Fetches, and once more with a new proof if the gateway wants one. */
  async fetch(url: string | URL, init: RequestInit): Promise<Response> {
    const secret = this.#secret;
    const response = await fetch(url, withBearer(init, this.#token ?? await this.#proof(secret)));
    if (response.status !== 401 || !this.#owner) return response;
    // Read again: a restore changes the secret. Once for all requests that are refused together.
    if (this.#secret === secret) this.#secret = once(this.#owner.secret);
    const proof = await this.#proof(this.#secret);
    if (proof === undefined) return response;
    await response.body?.cancel();
    return await fetch(url, withBearer(init, proof));
  }

  /** Undefined if it cannot be made now: the gateway's refusal then says what is needed. */
  async #proof(secret: (() => Promise<Uint8Array>) | undefined): Promise<string | undefined> {
    if (!this.#owner || !secret) return undefined;
    try {
      return ownerTicket(await secret(), this.#owner.gateway);
    } catch {
      return undefined;
    }
  }
}

function withBearer(init: RequestInit, bearer: string | undefined): RequestInit {
  if (bearer === undefined) return init;
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${bearer}`);
  return { ...init, headers };
}
