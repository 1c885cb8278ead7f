import type { InitializeResult } from "@modelcontextprotocol/sdk/types";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { CancelSignal } from "../core/async.ts";
import type { Unchecked } from "../core/rpc.ts";
import type { Client, McpRequest } from "../core/client.ts";
import type { ServerStatus } from "../core/server.ts";
import type { ManagedServer } from "../servers/server.ts";
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

/** The part of the servers that a combined view shows to a caller. */
export interface VisibleServers {
  catalog: Catalog;
  findServer(name: string): ManagedServer | undefined;
  /** The tools to list; the same array as long as nothing has changed. */
  tools(principal: string): readonly CatalogTool[];
  servers(principal: string): readonly string[];
  /** The servers whose tools can be called, listed or not; default: `servers`. */
  callable?(principal: string): readonly string[];
  /** Whether a tool exists for this caller; default: all do. */
  admits?(principal: string, tool: CatalogTool): boolean;
  /** The servers that are not up: a name may be one of their tools. */
  away?(principal: string): readonly ServerStatus[];
  /** Waits briefly for servers that are just connecting, so that a list is complete. */
  settled?(principal: string, signal: CancelSignal): Promise<void> | undefined;
  /** For how long the list is good, if a server has said that of its own. */
  ttlMs?(principal: string): number | undefined;
}
