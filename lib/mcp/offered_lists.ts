import { createHash } from "node:crypto";
import type { Catalog, ServerTools } from "../catalog/catalog.ts";
import { nameInText, sentText } from "../catalog/catalog_tool.ts";
import { offerOf, ownOffer } from "../catalog/listed_to.ts";
import { EVERYONE, ownerOf } from "../core/access.ts";
import { asAbortSignal, type CancelSignal, settledWithin } from "../core/async.ts";
import type { Client, ClientProfile } from "../core/client.ts";
import { getOrMake } from "../core/defined.ts";
import { errorText, resultText, type RpcMessage } from "../core/rpc.ts";
import type { Connection } from "../servers/connection.ts";
import { entryHash } from "../servers/era_memory.ts";
import type { ManagedServer } from "../servers/server.ts";
import { MOST_OFFERS, type OfferedListsRepository } from "../storage/servers_repository.ts";
import { listToolTexts, toolListPageOf } from "../servers/tool_list.ts";

/** How long a client's first list waits for the tools that servers list to clients like it. */
const WAIT_MS = 2_000;
/** A server that takes longer to list its tools is probed again later. */
const PROBE_MS = 20_000;
/** Each probe of a program starts it once more. */
const AT_ONCE = 4;
/** After a probe that failed. */
const AGAIN_MS = 60_000;
/** Tolerance for the difference between timers and the clock. */
const MARGIN_MS = 50;
/** A server that announces a change with every list must not be listed without end. */
const MOST_LISTS = 3;
/** Maximum number of lists from owners' own processes per server; the oldest is dropped first. */
const MOST_OWN = 100;
/** Of one owner: stateless clients can offer something else with each request. */
const OFFERS_A_MINUTE = 10;

/** Maximum attempts of a probe. The gateway retries by itself, because many clients list only once. */
const MOST_TRIES = 3;
/** How long a stored list is valid; the same as for a server's revision. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

const LIST_CHANGED = "notifications/tools/list_changed";

interface OfferedListsOptions {
  catalog: Catalog;
  /** A server lists these tools to clients with this offer. */
  onListed(server: string, offer: string, tools: string[]): Promise<void>;
  /** Stores lists, so that servers are not probed again after a restart. */
  records?: Pick<OfferedListsRepository, "find" | "note"> | undefined;
  onWarning?(message: string, details: object): void;
  signal: AbortSignal;
  /** Delay before a failed probe is repeated; default: one minute. */
  againMs?: number | undefined;
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
export class OfferedLists implements Disposable {
  readonly #options: OfferedListsOptions;
  readonly #probes = new WeakMap<ManagedServer, Map<string, Probe>>();
  /** Additional tools on clients' own connections, keyed by server, owner's offer and client. */
  readonly #own = new WeakMap<ManagedServer, Map<string, Map<object, string[]>>>();
  readonly #retries = new Set<ReturnType<typeof setTimeout>>();
  readonly #digests = new WeakMap<ServerTools, string>();
  /** What each owner's clients have had probed in the last minute. */
  readonly #recent = new Map<string, { since: number; offers: Set<string> }>();
  readonly #waiting: (() => void)[] = [];
  readonly #againMs: number;
  #running = 0;

  constructor(options: OfferedListsOptions) {
    this.#options = options;
    this.#againMs = options.againMs ?? AGAIN_MS;
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

  /**
   * Records the tools that a server lists on a client's own connection; an empty list removes them. A
   * program may add tools while it runs, in a process that the probe has not seen. Only clients of the
   * same owner get them, because their definitions can contain data that only that owner may see.
   */
  noteOwn(
    server: ManagedServer,
    client: Pick<Client, "profile" | "principal">,
    tools: string[],
  ): void {
    const offer = offerOf(client.profile);
    if (offer === "") return;
    const known = new Set([
      ...this.#options.catalog.of(server.name).tools
        .filter(({ listedTo }) => !listedTo).map(sentText),
      ...this.#probes.get(server)?.get(offer)?.tools ?? [],
    ]);
    const more = tools.filter((text) => !known.has(text));
    const owners = this.#own.get(server) ?? new Map<string, Map<object, string[]>>();
    const own = ownOffer(offer, client.principal);
    if (more.length > 0) {
      getOrMake(owners, own, () => new Map<object, string[]>()).set(client, more);
      this.#own.set(server, owners);
    } else if (!owners.get(own)?.delete(client)) return;
    const ended = [...owners].filter(([, lists], nth) =>
      lists.size === 0 || nth < owners.size - MOST_OWN
    );
    for (const [offer] of ended) owners.delete(offer);
    if (owners.size === 0) this.#own.delete(server);
    this.#tellOwn(server, ended.map(([offer]) => offer));
  }

  [Symbol.dispose](): void {
    for (const timer of this.#retries) clearTimeout(timer);
    this.#retries.clear();
  }

  /**
   * Publishes the tools of owners' own processes. The catalog has one definition per name: the probe's,
   * otherwise that of the first owner. An owner whose process defines the tool differently does not get it.
   */
  #tellOwn(server: ManagedServer, ended: readonly string[] = []): void {
    const { onListed, onWarning } = this.#options;
    const probes = [...this.#probes.get(server)?.values() ?? []];
    const probed = new Map(
      probes.flatMap(({ tools = [] }) => tools.map((text) => [nameInText(text), text])),
    );
    const taken = new Map<string, string>();
    const lists = Array.from(this.#own.get(server) ?? [], ([offer, byClient]) => {
      const tools = new Map<string, string>();
      for (const text of [...byClient.values()].flat()) {
        const name = nameInText(text);
        const served = probed.get(name) ?? text;
        const first = getOrMake(taken, name, () => served);
        if (first === served) tools.set(name, served);
      }
      return [offer, [...tools.values()]] as const;
    });
    const told = [...ended.map((offer) => [offer, []] as const), ...lists]
      .map(([offer, tools]) => onListed(server.name, offer, [...tools]));
    Promise.all(told).catch((error) => {
      onWarning?.("Cannot publish the tools of a client's own connection", { error });
    });
  }

  /** The probe that is under way, begun if one is needed. */
  #probe(
    server: ManagedServer,
    offer: string,
    profile: ClientProfile,
    mayBegin: () => boolean,
    tries = 1,
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
      : Date.now() - known.failedAt < this.#againMs;
    if (known && (known.probing || isCurrent)) return known.probing;
    if (!mayBegin()) return undefined;
    const probe: Probe = { shared, probing: undefined };
    probe.probing = this.#recallOrList(server, offer, profile, shared)
      .then(async (tools) => {
        await this.#options.onListed(server.name, offer, tools);
        probe.tools = tools;
        if (this.#own.has(server)) this.#tellOwn(server);
      })
      .catch(() => {
        probe.failedAt = Date.now();
        if (tries < MOST_TRIES) this.#retry(server, offer, profile, tries + 1);
      })
      .finally(() => {
        probe.probing = undefined;
      });
    probes.delete(offer);
    probes.set(offer, probe);
    if (probes.size > MOST_OFFERS) probes.delete(probes.keys().next().value!);
    return probe.probing;
  }

  /** Retries by itself, so that clients learn of missing tools without listing again. */
  #retry(server: ManagedServer, offer: string, profile: ClientProfile, tries: number): void {
    if (this.#options.signal.aborted) return;
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      void this.#probe(server, offer, profile, () => true, tries);
    }, this.#againMs + MARGIN_MS);
    Deno.unrefTimer(Number(timer));
    this.#retries.add(timer);
  }

  async #recallOrList(
    server: ManagedServer,
    offer: string,
    profile: ClientProfile,
    shared: string,
  ): Promise<string[]> {
    const { records, onWarning } = this.#options;
    const { name, version } = server.info?.serverInfo ?? {};
    const whole = JSON.stringify([entryHash(server.server), name, version, shared]);
    const stamp = createHash("sha256").update(whole).digest("base64url");
    const stored = (await records?.find([server.name, offer]).catch(() => undefined))?.value;
    if (stored?.stamp === stamp && Date.now() - stored.at < KEPT_MS) return stored.tools;
    const tools = await this.#inTurn(() => this.#list(server, profile));
    records?.note({ server: server.name, offer, stamp, tools, at: Date.now() })
      .catch((error) =>
        onWarning?.("Cannot store a server's tool list for clients with certain capabilities", {
          error,
        })
      );
    return tools;
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
      const texts = tools.filter(({ listedTo }) => !listedTo).map(sentText);
      return createHash("sha1").update(texts.join()).digest("base64");
    });
  }

  async #list(server: ManagedServer, profile: ClientProfile): Promise<string[]> {
    // Its requests say what their client offers.
    if (server.isStateless) {
      const session = {
        async listTools(cursor: string | undefined, timeoutMs: number) {
          const params = cursor === undefined ? undefined : JSON.stringify({ cursor });
          const call = { method: "tools/list", params, timeoutMs, streams: false, client: profile };
          return toolListPageOf((await server.call(call)).text, server.name);
        },
      };
      return await listToolTexts({ has: () => true, session }, server.name, PROBE_MS);
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

/** No client is behind the probe, so it answers only pings. */
async function answer(
  connection: Promise<Connection>,
  { id, method }: RpcMessage & { kind: "request" },
): Promise<void> {
  const text = method === "ping"
    ? resultText(id, "{}")
    : errorText(id, -32603, "This connection only lists tools");
  await (await connection).answer(text);
}
