import { z } from "zod";
import { ServerHistory } from "../catalog/tool_history.ts";
import { ERROR_CODES, GatewayError } from "../core/errors.ts";
import { ServerSpec } from "../core/server.ts";
import { ToolDefinition } from "../core/tool.ts";
import { VERSION } from "../core/version.ts";
import { ConsentClient } from "./consent_client.ts";
import { Credential } from "./credential.ts";
import { LoginClient } from "./login_client.ts";
import { OptimizationClient } from "./optimization_client.ts";
import { ReviewClient } from "./review_client.ts";
import { SearchAnswer } from "./search_answer.ts";
import type {
  AddOptions,
  ServersAccess,
  ToolCall,
  ToolList,
  ToolResult,
  WaitingTool,
} from "./servers_access.ts";
import { ToolsetClient } from "./toolset_client.ts";

/** Adding, changing and restarting wait for a server to connect, which may be a download away. */
const SLOW_MS = 90_000;
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
  }),
});

/** Who answers at an address. */
export const GatewayStatus = z.looseObject({
  version: z.string(),
  pid: z.int(),
  startedAt: z.number(),
  address: z.string(),
  servers: z.record(z.string(), z.number()),
});
export type GatewayStatus = z.infer<typeof GatewayStatus>;

const ServerRow = z.looseObject({
  name: z.string(),
  type: z.string(),
  state: z.string(),
  reason: z.string(),
  toolCount: z.int(),
  source: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("file"), path: z.string() }),
    z.object({ kind: z.literal("store") }),
    z.object({ kind: z.literal("demo") }),
  ]).optional(),
});
const OneServer = z.looseObject({ server: ServerRow });
const Described = z.object({ spec: ServerSpec, version: z.string().optional() });
const AllTools = z.object({
  tools: z.array(z.object({
    server: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    definition: ToolDefinition,
  })),
  maxNameLength: z.number(),
});
const LogLines = z.object({ lines: z.array(z.object({ time: z.number(), line: z.string() })) });
const Tools = z.object({
  server: z.string(),
  enabled: z.array(z.string()).nullable(),
  all: z.array(z.string()),
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
    return this.#ask(GatewayStatus, "GET", "/api/status");
  }

  async list() {
    const answer = await this.#ask(
      z.object({ servers: z.array(ServerRow) }),
      "GET",
      "/api/servers",
    );
    return answer.servers;
  }

  describe(name: string) {
    return this.#ask(Described, "GET", serverPath(name));
  }

  async add(name: string, spec: ServerSpec, { check = true }: AddOptions = {}) {
    const path = check ? "/api/servers" : "/api/servers?check=false";
    return (await this.#ask(OneServer, "POST", path, { name, ...spec }, SLOW_MS)).server;
  }

  async update(name: string, spec: ServerSpec, version?: string) {
    // JSON would leave out what is undefined, and what is left out stays.
    const body = Object.fromEntries(
      Object.entries(spec).map(([key, value]) => [key, value ?? null]),
    );
    const change = { ...body, version };
    return (await this.#ask(OneServer, "PUT", serverPath(name), change, SLOW_MS)).server;
  }

  async remove(name: string): Promise<void> {
    await this.#ask(z.unknown(), "DELETE", serverPath(name));
  }

  async restart(name: string) {
    const path = `${serverPath(name)}/restart`;
    return (await this.#ask(OneServer, "POST", path, {}, SLOW_MS)).server;
  }

  async logs(name: string, lines: number): Promise<z.infer<typeof LogLines>["lines"]> {
    return (await this.#ask(LogLines, "GET", `${serverPath(name)}/logs?lines=${lines}`)).lines;
  }

  tools(name: string) {
    return this.#ask(Tools, "GET", `${serverPath(name)}/tools`);
  }

  setTools(name: string, enabled: string[] | null) {
    return this.#ask(Tools, "PUT", `${serverPath(name)}/tools`, { enabled });
  }

  history(name: string): Promise<ServerHistory> {
    return this.#ask(ServerHistory, "GET", `${serverPath(name)}/history`);
  }

  allTools(): Promise<ToolList> {
    return this.#ask(AllTools, "GET", "/api/tools");
  }

  async waiting(): Promise<WaitingTool[]> {
    const { items } = await this.reviews().list();
    return items.flatMap(({ server, tool, state, kind }): WaitingTool[] => {
      if (state !== "quarantined" && state !== "held") return [];
      const isServed = state === "held" && (kind === "changed" || kind === "invalid");
      // What is in parentheses is a text of the server's and no tool.
      return tool.startsWith("(") ? [] : [{ server, name: tool, state, isServed }];
    });
  }

  /** Tools by what they can do; the query as `/api/search` takes it. */
  search(query: URLSearchParams): Promise<SearchAnswer> {
    // The first search makes the index.
    return this.#ask(SearchAnswer, "GET", `/api/search?${query}`, undefined, SLOW_MS);
  }

  async callTool(call: ToolCall): Promise<ToolResult> {
    // Loaded when needed: the SDK takes longer to load than all else here together.
    const { callThroughDoor } = await import("./door_call.ts");
    return await callThroughDoor(this.#address, call, this.#credential);
  }

  toolsets() {
    // The first count of tokens loads a tokenizer, which a busy machine takes its time for.
    return Promise.resolve(
      new ToolsetClient((schema, method, path, body) =>
        this.#ask(schema, method, path, body, SLOW_MS)
      ),
    );
  }

  reviews(): ReviewClient {
    // A change of policy connects to the server anew.
    return new ReviewClient((schema, method, path, body) =>
      this.#ask(schema, method, path, body, SLOW_MS)
    );
  }

  consents(): ConsentClient {
    return new ConsentClient((schema, method, path, body) =>
      this.#ask(schema, method, path, body, SLOW_MS)
    );
  }

  logins(): LoginClient {
    return new LoginClient((schema, method, path, body) =>
      this.#ask(schema, method, path, body, SLOW_MS)
    );
  }

  /** The first use of it loads what is kept, which a busy machine takes its time for. */
  optimization(): OptimizationClient {
    return new OptimizationClient((schema, method, path, body, limitMs = SLOW_MS) =>
      this.#ask(schema, method, path, body, limitMs)
    );
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
    const value: unknown = await response.json().catch(() => undefined);
    const parsed = response.ok ? schema.safeParse(value) : undefined;
    if (parsed?.success) return parsed.data;
    const refused = ErrorAnswer.safeParse(value);
    if (refused.success) {
      const { errorType, hint, ...details } = refused.data.error;
      throw new GatewayError(errorType, { ...details, ...(hint === undefined ? {} : { hint }) });
    }
    throw new GatewayError("SERVER_DISCONNECTED", {
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
          body: JSON.stringify(body ?? {}),
        }),
      });
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === "TimeoutError";
      throw new GatewayError(isLate ? "TIMEOUT" : "SERVER_DISCONNECTED", {
        message: isLate
          ? `The gateway at ${this.#address} did not answer within ${limitMs / 1000} s`
          : `The gateway at ${this.#address} does not answer`,
        recoverySteps: ["See `deno task cli status`"],
        cause: error,
      });
    }
  }
}

function serverPath(name: string): string {
  return `/api/servers/${encodeURIComponent(name)}`;
}
