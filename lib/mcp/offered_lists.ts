import { createHash } from "node:crypto";
import type { Catalog, ServerTools } from "../catalog/catalog.ts";
import { canonicalText } from "../catalog/catalog_tool.ts";
import { offerOf } from "../catalog/listed_to.ts";
import { EVERYONE, ownerOf } from "../core/access.ts";
import { asAbortSignal, type CancelSignal, settledWithin } from "../core/async.ts";
import type { ClientProfile } from "../core/client.ts";
import { getOrMake } from "../core/defined.ts";
import { errorText, resultText, type RpcMessage } from "../core/rpc.ts";
import type { Call, Connection } from "../servers/connection.ts";
import type { ManagedServer } from "../servers/server.ts";
import { listToolTexts } from "../servers/tool_list.ts";

/** How long a client's first list waits for the lists of servers for clients like it. */
const WAIT_MS = 2_000;
/** A server that takes longer to list its tools is probed again later. */
const PROBE_MS = 20_000;
/** Each probe of a program starts it once more. */
const AT_ONCE = 4;
/** After a probe that failed. */
const AGAIN_MS = 60_000;
/** A server that announces a change with every list must not be listed without end. */
const MOST_LISTS = 3;
/** Of each server; beyond this many, the oldest is probed again. */
const MOST_OFFERS = 20;
/** Of one owner: stateless clients can offer something else with each request. */
const OFFERS_A_MINUTE = 10;

const LIST_CHANGED = "notifications/tools/list_changed";

interface OfferedListsOptions {
  catalog: Catalog;
  /** A server lists these tools to clients with this offer. */
  onListed(server: string, offer: string, tools: string[]): Promise<void>;
  signal: AbortSignal;
}

interface Probe {
  /** The server's list for everyone when it was probed: a different list means another probe. */
  shared: string;
  probing: Promise<void> | undefined;
  /** What it lists to clients with the offer, as it came. */
  tools?: string[];
  failedAt?: number;
}

/**
 * Finds out what servers list to clients that offer capabilities: a short connection with the same
 * capabilities, once per server and offer. A client's own connection opens only for its calls.
 */
export class OfferedLists {
  readonly #options: OfferedListsOptions;
  readonly #probes = new WeakMap<ManagedServer, Map<string, Probe>>();
  readonly #digests = new WeakMap<ServerTools, string>();
  /** What each owner's clients have had probed in the last minute. */
  readonly #recent = new Map<string, { since: number; offers: Set<string> }>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: OfferedListsOptions) {
    this.#options = options;
  }

  /** Resolves when these servers' lists for such a client are known, or after 2 s; undefined if they are. */
  known(
    servers: Iterable<ManagedServer>,
    profile: ClientProfile,
    signal: CancelSignal,
    principal = EVERYONE,
  ): Promise<void> | undefined {
    const offer = offerOf(profile);
    if (offer === "") return undefined;
    const mayBegin = () => this.#mayBegin(ownerOf(principal), offer);
    const probing = [...servers].flatMap((server) =>
      this.#probe(server, offer, profile, mayBegin) ?? []
    );
    if (probing.length === 0) return undefined;
    return settledWithin(Promise.all(probing), WAIT_MS, asAbortSignal(signal));
  }

  /** What the server lists to such a client, as it came; undefined if that is not known. */
  find(server: ManagedServer, profile: ClientProfile): string[] | undefined {
    return this.#probes.get(server)?.get(offerOf(profile))?.tools;
  }

  /** The probe that is under way, begun if one is needed. */
  #probe(
    server: ManagedServer,
    offer: string,
    profile: ClientProfile,
    mayBegin: () => boolean,
  ): Promise<void> | undefined {
    const { status, info, isAsleep, isSwitchedOff } = server;
    if (status.state !== "ready" || isAsleep || isSwitchedOff || !info?.capabilities.tools) {
      return undefined;
    }
    const shared = this.#sharedList(server.name);
    const probes = getOrMake(this.#probes, server, () => new Map<string, Probe>());
    const known = probes.get(offer);
    const isCurrent = known?.failedAt === undefined
      ? known?.shared === shared
      : Date.now() - known.failedAt < AGAIN_MS;
    if (known && (known.probing || isCurrent)) return known.probing;
    if (!mayBegin()) return undefined;
    const probe: Probe = { shared, probing: undefined };
    probe.probing = this.#inTurn(() => this.#list(server, profile))
      .then(async (tools) => {
        await this.#options.onListed(server.name, offer, tools);
        probe.tools = tools;
      })
      .catch(() => {
        probe.failedAt = Date.now();
      })
      .finally(() => {
        probe.probing = undefined;
      });
    probes.delete(offer);
    probes.set(offer, probe);
    if (probes.size > MOST_OFFERS) probes.delete(probes.keys().next().value!);
    return probe.probing;
  }

  /** Whether an owner's clients may have servers probed for this offer now. */
  #mayBegin(owner: string, offer: string): boolean {
    const now = Date.now();
    let recent = this.#recent.get(owner);
    if (!recent || now - recent.since > AGAIN_MS) {
      this.#recent.set(owner, recent = { since: now, offers: new Set() });
    }
    if (recent.offers.size >= OFFERS_A_MINUTE && !recent.offers.has(offer)) return false;
    recent.offers.add(offer);
    return true;
  }

  /** Identifies what the server lists to all. */
  #sharedList(server: string): string {
    const { catalog } = this.#options;
    return getOrMake(this.#digests, catalog.of(server), ({ tools }) => {
      const texts = tools.filter(({ listedTo }) => !listedTo).map(canonicalText);
      return createHash("sha1").update(texts.join()).digest("base64");
    });
  }

  async #list(server: ManagedServer, profile: ClientProfile): Promise<string[]> {
    // Its requests say what their client offers.
    if (server.isStateless) {
      const shared = {
        has: () => true,
        call: (call: Call) => server.call({ ...call, client: profile }),
      };
      return await listToolTexts(shared, server.name, PROBE_MS);
    }
    const limit = AbortSignal.timeout(PROBE_MS);
    const signal = AbortSignal.any([this.#options.signal, limit]);
    const { capabilities, clientInfo, protocolVersion } = profile;
    let changes = 0;
    const opened: Promise<Connection> = server.openOwn({
      capabilities,
      ...(clientInfo ? { clientInfo } : {}),
      protocolVersion,
      signal,
      stake: () => "calls",
      events: {
        onLog: () => {},
        onClose: () => {},
        onMessage: (_, message) => {
          if (message.kind === "request") void answer(opened, message).catch(() => {});
          else if (message.kind === "notification" && message.method === LIST_CHANGED) changes++;
        },
      },
    });
    const connection = await opened;
    try {
      for (let lists = 1;; lists++) {
        const before = changes;
        const tools = await listToolTexts(connection, server.name, PROBE_MS);
        if (changes === before || lists === MOST_LISTS) return tools;
      }
    } finally {
      await connection.end(0);
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

/** No client is behind the probe: it answers pings, and nothing else. */
async function answer(
  connection: Promise<Connection>,
  { id, method }: RpcMessage & { kind: "request" },
): Promise<void> {
  const text = method === "ping"
    ? resultText(id, "{}")
    : errorText(id, -32603, "This connection only lists tools");
  await (await connection).answer(text);
}
