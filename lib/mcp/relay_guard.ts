import type { Client, McpRequest } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { errorText, type RpcMessage } from "../core/rpc.ts";
import type { Call } from "../servers/connection.ts";
import { messageTooDeep, nestsTooDeep } from "../servers/transports/messages.ts";
import type { ContentGuard } from "../trust/content_guard/guard.ts";
import type { TaskRounds } from "./awaited_task.ts";

/**
 * What may pass between one client and one server: nothing that clients cannot parse, and what the
 * content guard, if there is one, lets through.
 */
export class RelayGuard {
  readonly guard: ContentGuard | undefined;
  readonly #server: { readonly name: string };
  readonly #client: Client;

  constructor(guard: ContentGuard | undefined, server: { readonly name: string }, client: Client) {
    this.guard = guard;
    this.#server = server;
    this.#client = client;
  }

  /** Throws SECRET_IN_ARGUMENTS. */
  checkArguments(request: McpRequest, { method, params }: Call): void {
    this.guard?.checkArguments(this.#use(request), method, params);
  }

  /** Throws LIMIT_EXCEEDED, ANSWER_BLOCKED or FORM_REFUSED. */
  answer(request: McpRequest, text: string): string {
    if (nestsTooDeep(text)) throw messageTooDeep(this.#server.name);
    return this.guard?.answer(this.#use(request), request.method, text) ?? text;
  }

  /** Rejects with a cleaned error, because transport errors quote the server's text. */
  async failure<T>(request: McpRequest, sent: Promise<T>): Promise<T> {
    try {
      return await sent;
    } catch (error) {
      if (!this.guard || !(error instanceof GatewayError)) throw error;
      throw this.guard.error(this.#use(request), request.method, error);
    }
  }

  /** Undefined if it must not reach the client. */
  notification(request: McpRequest | undefined, method: string, text: string): string | undefined {
    if (nestsTooDeep(text)) return undefined;
    return this.guard?.notification(this.#use(request), method, text) ?? text;
  }

  question(
    request: McpRequest | undefined,
    text: string,
    message: Extract<RpcMessage, { kind: "request" }>,
  ): { text: string } | { refusal: string } {
    if (nestsTooDeep(text)) {
      const error = new GatewayError("INVALID_PARAMS", { message: "The request nests too deep" });
      return { refusal: errorText(message.id, error.rpcCode, error.message) };
    }
    return this.guard?.question(this.#use(request), text, message) ?? { text };
  }

  /** Checks what the gateway makes of a server's answers before the last one. */
  screens(request: McpRequest): Pick<TaskRounds, "screen" | "screenNotification"> {
    return {
      screen: (method, params) => {
        if (nestsTooDeep(params)) throw messageTooDeep(this.#server.name);
        return this.guard?.questionParams(this.#use(request), method, params) ?? params;
      },
      screenNotification: (method, text) => this.notification(request, method, text),
    };
  }

  #use(request: McpRequest | undefined) {
    return { server: this.#server, client: this.#client, request };
  }
}
