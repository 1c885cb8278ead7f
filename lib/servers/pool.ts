import { GatewayError } from "../core/errors.ts";
import { didYouMean, nearestNames } from "../core/text.ts";
import { isStarting, type ServerStatus } from "../core/server.ts";
import { TransportClosed } from "./transports/transport.ts";
import { ManagedServer, type ManagedServerOptions, type PooledServer } from "./server.ts";

/** Starting hundreds at once would block everything else for half a second. */
const LINKS_PER_TURN = 4;

export type ServerPoolOptions = Omit<ManagedServerOptions, "server"> & {
  onRemoved(name: string): void;
};

/** All servers, each on its own: one that is slow or broken delays nobody. */
export class ServerPool implements AsyncDisposable {
  readonly #options: ServerPoolOptions;
  readonly #servers = new Map<string, ManagedServer>();
  readonly #turns = new StartLimiter(LINKS_PER_TURN);
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: ServerPoolOptions) {
    this.#options = {
      ...options,
      openTransport: async (server, events, signal) => {
        await this.#turns.take();
        // A stop lets all through at once, for nobody to wait; none of them shall start.
        if (this.#isClosed) throw new TransportClosed("closed", "The gateway is stopping");
        return await options.openTransport(server, events, signal);
      },
    };
  }

  list(): ServerStatus[] {
    return Array.from(this.#servers.values(), (server) => server.status)
      .sort((a, b) => a.name < b.name ? -1 : 1);
  }

  /** Whether any server is starting or installing. */
  get isStarting(): boolean {
    return this.#servers.values().some(({ status }) => isStarting(status.state));
  }

  find(name: string): ManagedServer | undefined {
    return this.#servers.get(name);
  }

  resolve(name: string): ManagedServer {
    const server = this.#servers.get(name);
    if (server) return server;
    const near = nearestNames(name, this.#servers.keys(), 3);
    throw new GatewayError("SERVER_NOT_FOUND", {
      message: `There is no server "${name.slice(0, 100)}"`,
      ...didYouMean(near),
      suggestedTools: ["list_servers"],
    });
  }

  /**
   * Makes the pool what is wanted: starts the new, changes the changed, ends the gone, and leaves
   * every other server's calls alone. Nobody waits for one that is slow to start or to end.
   */
  sync(servers: Iterable<PooledServer>): void {
    const wanted = new Map(Array.from(servers, (server) => [server.name, server]));
    for (const [name, server] of this.#servers) {
      if (wanted.has(name)) continue;
      this.#servers.delete(name);
      this.#end(server);
      this.#options.onRemoved(name);
    }
    for (const [name, server] of wanted) {
      const known = this.#servers.get(name);
      // The same object: sessions hold on to it, and are to have the new connection.
      if (known) {
        if (!isSame(known.server, server)) known.update(server);
        continue;
      }
      const managed = new ManagedServer({ ...this.#options, server });
      this.#servers.set(name, managed);
      managed.start();
    }
  }

  /** Resolves when the tools of the last run are listed. */
  async recalled(): Promise<void> {
    await Promise.all(Array.from(this.#servers.values(), ({ toolList }) => toolList.recalled));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#turns[Symbol.dispose]();
    for (const server of this.#servers.values()) this.#end(server);
    this.#servers.clear();
    await Promise.all(this.#ending);
  }

  #end(server: ManagedServer): void {
    const ended = server[Symbol.asyncDispose]().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }
}

function isSame(a: PooledServer, b: PooledServer): boolean {
  return a.problem === b.problem && a.secretsStamp === b.secretsStamp &&
    a.packagesStamp === b.packagesStamp &&
    a.isPaused === b.isPaused &&
    JSON.stringify([a.spec, a.source]) === JSON.stringify([b.spec, b.source]);
}

/** Lets a few through per turn of the event loop, so that requests are served in between. */
export class StartLimiter implements Disposable {
  readonly #perTurn: number;
  readonly #waiting: (() => void)[] = [];
  #left: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(perTurn: number) {
    this.#perTurn = this.#left = perTurn;
  }

  /** Resolves at once while few ask, else in one of the next turns, in the order of asking. */
  take(): Promise<void> {
    this.#timer ??= setTimeout(() => this.#next(), 0);
    if (this.#left > 0) {
      this.#left--;
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    return promise;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left = this.#perTurn;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #next(): void {
    const next = this.#waiting.splice(0, this.#perTurn);
    this.#left = this.#perTurn - next.length;
    this.#timer = next.length > 0 ? setTimeout(() => this.#next(), 0) : undefined;
    for (const resolve of next) resolve();
  }
}
