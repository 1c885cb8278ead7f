import type {
  Implementation,
  InitializeResult,
  ServerCapabilities,
} from "@modelcontextprotocol/sdk/types";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { STATELESS_VERSION } from "../core/client.ts";
import { SERVER_INFO_KEY } from "../core/stateless.ts";
import { GatewayError } from "../core/errors.ts";
import {
  isObject,
  memberText,
  notificationText,
  parseJson,
  requestText,
  type Unchecked,
} from "../core/rpc.ts";
import {
  GATEWAY_INFO,
  type Introduction,
  requestHeaders,
  withEnvelope,
} from "./stateless_request.ts";
import {
  type Exchange,
  ScopeRequired,
  type Transport,
  TransportClosed,
} from "./transports/transport.ts";

const PROTOCOL_VERSION = "2025-11-25";
/** How long a server of unknown revision has to answer the probe before it is initialized as well. */
const PROBE_MS = 1_000;
/** The same for one that spoke 2026-07-28 before, and may have been replaced by an older one. */
const LONG_PROBE_MS = 15_000;
const INITIALIZE_ID = 0;
/** The second for a server that refuses the version it then names as supported. */
const DISCOVER_IDS = [1, 2];
/** The first id that a handshake does not use. */
export const FIRST_CALL_ID = 3;

export interface ServerInfo extends Pick<InitializeResult, "protocolVersion" | "instructions"> {
  capabilities: Unchecked<ServerCapabilities>;
  serverInfo: Unchecked<Implementation> & Pick<Implementation, "name">;
}

const ServerInfo: z.ZodType<ServerInfo> = z.looseObject({
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.unknown()).default({}),
  serverInfo: z.looseObject({ name: z.string(), version: z.string().optional() }),
  instructions: z.string().optional(),
});

const Discovery = z.looseObject({
  supportedVersions: z.array(z.string()),
  capabilities: z.record(z.string(), z.unknown()).default({}),
  instructions: z.string().optional(),
  _meta: z.looseObject({
    [SERVER_INFO_KEY]: z.looseObject({ name: z.string() }).optional()
      .catch(undefined),
  }).optional().catch(undefined),
});

const UnsupportedVersion = z.looseObject({
  code: z.literal(-32022),
  data: z.looseObject({ supported: z.array(z.string()) }),
});

/** Which of the two kinds of revisions a server speaks: with sessions, or 2026-07-28 without. */
export type Era = "sessions" | "stateless";

export interface Handshake {
  info: ServerInfo;
  /** How the connection is used. */
  era: Era;
  /** How the next one should begin: a server may speak both, and prefer the newer one. */
  next: Era;
}

interface NegotiationOptions extends Introduction {
  serverName: string;
  /** What the server spoke last. Unknown, it is probed. */
  era?: Era | undefined;
  probeMs?: number | undefined;
}

/**
 * Finds out which revision a server speaks, and completes the handshake if that has one. Servers
 * that are known to have sessions are not probed: that costs them nothing, and one that was upgraded
 * refuses to be initialized. Some programs ignore requests before they are initialized. They are
 * initialized after a short while without waiting for the probe any longer.
 */
export async function shakeHands(
  transport: Transport,
  options: NegotiationOptions,
): Promise<Handshake> {
  if (options.era === "sessions") {
    const info = await initialize(transport, options).catch(async (refusal) => {
      const found = isRefused(refusal) ? await new Probe(transport, options).found : undefined;
      if (found) return found;
      throw refusal;
    });
    return settled(transport, info, info.protocolVersion === STATELESS_VERSION);
  }
  const probe = new Probe(transport, options);
  const stop = new AbortController();
  const { signal } = stop;
  const probeMs = options.probeMs ?? (options.era === "stateless" ? LONG_PROBE_MS : PROBE_MS);
  const wait = sleep(probeMs, undefined, { signal });
  wait.catch(() => {});
  const found = await Promise.race([probe.found, wait]).finally(() => stop.abort());
  if (found) return settled(transport, found, true);
  try {
    const info = await initialize(transport, options);
    return settled(transport, info, probe.isFound);
  } catch (refusal) {
    // One that starts slowly has both before it: what it refuses last is not what it speaks.
    const late = isRefused(refusal) ? await probe.found : undefined;
    if (late) return settled(transport, late, true);
    throw refusal;
  } finally {
    probe.abandon();
  }
}

async function settled(
  transport: Transport,
  info: ServerInfo,
  speaksStateless: boolean,
): Promise<Handshake> {
  transport.setProtocolVersion(info.protocolVersion);
  const era = info.protocolVersion === STATELESS_VERSION ? "stateless" : "sessions";
  if (era === "sessions") await transport.send(notificationText("notifications/initialized"));
  return { info, era, next: speaksStateless ? "stateless" : "sessions" };
}

/** `server/discover`, on its way. */
class Probe {
  /** What the server says of itself if it speaks 2026-07-28; undefined if it does not. */
  readonly found: Promise<ServerInfo | undefined>;
  isFound = false;
  readonly #transport: Transport;
  readonly #wait = new AbortController();

  constructor(transport: Transport, options: NegotiationOptions) {
    this.#transport = transport;
    this.found = this.#send(options);
    this.found.catch(() => {});
  }

  abandon(): void {
    const reason = new DOMException("The server was initialized instead", "AbortError");
    for (const id of DISCOVER_IDS) this.#transport.abandon?.(id, reason);
    this.#wait.abort(reason);
  }

  async #send(options: NegotiationOptions): Promise<ServerInfo | undefined> {
    const params = withEnvelope(undefined, options);
    const headers = requestHeaders(DISCOVER, undefined, new Map());
    const exchange: Exchange = {
      streams: false,
      onMessage: () => {},
      headers: [["mcp-protocol-version", STATELESS_VERSION], ...headers],
      isProbe: true,
      signal: this.#wait.signal,
    };
    try {
      let answer = "";
      for (const id of DISCOVER_IDS) {
        answer = await this.#transport.request(id, requestText(id, DISCOVER, params), exchange);
        if (!asksAgain(answer)) break;
      }
      const info = readDiscovery(answer, options.serverName);
      this.isFound = info !== undefined;
      return info;
    } catch (error) {
      if (isRefused(error)) return undefined;
      throw error;
    }
  }
}

export const DISCOVER = "server/discover";

function asksAgain(text: string): boolean {
  const { data } = UnsupportedVersion.safeParse(parseJson(memberText(text, "error") ?? "null"));
  return data?.data.supported.includes(STATELESS_VERSION) ?? false;
}

/** What a response to `server/discover` says; undefined if that is not a server of 2026-07-28. */
export function readDiscovery(text: string, serverName: string): ServerInfo | undefined {
  const { data } = Discovery.safeParse(parseJson(memberText(text, "result") ?? "null"));
  if (!data?.supportedVersions.includes(STATELESS_VERSION)) return undefined;
  const { capabilities, instructions, _meta } = data;
  return {
    protocolVersion: STATELESS_VERSION,
    capabilities,
    serverInfo: _meta?.[SERVER_INFO_KEY] ?? { name: serverName },
    ...(instructions === undefined ? {} : { instructions }),
  };
}

async function initialize(
  transport: Transport,
  { serverName, ...introduction }: NegotiationOptions,
): Promise<ServerInfo> {
  const { protocolVersion = PROTOCOL_VERSION } = introduction;
  const params = JSON.stringify({
    protocolVersion: protocolVersion === STATELESS_VERSION ? PROTOCOL_VERSION : protocolVersion,
    capabilities: introduction.capabilities,
    clientInfo: introduction.clientInfo ?? GATEWAY_INFO,
  });
  const exchange = { streams: false, onMessage: () => {} };
  const request = requestText(INITIALIZE_ID, "initialize", params);
  const text = await transport.request(INITIALIZE_ID, request, exchange);
  const result = ServerInfo.safeParse(parseJson(memberText(text, "result") ?? "null"));
  if (result.success && result.data.protocolVersion < STATELESS_VERSION) return result.data;
  throw new HandshakeRefused("SERVER_DISCONNECTED", {
    message: `Server "${serverName}" refused the handshake: ${initializeError(text)}`,
  });
}

class HandshakeRefused extends GatewayError {}

/** Whether a server answered, but not what was asked. */
function isRefused(error: unknown): boolean {
  return error instanceof HandshakeRefused ||
    // A login without the scope for it says nothing of what the server speaks.
    (error instanceof TransportClosed && error.kind === "refused" &&
      !(error instanceof ScopeRequired));
}

function initializeError(text: string): string {
  const { error } = JSON.parse(text);
  const message = isObject(error) ? error.message : undefined;
  return typeof message === "string" ? message : "its response to initialize is invalid";
}
