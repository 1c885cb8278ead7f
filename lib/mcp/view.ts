import type { InitializeResult } from "@modelcontextprotocol/sdk/types";
import type { Unchecked } from "../core/rpc.ts";
import type { Client, McpRequest } from "../core/client.ts";
import type { CallRecord } from "../telemetry/call_recorder.ts";
import type { ListedTools } from "./clients.ts";
import type { ClientLists } from "./list_changes.ts";

/** What an endpoint shows: server_view.ts, combined_view.ts or eval_endpoint.ts. */
export interface View {
  /** The result of initialize without the protocol version, which the session negotiates. */
  introduce(principal: string): Promise<Unchecked<InitializeResult>>;
  open(client: Client): ViewSession;
}

export interface ViewSession extends AsyncDisposable {
  /** Rejects if the request fails before it is known to be a call. */
  request(request: McpRequest): Promise<Answer>;
  notify(method: string, params: Record<string, unknown>, text: string): void;
  /** An error with advice that this client can follow; missing if all of it can be. */
  explain?(error: unknown): unknown;
  /** The tools that it would be listed now. */
  listed?(): ListedTools;
  /** What the client was listed; missing if that never changes. */
  readonly lists?: ClientLists;
}

/** The response to a request. A tool call comes with its record, whether it failed or not. */
export type Answer =
  | { text: string; call?: CallRecord }
  | { error: unknown; call: CallRecord };
