import type { Catalog } from "./catalog/catalog.ts";
import type { ServersContext } from "./config/mcp_file.ts";
import { type Pasted, readPasted } from "./config/pasted_servers.ts";
import type { ServerPool } from "./downstream/server_pool.ts";
import { RemovedServers } from "./surfaces/removed_servers.ts";
import { ToolCalls } from "./surfaces/tool_calls.ts";
import type { AnsweredCall } from "./telemetry/call_recorder.ts";

export interface ComposeConsoleInput {
  context: ServersContext;
  catalog: Catalog;
  pool: ServerPool;
  onToolCall(call: AnsweredCall): void;
}

const NO_VARIABLES = { get: () => undefined };

/** What only a person at the console does. */
export function composeConsole({ context, catalog, pool, onToolCall }: ComposeConsoleInput) {
  return {
    removedServers: new RemovedServers(),
    toolCalls: new ToolCalls({ catalog, pool, onCall: onToolCall }),
    /**
     * Reads what somebody pasted. The gateway's variables are filled in only for a person at this
     * machine: anybody else could have them sent to an address of their own.
     */
    readPasted: (text: string, isFromHere: boolean): Promise<Pasted> =>
      readPasted(text, isFromHere ? context : { ...context, env: NO_VARIABLES }),
  };
}
