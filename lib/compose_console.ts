import type { Catalog } from "./catalog/catalog.ts";
import type { CatalogTool } from "./catalog/catalog_tool.ts";
import type { ServersContext } from "./config/mcp_file.ts";
import type { Pasted } from "./config/pasted_servers.ts";
import type { ServerPool } from "./downstream/server_pool.ts";
import { RemovedServers } from "./surfaces/removed_servers.ts";
import type { ToolAnswer, ToolCall, ToolCalls, TriedGate } from "./surfaces/tool_calls.ts";
import type { AnsweredCall } from "./telemetry/call_recorder.ts";

export interface ComposeConsoleInput {
  context: ServersContext;
  catalog: Catalog;
  pool: ServerPool;
  gate: TriedGate;
  onToolCall(call: AnsweredCall): void;
}

const NO_VARIABLES = { get: () => undefined };

/** What only a person at the console does; loaded when somebody does it. */
export function composeConsole({ context, catalog, pool, gate, onToolCall }: ComposeConsoleInput) {
  let calls: ToolCalls | undefined;
  return {
    removedServers: new RemovedServers(),
    toolCalls: {
      async call(call: ToolCall): Promise<ToolAnswer> {
        const { ToolCalls } = await import("./surfaces/tool_calls.ts");
        calls ??= new ToolCalls({ catalog, pool, gate, onCall: onToolCall });
        return await calls.call(call);
      },
      /** Whether somebody has to agree to a call because of a mode. */
      mustConfirm: (tool: CatalogTool, principal: string): boolean =>
        gate.mustConfirm({ tool, principal }),
      /** Has it noted that somebody may not call a tool; one that there is not is not worth a line. */
      refused(
        { server, tool, principal }: Pick<ToolCall, "server" | "tool" | "principal">,
        error: unknown,
      ): void {
        if (!catalog.of(server).tools.some(({ name }) => name === tool)) return;
        gate.refused({ subject: `${server}.${tool}`, principal }, error);
      },
    },
    /**
     * Reads what somebody pasted. The gateway's variables are filled in only for a person at this
     * machine: anybody else could have them sent to an address of their own.
     */
    async readPasted(text: string, isFromHere: boolean): Promise<Pasted> {
      const { readPasted } = await import("./config/pasted_servers.ts");
      return await readPasted(text, isFromHere ? context : { ...context, env: NO_VARIABLES });
    },
  };
}
