import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import { CallToolResultSchema, McpError } from "@modelcontextprotocol/sdk/types.js";
import { GatewayError } from "../core/errors.ts";
import { VERSION } from "../core/product.ts";
import { parseError } from "../core/error_body.ts";
import type { Credential } from "./gateway_client.ts";
import type { ToolCall, ToolResult } from "./operation_target.ts";

/** The gateway keeps the server's own limit; this one only has to be longer. */
const LIMIT_MS = 86_400_000;

/** Calls a tool at the endpoint of its server, as any MCP client would. */
export async function callThroughEndpoint(
  address: string,
  call: ToolCall,
  credential: Credential,
): Promise<ToolResult> {
  const { server, tool, args, signal, onProgress } = call;
  const endpoint = new URL(`/servers/${encodeURIComponent(server)}/mcp?names=original`, address);
  const client = new Client({ name: "quartermaster-cli", version: VERSION });
  const transport = new StreamableHTTPClientTransport(endpoint, {
    fetch: (url, init) => credential.fetch(url, init ?? {}),
  });
  try {
    // The SDK's own types do not hold under exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client["connect"]>[0], { signal });
    return await client.request(
      { method: "tools/call", params: { name: tool, arguments: args } },
      CallToolResultSchema,
      {
        signal,
        timeout: LIMIT_MS,
        onprogress: ({ progress, total, message }) => onProgress({ progress, total, message }),
      },
    );
  } catch (error) {
    signal.throwIfAborted();
    throw explained(error, address);
  } finally {
    // Ends what is still under way for this session, a cancelled call included.
    await transport.terminateSession().catch(() => {});
    await client.close();
  }
}

function explained(error: unknown, address: string): unknown {
  if (error instanceof GatewayError) return error;
  const failure = error instanceof McpError ? parseError(error.data, error) : undefined;
  if (failure) return failure;
  const words = error instanceof Error ? error.message : String(error);
  return new GatewayError("SERVER_DISCONNECTED", {
    message: `The gateway at ${address} could not run the call: ${words}`,
    recoverySteps: ["See `quartermaster server list`"],
    cause: error,
  });
}
