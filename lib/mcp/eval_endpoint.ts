import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import { errorText, resultText } from "../core/rpc.ts";
import { VERSION } from "../core/product.ts";
import type { RunSteps, ShownTool } from "../optimizer/evaluators/evaluator.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { defined } from "../core/defined.ts";
import type { TimeoutQueue } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import { EVERYONE } from "../core/access.ts";
import { toolNameOf } from "./call.ts";
import { Sessions } from "./session.ts";
import type { Logger } from "../telemetry/logs.ts";
import { errorResponse } from "../http/handle_request.ts";
import { Guard } from "../http/guard.ts";
import { handleMcp } from "./endpoint.ts";
import type { McpEndpoint } from "./endpoint_host.ts";
import { EnvelopeReader } from "./envelope.ts";
import { HeldCalls } from "./held_calls.ts";
import { ListText } from "./list_changes.ts";
import type { View } from "./view.ts";

const HOST = "127.0.0.1";
const MAX_BODY = 1024 * 1024;
/** How long the listener stays for the next run before it is closed. */
const LINGER_MS = 5_000;
const PATH = /^\/evals\/([0-9a-f-]{36})\/mcp$/;

interface EvalEndpointsOptions {
  log: Logger;
  patience: TimeoutQueue;
  lingerMs?: number;
}

/** Always on loopback, and only while something is evaluated, whatever the gateway listens on. */
export class EvalEndpoints implements AsyncDisposable {
  readonly #options: EvalEndpointsOptions;
  readonly #runs = new Map<string, { token: string; endpoint: McpEndpoint }>();
  readonly #sessions: Sessions;
  readonly #held = new HeldCalls();
  readonly #envelopes = new EnvelopeReader();
  #server: Deno.HttpServer<Deno.NetAddr> | undefined;
  #guard: Guard | undefined;
  #closing: ReturnType<typeof setTimeout> | undefined;

  constructor(options: EvalEndpointsOptions) {
    this.#options = options;
    this.#sessions = new Sessions({
      // They end with their run: nothing of them is kept.
      records: {
        save: () => Promise.resolve(),
        find: () => Promise.resolve(undefined),
        delete: () => Promise.resolve(),
      },
      onWarning: (message, details) => options.log.warn(details, message),
    });
  }

  open(tools: readonly ShownTool[], steps?: RunSteps) {
    clearTimeout(this.#closing);
    const server = this.#server ??= this.#listen();
    const id = crypto.randomUUID();
    const token = crypto.getRandomValues(new Uint8Array(32)).toHex();
    const key = `evals/${id}?`;
    this.#runs.set(id, { token, endpoint: { key, view: evalView(tools, steps) } });
    return {
      url: `http://${HOST}:${server.addr.port}/evals/${id}/mcp`,
      token,
      [Symbol.asyncDispose]: async () => {
        this.#runs.delete(id);
        const own = this.#sessions.list().filter(({ endpoint }) => endpoint === key);
        await Promise.all(own.map((session) => this.#sessions.end(session)));
        if (this.#runs.size > 0) return;
        clearTimeout(this.#closing);
        this.#closing = setTimeout(() => void this.#close(), this.#options.lingerMs ?? LINGER_MS);
        Deno.unrefTimer(Number(this.#closing));
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#closing);
    this.#runs.clear();
    this.#held[Symbol.dispose]();
    await this.#sessions[Symbol.asyncDispose]();
    await this.#close();
  }

  #listen(): Deno.HttpServer<Deno.NetAddr> {
    const server = Deno.serve(
      { hostname: HOST, port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
    const { port } = server.addr;
    this.#guard = new Guard({ host: HOST, port, maxBody: MAX_BODY, needsHostHeader: true });
    return server;
  }

  async #close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    // What a program that was ended has left open is not waited for.
    await server?.shutdown().catch(() => {});
  }

  async #answer(request: Request): Promise<Response> {
    const requestId = crypto.randomUUID();
    try {
      this.#guard?.check(request);
      const run = this.#runs.get(PATH.exec(new URL(request.url).pathname)?.[1] ?? "");
      if (!run) throw new GatewayError("NOT_FOUND", { message: "Run not found" });
      if (!isToken(request.headers.get("authorization"), run.token)) {
        return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
      }
      const { log, patience } = this.#options;
      const host = {
        sessions: this.#sessions,
        held: this.#held,
        envelopes: this.#envelopes,
        maxBody: MAX_BODY,
        log,
        patience,
        onAnswered: () => {},
        switchProject: (principal: string) => principal,
      };
      return await handleMcp(host, { endpoint: run.endpoint, request, principal: EVERYONE });
    } catch (error) {
      return errorResponse(error, requestId);
    }
  }
}

/** What every tool answers: enough for a model to stop, and nothing it could build on. */
const CANNED = {
  content: [{ type: "text", text: "This is a trial: the tool was not run, and nothing happened." }],
};

/** The tools of one evaluation run, as its model is to see them. Nothing leads to a server. */
function evalView(tools: readonly ShownTool[], steps: RunSteps | undefined): View {
  const listed = steps?.listed ?? tools.map(({ text }) => text);
  const list = new ListText(`{"tools":[${listed.join(",")}]}`);
  const answer = async (request: McpRequest, client: Client): Promise<string> => {
    const { id, method, params } = request;
    switch (method) {
      case "ping":
        return resultText(id, "{}");
      case "tools/list":
        return resultText(id, list.textFor(client.profile));
      case "tools/call": {
        const name = toolNameOf(params);
        const isChoice = steps
          ? steps.choiceOf({ name, arguments: params.arguments ?? {} }) !== undefined
          : tools.some((tool) => tool.name === name);
        if (isChoice) return resultText(id, JSON.stringify(CANNED));
        if (steps?.isStep(name)) {
          return resultText(id, JSON.stringify(await steps.answer(request, client)));
        }
        return errorText(id, -32602, `There is no tool "${name.slice(0, 200)}"`);
      }
      default:
        return errorText(id, -32601, `Method not found: ${method}`);
    }
  };
  return {
    introduce: () =>
      Promise.resolve({
        capabilities: { tools: {} },
        serverInfo: { name: "quartermaster-trial", version: VERSION },
        ...defined({ instructions: steps?.instructions }),
      }),
    open: (client) => ({
      request: async (request) => ({ text: await answer(request, client) }),
      notify: () => {},
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  };
}

function isToken(header: string | null, token: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ""), Buffer.from(`Bearer ${token}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
