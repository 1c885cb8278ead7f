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
  /** Keeps only advice that this client can follow; missing if the client can follow all of it. */
  explain?(error: unknown): unknown;
  /** The tools that would be listed to it now. */
  listed?(): ListedTools;
  /** The lists that the client received; missing if they never change. */
  readonly lists?: ClientLists;
}

/**
 * The response to a request. A tool call comes with its record, whether it failed or not; a list that
 * the gateway made comes with its result, which has only the members of revisions with sessions, and
 * with how long it is good, if a server has said that.
 */
export type Answer =
  | { text: string; call?: CallRecord; list?: string; ttlMs?: number | undefined }
  | { error: unknown; call: CallRecord };
