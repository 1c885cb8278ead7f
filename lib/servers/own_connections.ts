import { GatewayError } from "../core/errors.ts";
import type { Connection } from "./connection.ts";
import { TransportClosed } from "./transports/transport.ts";

/** What its client would lose with a connection: calls on their way, what the server keeps for it. */
export type ConnectionUse = "calls" | "state" | "nothing";

interface OwnConnectionsOptions {
  serverName: string;
  /** Aborts when the server is done with: nothing is waited for then. */
  signal: AbortSignal;
  /** A connection on which nothing has come for this long, and with nothing at stake, is ended. */
  idleMs(): number;
  limit: number;
}

interface Slot {
  stake(): ConnectionUse;
  opening?: Promise<Connection | undefined>;
  connection?: Connection;
}

/** The connections of single clients to one server, those that are still being opened included. */
export class OwnConnections {
  readonly #options: OwnConnectionsOptions;
  readonly #slots = new Set<Slot>();
  readonly #ending = new Set<Promise<void>>();
  #stop = new AbortController();
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: OwnConnectionsOptions) {
    this.#options = options;
  }

  /** Opens one more; `connect` has to call back when the connection has closed. */
  async open(
    connect: (signal: AbortSignal, onClose: () => void) => Promise<Connection>,
    stake: () => ConnectionUse = () => "nothing",
  ): Promise<Connection> {
    const isRoom = this.#slots.size < this.#options.limit ? Promise.resolve() : this.#makeRoom();
    const slot: Slot = { stake };
    this.#slots.add(slot);
    this.#watch();
    const { signal } = this.#stop;
    // Where another one makes room, its program is gone before this one's starts.
    const connecting = isRoom.then(() => connect(signal, () => this.#release(slot)));
    slot.opening = connecting.catch(() => undefined);
    try {
      return slot.connection = await connecting;
    } catch (error) {
      this.#release(slot);
      throw error;
    }
  }

  async closeAll(settleMs = 0): Promise<void> {
    const message = `Server "${this.#options.serverName}" was stopped`;
    this.#stop.abort(new GatewayError("SERVER_DISCONNECTED", { message }));
    this.#stop = new AbortController();
    const slots = [...this.#slots];
    this.#slots.clear();
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    // For its client the server is lost, though it was us: what it kept has to be restored.
    const reason = new TransportClosed("lost", message);
    for (const { opening } of slots) {
      void this.#end(async () =>
        await (await opening)?.end(settleMs, this.#options.signal, reason)
      );
    }
    await Promise.all(this.#ending);
  }

  /** Ends the one whose client loses least: nothing kept for it before something, then the longest idle. */
  #makeRoom(): Promise<void> {
    const free = this.#free().sort((a, b) =>
      Number(a.stake === "state") - Number(b.stake === "state") ||
      a.connection.heardAt - b.connection.heardAt
    );
    if (free[0]) return this.#end(() => free[0]!.connection.end(0));
    const { serverName, limit } = this.#options;
    throw new GatewayError("LIMIT_EXCEEDED", {
      message: `Server "${serverName}" has ${limit} clients with their own connections, ` +
        "and all of them are busy",
    });
  }

  #free() {
    return [...this.#slots].flatMap(({ connection, stake }) => {
      if (!connection || connection.inFlight > 0) return [];
      const its = stake();
      return its === "calls" ? [] : [{ connection, stake: its }];
    });
  }

  #watch(): void {
    if (this.#idleTimer !== undefined || this.#slots.size === 0) return;
    const idleMs = this.#options.idleMs();
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = undefined;
      const oldest = Date.now() - idleMs;
      for (const { connection, stake } of this.#free()) {
        if (stake === "nothing" && connection.heardAt <= oldest) {
          void this.#end(() => connection.end(0));
        }
      }
      this.#watch();
    }, idleMs / 4);
    Deno.unrefTimer(Number(this.#idleTimer));
  }

  #release(slot: Slot): void {
    this.#slots.delete(slot);
    if (this.#slots.size > 0) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
  }

  #end(end: () => Promise<void>): Promise<void> {
    const ended = end().catch(() => {}).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
    return ended;
  }
}
