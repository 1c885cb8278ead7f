import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError } from "../core/errors.ts";
import {
  errorText,
  idText,
  isObject,
  memberText,
  type MessageId,
  notificationText,
  readMessage,
  requestText,
  type RpcMessage,
  withFirstMember,
} from "../core/rpc.ts";
import {
  BRIDGE_HEADER,
  isStatelessMessage,
  type RpcRequest,
  statelessHeaders,
} from "../mcp/envelope.ts";
import { cancelledId, rpcErrorText } from "../mcp/protocol.ts";
import type { Logger } from "../telemetry/logs.ts";
import type { Credential } from "./gateway_client.ts";
import {
  EndpointClient,
  type EndpointClientOptions,
  type EndpointExchange,
  EndpointLost,
} from "./stdio_endpoint_client.ts";

/** How long a request waits for a gateway that went away to come back. */
const PATIENCE_MS = 10_000;
const SHORTEST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 1_000;
/** Requests on the wire at once; others wait their turn, for a system has only so many sockets. */
const MAX_POSTS = 200;
/** How often a request that nobody has worked on is sent again. */
const MAX_TRIES = 3;
const LISTED = ["tools", "resources", "prompts"];

/** A running gateway, told apart from one that took its place. */
export interface GatewayPlace {
  address: string;
  pid: number;
  startedAt: number;
}

export interface StdioBridgeOptions {
  place: GatewayPlace;
  /** Looks for a gateway to talk to; prefers `wanted` if that one is still running. */
  find(wanted: GatewayPlace): Promise<GatewayPlace | undefined>;
  path: string;
  write(text: string): void;
  ready(): Promise<void>;
  log: Logger;
  patienceMs?: number;
  credentialAt?(place: GatewayPlace): Credential;
}

interface InFlight {
  controller: AbortController;
  /** The gateway knows it by its connection only, and notices when that is closed. */
  isStateless: boolean;
  /** Whoever cancelled does not wait for an answer any more. */
  isCancelled: boolean;
}

/**
 * Carries one client's messages to an endpoint of a running gateway and back. If another gateway
 * takes its place, the client's session continues there, or a new one is opened for the client.
 */
export class StdioBridge implements AsyncDisposable {
  readonly #options: StdioBridgeOptions;
  readonly #closing = new AbortController();
  readonly #inFlight = new Map<string, InFlight>();
  readonly #running = new Set<Promise<void>>();
  readonly #turns: (() => void)[] = [];
  /** Requests of servers that the client has not answered. */
  readonly #asked = new Set<MessageId>();
  #posts = 0;
  #place: GatewayPlace;
  #endpoint: EndpointClient;
  /** The text of the client's own introduction, for a gateway that does not know it. */
  #introduction: string | undefined;
  #listed: string[] = [];
  #initializing: Promise<void> | undefined;
  #listening: EndpointClient | undefined;
  #sending: Promise<void> = Promise.resolve();
  #recovery: Promise<void> | undefined;
  #looking: Promise<GatewayPlace | undefined> | undefined;
  /** Why there is no gateway just now. */
  #trouble = "";

  constructor(options: StdioBridgeOptions) {
    this.#options = options;
    this.#place = options.place;
    this.#endpoint = new EndpointClient(this.#optionsAt(options.place));
  }

  take(message: RpcMessage, text: string): void {
    if (message.kind !== "request") {
      if (message.kind === "response") this.#asked.delete(message.id);
      const cancelled = message.kind === "notification" && this.#findCancelled(message, text);
      // There is nobody to tell, and nothing to wait for.
      if (cancelled && (this.#recovery || cancelled.isStateless)) {
        return cancelled.controller.abort();
      }
      // One after the other: what a client says of one thing is heard in the order it was said.
      this.#sending = this.#sending.then(() => this.#send(message, text)).then(() => {
        // In case it was faster than its request.
        if (cancelled) cancelled.controller.abort();
      });
      return;
    }
    const taken = this.#request(message, text);
    // It lasts as long as the client wants, so nobody waits for its end.
    if (message.method === "subscriptions/listen") return;
    this.#running.add(taken);
    void taken.finally(() => this.#running.delete(taken));
  }

  async settled(): Promise<void> {
    await this.#sending;
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const { controller } of this.#inFlight.values()) controller.abort();
    await this.#endpoint.end();
  }

  async #request(message: RpcRequest, text: string): Promise<void> {
    const { id, method } = message;
    const key = idText(id);
    if (this.#inFlight.has(key)) {
      return this.#write(errorText(id, -32600, "A request with this ID is already in progress"));
    }
    const isStateless = isStatelessMessage(message, null);
    const entry: InFlight = {
      controller: new AbortController(),
      isStateless,
      isCancelled: false,
    };
    const { signal } = entry.controller;
    this.#inFlight.set(key, entry);
    const onMessage = (text: string, message?: RpcMessage) => {
      if (!entry.isCancelled) this.#handOn(text, message);
    };
    try {
      const headers = isStateless
        ? { ...statelessHeaders(message), [BRIDGE_HEADER]: "stdio" }
        : undefined;
      const exchange = { id, method, text, onMessage, signal, headers };
      if (!isStateless && method === "initialize") await this.#begin(message, text, signal);
      else if (isStateless && method === "subscriptions/listen") await this.#subscribe(exchange);
      else await this.#carry(exchange);
    } catch (error) {
      if (entry.isCancelled || signal.aborted) return;
      if (!(error instanceof GatewayError)) {
        this.#options.log.error({ err: error, method }, "A request failed");
      }
      this.#write(rpcErrorText(id, method, error));
    } finally {
      this.#inFlight.delete(key);
    }
  }

  async #begin({ id }: RpcRequest, text: string, signal: AbortSignal): Promise<void> {
    const begun = Promise.withResolvers<void>();
    this.#initializing = begun.promise;
    try {
      await this.#untilTaken("initialize", signal, async (endpoint) => {
        if (this.#introduction !== undefined) await endpoint.end();
        const answer = await endpoint.initialize(id, text, signal);
        const { result } = JSON.parse(answer);
        if (isObject(result)) {
          this.#introduction = memberText(text, "params");
          this.#listed = listedIn(result);
        }
        this.#write(answer);
      });
    } finally {
      this.#initializing = undefined;
      begun.resolve();
    }
  }

  async #carry(exchange: EndpointExchange): Promise<void> {
    await this.#initializing;
    await this.#turn();
    try {
      const { method, signal } = exchange;
      await this.#untilTaken(method, signal, (endpoint) => endpoint.request(exchange));
    } finally {
      this.#posts--;
      this.#turns.shift()?.();
    }
  }

  /** Listens for a client without a session, at each gateway that takes the place of the last. */
  async #subscribe(exchange: EndpointExchange): Promise<void> {
    const { signal } = exchange;
    const subscription = new Subscription(exchange.onMessage);
    while (!signal.aborted) {
      const endpoint = await this.#available(signal, Infinity);
      const take = { ...exchange, onMessage: subscription.take };
      const reason = await endpoint.request(take).then(() => "The stream has ended", (error) => {
        if (signal.aborted || !(error instanceof EndpointLost)) throw error;
        return error.message;
      });
      if (subscription.isOver) return;
      // A gateway that is about to stop ends streams at once, and still says that it is there.
      await sleep(SHORTEST_WAIT_MS, undefined, { signal });
      this.#recover(endpoint, reason);
    }
  }

  /** Does it at the gateway; again at the next one if no gateway can have begun with it. */
  async #untilTaken(
    method: string,
    signal: AbortSignal,
    work: (endpoint: EndpointClient) => Promise<void>,
  ): Promise<void> {
    for (let tries = 1;; tries++) {
      const endpoint = await this.#available(signal);
      try {
        return await work(endpoint);
      } catch (error) {
        if (signal.aborted || !(error instanceof EndpointLost)) throw error;
        this.#recover(endpoint, error.message);
        if (error.wasTaken || tries === MAX_TRIES) throw wentAway(method, error.wasTaken);
      }
    }
  }

  async #send(message: RpcMessage, text: string): Promise<void> {
    await this.#initializing;
    const limit = AbortSignal.timeout(this.#options.patienceMs ?? PATIENCE_MS);
    try {
      await this.#untilTaken("", limit, (endpoint) => endpoint.send(text));
    } catch (error) {
      // Nobody waits for an answer to it.
      this.#options.log.warn({ err: error }, "Cannot forward a message");
    }
    const isReady = message.kind === "notification" &&
      message.method === "notifications/initialized";
    if (isReady) this.#listen(this.#endpoint);
  }

  #findCancelled(
    { method, params }: { method: string; params: Record<string, unknown> },
    text: string,
  ) {
    if (method !== "notifications/cancelled") return undefined;
    const id = cancelledId(params, text);
    const entry = id === undefined ? undefined : this.#inFlight.get(idText(id));
    if (entry) entry.isCancelled = true;
    return entry;
  }

  /** The endpoint, once there is a gateway. */
  async #available(
    signal: AbortSignal,
    patienceMs = this.#options.patienceMs ?? PATIENCE_MS,
  ): Promise<EndpointClient> {
    if (!this.#isAway()) return this.#endpoint;
    const limit = Promise.withResolvers<void>();
    const timer = patienceMs === Infinity ? undefined : setTimeout(limit.resolve, patienceMs);
    signal.addEventListener("abort", () => limit.resolve(), { once: true });
    await Promise.race([this.#recovery, limit.promise]);
    clearTimeout(timer);
    signal.throwIfAborted();
    if (this.#isAway()) throw notRunning(this.#trouble);
    return this.#endpoint;
  }

  #isAway(): boolean {
    return this.#recovery !== undefined;
  }

  /** Begins to look for a gateway, unless that endpoint is not the one in use any more. */
  #recover(endpoint: EndpointClient, reason: string): void {
    if (endpoint !== this.#endpoint || this.#recovery || this.#closing.signal.aborted) return;
    this.#options.log.debug({ reason }, "Lost the connection to the gateway");
    this.#recovery = this.#findAgain().finally(() => this.#recovery = undefined);
  }

  async #findAgain(): Promise<void> {
    const { signal } = this.#closing;
    for (let wait = SHORTEST_WAIT_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      this.#trouble = "No gateway is running on this data folder anymore";
      const found = await this.#lookUp();
      try {
        if (found) return await this.#takeUp(found);
      } catch (error) {
        this.#trouble = error instanceof Error ? error.message : String(error);
      }
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
  }

  async #takeUp(found: GatewayPlace): Promise<void> {
    const isOther = !isSame(found, this.#place);
    const endpoint = isOther ? this.#endpoint.movedTo(this.#optionsAt(found)) : this.#endpoint;
    let isNew = false;
    if (this.#introduction !== undefined && !await endpoint.isKnown()) {
      const id = "quartermaster-bridge";
      const text = requestText(id, "initialize", this.#introduction);
      const answer = JSON.parse(await endpoint.initialize(id, text, this.#closing.signal));
      if (isObject(answer.error)) throw new Error(String(answer.error.message));
      await endpoint.send(notificationText("notifications/initialized"));
      isNew = true;
    }
    this.#place = found;
    this.#endpoint = endpoint;
    if (this.#introduction === undefined) return;
    this.#listen(endpoint);
    if (!isOther && !isNew) return;
    this.#options.log.info({ address: found.address, isNew }, "Session continued");
    // The gateway that asked is gone; the new one does not wait for these answers.
    for (const requestId of this.#asked) {
      const reason = JSON.stringify({ reason: "The gateway was restarted" });
      const params = withFirstMember(reason, "requestId", idText(requestId));
      this.#write(notificationText("notifications/cancelled", params));
    }
    this.#asked.clear();
    for (const kind of this.#listed) {
      this.#write(notificationText(`notifications/${kind}/list_changed`));
    }
  }

  #listen(endpoint: EndpointClient): void {
    if (this.#listening === endpoint) return;
    this.#listening = endpoint;
    const { signal } = this.#closing;
    const over = endpoint.listen(signal).then(() => "The stream has ended", String);
    void over.then(async (reason) => {
      // A gateway that is about to stop ends streams at once, and still says that it is there.
      await sleep(SHORTEST_WAIT_MS, undefined, { signal }).catch(() => {});
      if (this.#listening === endpoint) this.#listening = undefined;
      this.#recover(endpoint, reason);
    });
  }

  /** All who ask at once get one answer. */
  #lookUp(): Promise<GatewayPlace | undefined> {
    return this.#looking ??= this.#options.find(this.#place).catch((error) => {
      this.#options.log.warn({ err: error }, "Cannot search for a running gateway");
      return undefined;
    }).finally(() => this.#looking = undefined);
  }

  async #turn(): Promise<void> {
    while (this.#posts >= MAX_POSTS) {
      await new Promise<void>((resolve) => this.#turns.push(resolve));
    }
    this.#posts++;
  }

  #handOn(text: string, message: RpcMessage | undefined): void {
    if (message?.kind === "request") this.#asked.add(message.id);
    this.#write(text);
  }

  #write(text: string): void {
    if (!this.#closing.signal.aborted) this.#options.write(text);
  }

  #optionsAt(place: GatewayPlace): EndpointClientOptions {
    return {
      url: new URL(this.#options.path, place.address).href,
      onMessage: (text, message) => this.#handOn(text, message),
      ready: this.#options.ready,
      credential: this.#options.credentialAt?.(place),
      isStillThere: async () => isSame(await this.#lookUp(), place),
    };
  }
}

/** A client's subscription, which outlasts the gateways that serve it one after the other. */
class Subscription {
  /** It was refused, so there is nothing to continue. */
  isOver = false;
  readonly #onMessage: EndpointExchange["onMessage"];
  #isAcknowledged = false;

  constructor(onMessage: EndpointExchange["onMessage"]) {
    this.#onMessage = onMessage;
  }

  readonly take = (text: string, message = readMessage(text)): void => {
    if (message?.kind === "response") {
      // That it has ended is the gateway's news: the next one continues it.
      if (!message.isError) return;
      this.isOver = true;
    }
    const isAcknowledgment = message?.kind === "notification" &&
      message.method === "notifications/subscriptions/acknowledged";
    if (!isAcknowledgment || !this.#isAcknowledged) this.#onMessage(text, message);
    else this.#announceAll(message.params);
    if (isAcknowledgment) this.#isAcknowledged = true;
  };

  /** Nobody could tell the client what changed in between. */
  #announceAll({ notifications, _meta }: Record<string, unknown>): void {
    for (const kind of LISTED) {
      if (!isObject(notifications) || notifications[`${kind}ListChanged`] !== true) continue;
      const params = JSON.stringify({ _meta });
      this.#onMessage(notificationText(`notifications/${kind}/list_changed`, params));
    }
  }
}

function isSame(a: GatewayPlace | undefined, b: GatewayPlace): boolean {
  return a !== undefined && a.address === b.address && a.pid === b.pid &&
    a.startedAt === b.startedAt;
}

/** The lists of whose changes the server tells. */
function listedIn({ capabilities }: Record<string, unknown>): string[] {
  return LISTED.filter((kind) => {
    const offered = isObject(capabilities) ? capabilities[kind] : undefined;
    return isObject(offered) && offered.listChanged === true;
  });
}

function wentAway(method: string, wasTaken: boolean): GatewayError {
  return new GatewayError("SERVER_DISCONNECTED", {
    message: method === "tools/call" && wasTaken
      ? "Lost the connection to the gateway during the call: the tool may or may not have run"
      : "Lost the connection to the gateway",
    recoveryAction: "Try again: the next request waits until the gateway is back",
    recoverySteps: [
      ...(wasTaken ? ["If the tool changes anything, check whether it has run"] : []),
      "Try again: the next request waits until the gateway is back",
    ],
  });
}

function notRunning(trouble: string): GatewayError {
  return new GatewayError("SERVER_NOT_RUNNING", {
    message: trouble,
    recoveryAction: "Start the gateway with `quartermaster start`; this session then continues",
    recoverySteps: [
      "Start the gateway with `quartermaster start`; this session then continues",
      "Or restart this client, which then starts its own gateway",
    ],
  });
}
