import { Client, type ClientCapabilities } from "@modelcontextprotocol/client";
import { DiscoverResultSchema } from "@modelcontextprotocol/core";
import type {
  Implementation,
  InitializeResult,
  ServerCapabilities,
} from "@modelcontextprotocol/sdk/types";
import * as z from "zod";
import { STATELESS_VERSION } from "../core/client.ts";
import { SERVER_INFO_KEY } from "../core/stateless.ts";
import { GatewayError } from "../core/errors.ts";
import { isObject, memberText, parseJson, type Unchecked } from "../core/rpc.ts";
import { type Channel, DISCOVER, INITIALIZE, SdkSession, SdkWire } from "./sdk_client.ts";
import { GATEWAY_INFO, type Introduction } from "./stateless_request.ts";
import { ScopeRequired, TransportClosed } from "./transports/transport.ts";

/** How long a server of unknown revision has to answer the probe before it is initialized instead. */
const PROBE_MS = 1_000;
/** The same for one that spoke 2026-07-28 before, and may have been replaced by an older one. */
const LONG_PROBE_MS = 15_000;
/** The longest that a timer can wait: the connection's own limit ends a handshake, or its signal. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** Those with sessions; the first is offered. */
const SESSION_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

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

/** Which of the two kinds of revisions a server speaks: with sessions, or 2026-07-28 without. */
export type Era = "sessions" | "stateless";

export interface Handshake {
  info: ServerInfo;
  /** How the connection is used. */
  era: Era;
  /** How the next one should begin: a server may speak both, and prefer the newer one. */
  next: Era;
  /** What the SDK's client does from now on. */
  session: SdkSession;
}

interface NegotiationOptions extends Introduction {
  serverName: string;
  /** What the server spoke last. Unknown, it is probed. */
  era?: Era | undefined;
  probeMs?: number | undefined;
}

/**
 * Has the SDK's client find out which revision a server speaks, and complete the handshake. Servers
 * that are known to have sessions are not probed: that costs them nothing, and one that was upgraded
 * refuses to be initialized. Some programs ignore requests before they are initialized; they are
 * initialized after a short while without waiting for the probe any longer.
 */
export async function shakeHands(
  channel: Channel,
  options: NegotiationOptions,
): Promise<Handshake> {
  const { era } = options;
  if (era !== "sessions") return await new Negotiation(channel, options).begin("auto");
  try {
    return await new Negotiation(channel, options).begin("sessions");
  } catch (refusal) {
    if (!isRefused(refusal)) throw refusal;
    return await new Negotiation(channel, options).begin("stateless").catch((error) => {
      const isBroken = error instanceof TransportClosed && !isRefused(error);
      throw isBroken ? error : refusal;
    });
  }
}

/** One client of the SDK on its way to a connection. */
class Negotiation {
  readonly #channel: Channel;
  readonly #options: NegotiationOptions;
  readonly #wire: SdkWire;
  /** What the server said about itself, as it came. */
  readonly #said = new Map<string, string>();

  constructor(channel: Channel, options: NegotiationOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#wire = new SdkWire(channel, (method, text) => this.#said.set(method, text));
  }

  async begin(how: Era | "auto"): Promise<Handshake> {
    const client = this.#client(how);
    const prior = how === "sessions" ? { prior: { kind: "legacy" } as const } : {};
    try {
      await client.connect(this.#wire, { timeout: NO_LIMIT_MS, ...prior });
    } catch (error) {
      const refusal = this.#asRefusal(error);
      // One that starts slowly has both before it: what it refuses last is not what it speaks.
      const found = isRefused(refusal) && how === "auto" ? await this.#lateDiscovery() : undefined;
      if (!found) throw refusal;
      return await this.#adopt(found);
    } finally {
      this.#wire.abandonProbe();
    }
    return this.#settled(client);
  }

  #client(how: Era | "auto"): Client {
    const { capabilities, clientInfo, protocolVersion, probeMs, era } = this.#options;
    const offered = SESSION_VERSIONS.filter((version) => version !== protocolVersion);
    if (protocolVersion && protocolVersion < STATELESS_VERSION) offered.unshift(protocolVersion);
    const timeoutMs = probeMs ?? (era === "stateless" ? LONG_PROBE_MS : PROBE_MS);
    return new Client(asImplementation(clientInfo ?? GATEWAY_INFO), {
      ...(isCapabilities(capabilities) ? { capabilities } : {}),
      supportedProtocolVersions: [STATELESS_VERSION, ...offered],
      versionNegotiation: how === "auto"
        ? { mode: "auto", probe: { timeoutMs } }
        : { mode: { pin: STATELESS_VERSION }, probe: { timeoutMs: LONG_PROBE_MS } },
    });
  }

  async #lateDiscovery(): Promise<ServerInfo | undefined> {
    await this.#wire.probeEnded;
    return this.#discovered();
  }

  #discovered(): ServerInfo | undefined {
    const text = this.#said.get(DISCOVER);
    return text === undefined ? undefined : readDiscovery(text, this.#options.serverName);
  }

  async #adopt({ capabilities, instructions, serverInfo }: ServerInfo): Promise<Handshake> {
    const discover = DiscoverResultSchema.parse({
      supportedVersions: [STATELESS_VERSION],
      capabilities,
      instructions,
      _meta: { [SERVER_INFO_KEY]: serverInfo },
    });
    const client = this.#client("stateless");
    await client.connect(new SdkWire(this.#channel), { prior: { kind: "modern", discover } });
    return this.#settled(client);
  }

  #settled(client: Client): Handshake {
    const discovered = this.#discovered();
    const era = client.getProtocolEra() === "modern" ? "stateless" : "sessions";
    const info = era === "stateless" ? discovered : readInitialized(this.#said.get(INITIALIZE));
    if (!info) throw this.#refusal("its response is invalid");
    const { serverName } = this.#options;
    return {
      info,
      era,
      next: discovered ? "stateless" : "sessions",
      session: new SdkSession({ client, channel: this.#channel, serverName }),
    };
  }

  /** What the transport said is kept; what the SDK says of an answer becomes a refusal. */
  #asRefusal(error: unknown): unknown {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    if (cause instanceof TransportClosed || cause instanceof GatewayError) return cause;
    const answer = this.#said.get(INITIALIZE);
    if (answer === undefined) return cause;
    const said = parseJson(memberText(answer, "error") ?? "null");
    if (isObject(said) && typeof said.message === "string") return this.#refusal(said.message);
    const info = readInitialized(answer);
    return this.#refusal(
      info
        ? `it speaks MCP ${info.protocolVersion}, which is not supported`
        : "its response to initialize is invalid",
    );
  }

  #refusal(why: string): HandshakeRefused {
    return new HandshakeRefused("SERVER_DISCONNECTED", {
      message: `Server "${this.#options.serverName}" refused the handshake: ${why}`,
    });
  }
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

function readInitialized(text: string | undefined): ServerInfo | undefined {
  return ServerInfo.safeParse(parseJson(memberText(text ?? "{}", "result") ?? "null")).data;
}

/** As the client wrote it; the SDK needs a name and a version. */
function asImplementation(said: Unchecked<Implementation>): Implementation {
  if (isImplementation(said)) return said;
  const { name, version } = said;
  return {
    name: typeof name === "string" ? name : "unknown",
    version: typeof version === "string" ? version : "",
  };
}

function isImplementation(said: Unchecked<Implementation>): said is Implementation {
  return typeof said.name === "string" && typeof said.version === "string";
}

/** They are sent as the client wrote them. */
function isCapabilities(said: unknown): said is ClientCapabilities {
  return isObject(said);
}

class HandshakeRefused extends GatewayError {}

/** Whether a server answered, but not what was asked. */
function isRefused(error: unknown): boolean {
  return error instanceof HandshakeRefused ||
    // A login without the scope for it says nothing of what the server speaks.
    (error instanceof TransportClosed && error.kind === "refused" &&
      !(error instanceof ScopeRequired));
}
