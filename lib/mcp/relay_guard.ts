import type { Client, McpRequest } from "../core/client.ts";
import type { RpcMessage } from "../core/rpc.ts";
import type { Call } from "../servers/connection.ts";
import type { ContentGuard } from "../trust/content_guard/guard.ts";

/** The content guard for one client and one server; without a guard, all passes as it came. */
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

  /** Throws ANSWER_BLOCKED or FORM_REFUSED. */
  answer(request: McpRequest, text: string): string {
    return this.guard?.answer(this.#use(request), request.method, text) ?? text;
  }

  notification(request: McpRequest | undefined, method: string, text: string): string {
    return this.guard?.notification(this.#use(request), method, text) ?? text;
  }

  question(
    request: McpRequest | undefined,
    text: string,
    message: Extract<RpcMessage, { kind: "request" }>,
  ): { text: string } | { refusal: string } {
    return this.guard?.question(this.#use(request), text, message) ?? { text };
  }

  /** The params of questions as the client may see them; throws if it must not see them. */
  screening(request: McpRequest): (method: string, params: string) => string {
    return (method, params) =>
      this.guard?.questionParams(this.#use(request), method, params) ?? params;
  }

  #use(request: McpRequest | undefined) {
    return { server: this.#server, client: this.#client, request };
  }
}
