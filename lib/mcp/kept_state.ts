import { abortable } from "../core/async.ts";
import { type Client, isStateless, type McpRequest } from "../core/client.ts";
import {
  errorText,
  isObject,
  memberText,
  notificationText,
  parseJson,
  resultText,
} from "../core/rpc.ts";
import { FOLLOW_TASK, LOG_LEVEL_KEY, TASK_CHANGED } from "../core/stateless.ts";
import type { Call, Connection } from "../servers/connection.ts";
import type { ManagedServer } from "../servers/server.ts";
import { Subscription } from "../servers/subscription.ts";
import type { ConnectionState } from "./connection_state.ts";
import type { ServerAnswer } from "./input_rounds.ts";
import { ResourceWatch } from "./resource_watch.ts";

const METHOD_NOT_FOUND = -32601;
/** What clients get of a stateless server's log messages until they set a level. */
const DEFAULT_LEVEL = "info";

/** What a stateless server does not keep for a client with a session: its log level and subscriptions. */
export class KeptState implements Disposable {
  readonly #server: ManagedServer;
  readonly #client: Client;
  readonly #state: ConnectionState;
  #watch: ResourceWatch | undefined;

  constructor(server: ManagedServer, client: Client, state: ConnectionState) {
    this.#server = server;
    this.#client = client;
    this.#state = state;
  }

  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]();
  }

  /** The log messages that a client wants of a stateless server, which sends none unless asked. */
  logLevel({ params: { _meta: meta } }: McpRequest): string | undefined {
    if (isStateless(this.#client.profile)) {
      const level = isObject(meta) ? meta[LOG_LEVEL_KEY] : undefined;
      return typeof level === "string" ? level : undefined;
    }
    const isLogging = this.#server.info?.capabilities.logging !== undefined;
    return this.#state.level ?? (isLogging ? DEFAULT_LEVEL : undefined);
  }

  async keep(call: Call, own?: Connection): Promise<ServerAnswer> {
    if (call.method === FOLLOW_TASK) return await this.#followTask(call, own);
    const done = { id: 0, text: resultText(0, "{}") };
    const { capabilities = {} } = this.#server.info ?? {};
    const isLevel = call.method === "logging/setLevel";
    if (capabilities[isLevel ? "logging" : "resources"] === undefined) {
      return { id: 0, text: errorText(0, METHOD_NOT_FOUND, "Method not found") };
    }
    this.#state.asked(call);
    this.#state.answered(call, done.text);
    if (isLevel) return done;
    try {
      this.#watch ??= new ResourceWatch(this.#server, () => this.#state.subscriptions, (uri) => {
        const updated = JSON.stringify({ uri });
        this.#client.push(notificationText("notifications/resources/updated", updated));
      });
      await abortable(this.#watch.update(), call.signal);
      return done;
    } catch (error) {
      this.#state.asked({ ...call, method: "resources/unsubscribe" });
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (typeof code !== "number") throw error;
      return { id: 0, text: errorText(0, code, String(error)) };
    }
  }

  /** Lasts until the request is canceled or the server announces nothing more. */
  async #followTask(call: Call, own?: Connection): Promise<ServerAnswer> {
    if (!isStateless(this.#client.profile)) {
      return { id: 0, text: errorText(0, METHOD_NOT_FOUND, "Method not found") };
    }
    const connection = own ?? await this.#server.connection(call.signal);
    const taskId = String(parseJson(memberText(call.params ?? "{}", "taskId") ?? "null"));
    const text = notificationText(TASK_CHANGED, JSON.stringify({ taskId }));
    const params = { taskId };
    const tell = () =>
      call.onMessage?.(text, { kind: "notification", method: TASK_CHANGED, params });
    using subscription = new Subscription({
      connection,
      filter: { taskIds: [taskId] },
      onNotification: tell,
      onGap: tell,
    });
    await abortable(subscription.opened, call.signal);
    tell();
    await abortable(subscription.ended, call.signal);
    return { id: 0, text: resultText(0, "{}") };
  }
}
