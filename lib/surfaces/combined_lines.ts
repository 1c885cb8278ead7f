import { isObject, type RpcId } from "../core/rpc.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import { Relay } from "./relay.ts";
import type { ClientPort, RequestScope } from "./surface.ts";

export interface CombinedLinesOptions {
  findServer(name: string): ManagedServer | undefined;
  port: ClientPort;
  /** The client's port as one of the servers has it. */
  portFor(server: string): ClientPort;
}

interface Line {
  relay: Relay;
  /** Stops hearing what the server tells everybody. */
  stop(): void;
}

/** A question that wants to hear of its progress. */
interface Question {
  server: ManagedServer;
  token: RpcId;
}

/** One client's ways to the servers that it uses, each there until its server or the client goes. */
export class CombinedLines implements AsyncDisposable {
  readonly #options: CombinedLinesOptions;
  readonly #lines = new Map<ManagedServer, Line>();
  readonly #questions = new Set<Question>();

  constructor(options: CombinedLinesOptions) {
    this.#options = options;
  }

  /** The way to a server, for a request that is still wanted. */
  to(server: ManagedServer, { signal }: RequestScope): Relay {
    // Nobody would close what is opened for a client that has gone meanwhile.
    signal.throwIfAborted();
    const known = this.#lines.get(server);
    if (known) return known.relay;
    this.#closeGone();
    const relay = new Relay(server, this.#portFor(server));
    const stop = server.onBroadcast((text) => {
      if (!relay.hasOwn) this.#options.port.push(text);
    });
    this.#lines.set(server, { relay, stop });
    return relay;
  }

  /** Servers to which the client has a connection of its own. */
  connected(): ManagedServer[] {
    return [...this.#lines].flatMap(([server, { relay }]) => relay.hasOwn ? server : []);
  }

  /** Passes on what is for all servers, and progress to the one whose question it is of. */
  notify(method: string, params: Record<string, unknown>, text: string): void {
    for (const server of this.#hearers(method, params)) {
      this.#lines.get(server)?.relay.notify(method, text);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#lines.keys()].map((server) => this.#close(server)));
  }

  #hearers(method: string, params: Record<string, unknown>): Iterable<ManagedServer> {
    if (method === "notifications/roots/list_changed") return this.#lines.keys();
    if (method !== "notifications/progress") return [];
    const askers = new Set(
      [...this.#questions].filter(({ token }) => token === params.progressToken)
        .map(({ server }) => server),
    );
    // Servers choose their tokens by themselves: of two alike nobody knows which is meant.
    return askers.size === 1 ? askers : [];
  }

  /** Servers that were removed; there may be others under their names by now. */
  #closeGone(): void {
    for (const server of [...this.#lines.keys()]) {
      if (this.#options.findServer(server.name) !== server) void this.#close(server);
    }
  }

  async #close(server: ManagedServer): Promise<void> {
    const line = this.#lines.get(server);
    this.#lines.delete(server);
    for (const question of this.#questions) {
      if (question.server === server) this.#questions.delete(question);
    }
    line?.stop();
    await line?.relay[Symbol.asyncDispose]();
  }

  #portFor(server: ManagedServer): ClientPort {
    const port = this.#options.portFor(server.name);
    return {
      ...port,
      ask: (text, id, onAnswer) => {
        const token = progressTokenIn(text);
        if (token === undefined) return port.ask(text, id, onAnswer);
        const question = { server, token };
        this.#questions.add(question);
        return port.ask(text, id, (answer) => {
          this.#questions.delete(question);
          onAnswer(answer);
        });
      },
    };
  }
}

function progressTokenIn(question: string): RpcId | undefined {
  if (!question.includes('"progressToken"')) return undefined;
  const { params } = JSON.parse(question);
  const token = isObject(params) && isObject(params._meta) ? params._meta.progressToken : undefined;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}
