import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { isObject, memberText, notificationText, requestText } from "../core/rpc.ts";
import { VERSION } from "../core/version.ts";
import type { Link } from "./link.ts";

const PROTOCOL_VERSION = "2025-11-25";

/** What a server says of itself in the handshake. */
const InitializeResult = z.looseObject({
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.unknown()).default({}),
  serverInfo: z.looseObject({ name: z.string(), version: z.string().optional() }),
  instructions: z.string().optional(),
});
export type ServerInfo = z.infer<typeof InitializeResult>;

/** Whom a server shakes hands with. */
export interface Introduction {
  /** The capabilities of the client behind this connection; none for a shared one. */
  capabilities: Record<string, unknown>;
  /** The client as it introduced itself; the gateway for a shared connection. */
  clientInfo?: Record<string, unknown>;
  protocolVersion?: string;
}

/** Introduces us and learns what the server can do. */
export async function shakeHands(
  link: Link,
  serverName: string,
  introduction: Introduction,
): Promise<ServerInfo> {
  const params = JSON.stringify({
    protocolVersion: introduction.protocolVersion ?? PROTOCOL_VERSION,
    capabilities: introduction.capabilities,
    clientInfo: introduction.clientInfo ??
      { name: "quartermaster", title: "Quartermaster", version: VERSION },
  });
  const exchange = { streams: false, onMessage: () => {} };
  const text = await link.request(0, requestText(0, "initialize", params), exchange);
  const result = InitializeResult.safeParse(JSON.parse(memberText(text, "result") ?? "null"));
  if (!result.success) {
    throw new GatewayError("SERVER_DISCONNECTED", {
      message: `Server "${serverName}" refused the handshake: ${refusal(text)}`,
    });
  }
  link.setProtocolVersion(result.data.protocolVersion);
  await link.send(notificationText("notifications/initialized"));
  return result.data;
}

function refusal(text: string): string {
  const { error } = JSON.parse(text);
  return isObject(error) ? String(error.message) : "its answer is not one to initialize";
}
