import { isObject, type MessageId } from "../core/rpc.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { ContentGuard } from "../trust/content_guard/guard.ts";
import { Relay } from "./relay.ts";
import { type Client, type McpRequest, progressTokenOf } from "../core/client.ts";

interface ClientRelaysOptions {
  findServer(name: string): ManagedServer | undefined;
  /** The client as one of the servers sees it. */
  clientFor(server: string): Client;
  guard?: ContentGuard | undefined;
  /** Called with the tools a server lists on the client's own connection; empty once that has closed. */
  onOwnTools?(server: ManagedServer, tools: string[]): void;
}

/** More than any client runs; what is remembered must be bounded. */
const MOST_TASKS = 10_000;

/** One client's relays to the servers that it uses, each until its server or the client goes. */
export class ClientRelays implements AsyncDisposable {
  readonly #options: ClientRelaysOptions;
  readonly #relays = new Map<ManagedServer, Relay>();
  /** Servers' requests to the client that asked for progress notifications. */
  readonly #questions = new Set<{ server: ManagedServer; token: MessageId }>();

  /** Tasks that the client runs for servers, by their ids. */
  readonly #tasks = new Map<string, ManagedServer>();

  constructor(options: ClientRelaysOptions) {
    this.#options = options;
  }

  /** The relay to a server, for a request that is still wanted. */
  to(server: ManagedServer, { signal }: McpRequest): Relay {
    // A connection opened for a client that has left in the meantime would never be closed.
    signal.throwIfAborted();
    const known = this.#relays.get(server);
    if (known) return known;
    this.#closeGone();
    const relay: Relay = new Relay(server, this.#clientFor(server), (tools) => {
      if (this.#relays.get(server) === relay) this.#options.onOwnTools?.(server, tools);
    }, this.#options.guard);
    this.#relays.set(server, relay);
    return relay;
  }

  connected(): ManagedServer[] {
    return [...this.#relays].flatMap(([server, relay]) => relay.hasOwn ? server : []);
  }

  /** Passes on what is for all servers, and what is about a question or a task to the one that asked. */
  notify(method: string, params: Record<string, unknown>, text: string): void {
    for (const server of this.#hearers(method, params)) {
      this.#relays.get(server)?.notify(method, text);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#relays.keys()].map((server) => this.#close(server)));
  }

  #hearers(method: string, params: Record<string, unknown>): Iterable<ManagedServer> {
    if (method === "notifications/roots/list_changed") return this.#relays.keys();
    if (method === "notifications/tasks/status") {
      const owner = this.#tasks.get(String(params.taskId));
      return owner ? [owner] : [];
    }
    if (method !== "notifications/progress") return [];
    const owners = new Set(
      [...this.#questions].filter(({ token }) => token === params.progressToken)
        .map(({ server }) => server),
    );
    // Servers choose their tokens: if two are the same, they are ambiguous.
    return owners.size === 1 ? owners : [];
  }

  /** Servers that were removed; there may be others under their names by now. */
  #closeGone(): void {
    for (const server of [...this.#relays.keys()]) {
      if (this.#options.findServer(server.name) !== server) void this.#close(server);
    }
  }

  async #close(server: ManagedServer): Promise<void> {
    const relay = this.#relays.get(server);
    this.#relays.delete(server);
    this.#options.onOwnTools?.(server, []);
    for (const question of this.#questions) {
      if (question.server === server) this.#questions.delete(question);
    }
    for (const [id, owner] of this.#tasks) if (owner === server) this.#tasks.delete(id);
    await relay?.[Symbol.asyncDispose]();
  }

  #clientFor(server: ManagedServer): Client {
    const client = this.#options.clientFor(server.name);
    return {
      ...client,
      ask: (text, id, onAnswer) => {
        const token = progressTokenIn(text);
        const question = token === undefined ? undefined : { server, token };
        if (question) this.#questions.add(question);
        return client.ask(text, id, (answer) => {
          if (question) this.#questions.delete(question);
          const task = createdTask(answer);
          if (task !== undefined && this.#tasks.size < MOST_TASKS) this.#tasks.set(task, server);
          onAnswer(answer);
        });
      },
    };
  }
}

/** The id of the task that a client answers with, if it does. */
function createdTask(answer: string): string | undefined {
  if (!answer.includes('"taskId"')) return undefined;
  const { result } = JSON.parse(answer);
  const taskId = isObject(result) && isObject(result.task) ? result.task.taskId : undefined;
  return typeof taskId === "string" ? taskId : undefined;
}

function progressTokenIn(question: string): MessageId | undefined {
  if (!question.includes('"progressToken"')) return undefined;
  const { params } = JSON.parse(question);
  return isObject(params) ? progressTokenOf({ params, text: question }) : undefined;
}
