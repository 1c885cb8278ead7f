import { timingSafeEqual } from "node:crypto";
import type { TimeoutQueue } from "../core/timeout_queue.ts";
import { GatewayError } from "../core/errors.ts";
import { EVERYONE } from "../core/principal.ts";
import type { ShownTool } from "../optimizer/evaluator.ts";
import { SessionManager } from "../sessions/session_manager.ts";
import { EvalSurface } from "../surfaces/eval_surface.ts";
import type { Logger } from "../telemetry/logs.ts";
import { errorResponse } from "./error_response.ts";
import { Guard } from "./guard.ts";
import { type Door, handleMcp } from "./mcp_door.ts";

const HOST = "127.0.0.1";
const MAX_BODY = 1024 * 1024;
/** How long the listener stays for the next run before it is closed. */
const LINGER_MS = 5_000;
const PATH = /^\/evals\/([0-9a-f-]{36})\/mcp$/;

export interface EvalDoorsOptions {
  log: Logger;
  patience: TimeoutQueue;
  lingerMs?: number;
}

/** One run's way to its tools. */
export interface EvalDoor extends AsyncDisposable {
  url: string;
  /** Good for this run alone. */
  token: string;
}

interface Room {
  token: string;
  door: Door;
}

/**
 * Doors for evaluation runs, on a listener of their own: on loopback whatever the gateway listens on,
 * also where it listens on nothing, and there only while something is evaluated.
 */
export class EvalDoors implements AsyncDisposable {
  readonly #options: EvalDoorsOptions;
  readonly #rooms = new Map<string, Room>();
  readonly #sessions: SessionManager;
  #server: Deno.HttpServer<Deno.NetAddr> | undefined;
  #guard: Guard | undefined;
  #closing: ReturnType<typeof setTimeout> | undefined;

  constructor(options: EvalDoorsOptions) {
    this.#options = options;
    this.#sessions = new SessionManager({
      // They end with their run: nothing of them is kept.
      records: {
        save: () => Promise.resolve(),
        find: () => Promise.resolve(undefined),
        delete: () => Promise.resolve(),
      },
      onWarning: (message, details) => options.log.warn(details, message),
    });
  }

  open(tools: readonly ShownTool[]): EvalDoor {
    clearTimeout(this.#closing);
    const server = this.#server ??= this.#listen();
    const id = crypto.randomUUID();
    const token = randomToken();
    const key = `evals/${id}?`;
    this.#rooms.set(id, { token, door: { key, surface: new EvalSurface(tools) } });
    return {
      url: `http://${HOST}:${server.addr.port}/evals/${id}/mcp`,
      token,
      [Symbol.asyncDispose]: async () => {
        this.#rooms.delete(id);
        const own = this.#sessions.list().filter(({ door }) => door === key);
        await Promise.all(own.map((session) => this.#sessions.end(session)));
        if (this.#rooms.size > 0) return;
        clearTimeout(this.#closing);
        this.#closing = setTimeout(() => void this.#close(), this.#options.lingerMs ?? LINGER_MS);
        Deno.unrefTimer(this.#closing as unknown as number);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#closing);
    this.#rooms.clear();
    await this.#sessions[Symbol.asyncDispose]();
    await this.#close();
  }

  #listen(): Deno.HttpServer<Deno.NetAddr> {
    const server = Deno.serve(
      { hostname: HOST, port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
    this.#guard = new Guard({ host: HOST, port: server.addr.port, maxBody: MAX_BODY });
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
      const room = this.#rooms.get(PATH.exec(new URL(request.url).pathname)?.[1] ?? "");
      if (!room) throw new GatewayError("NOT_FOUND", { message: "There is no such run" });
      if (!isToken(request.headers.get("authorization"), room.token)) {
        return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
      }
      const { log, patience } = this.#options;
      const host = {
        sessions: this.#sessions,
        maxBody: MAX_BODY,
        log,
        patience,
        onCall: () => {},
        switchProject: (principal: string) => principal,
      };
      return await handleMcp(host, { door: room.door, request, principal: EVERYONE });
    } catch (error) {
      return errorResponse(error, requestId);
    }
  }
}

function randomToken(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}

function isToken(header: string | null, token: string): boolean {
  const [given, wanted] = [header ?? "", `Bearer ${token}`].map((text) =>
    new TextEncoder().encode(text)
  );
  return given!.length === wanted!.length && timingSafeEqual(given!, wanted!);
}
