import { GatewayError } from "../core/errors.ts";
import { isObject, memberText } from "../core/rpc.ts";
import { FOLLOW_TASK } from "../core/stateless.ts";
import type { Call, Connection } from "../servers/connection.ts";
import { TransportClosed } from "../servers/transports/transport.ts";

/** Methods whose effect stays with the connection they were sent on. */
const STATEFUL = new Set([
  FOLLOW_TASK,
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
]);
/** More than any client watches; what is remembered must be bounded. */
const MAX_SUBSCRIPTIONS = 10_000;
const RESTORE_TIMEOUT_MS = 10_000;
/** More at once would flood a server, and would be wasted if it is lost again. */
const RESTORED_AT_ONCE = 20;

type Asked = Pick<Call, "method" | "params">;

export function isStateful(method: string): boolean {
  return STATEFUL.has(method);
}

/** What a server keeps for one client, to be asked of it again on the client's next connection. */
export class ConnectionState {
  readonly #subscriptions = new Set<string>();
  readonly #limit: number;
  #level: string | undefined;

  constructor(limit = MAX_SUBSCRIPTIONS) {
    this.#limit = limit;
  }

  get hasSubscriptions(): boolean {
    return this.#subscriptions.size > 0;
  }

  get subscriptions(): ReadonlySet<string> {
    return new Set(this.#subscriptions);
  }

  get level(): string | undefined {
    return this.#level;
  }

  keepLevel(level: string | undefined): void {
    this.#level = level;
  }

  get isEmpty(): boolean {
    return this.#level === undefined && !this.hasSubscriptions;
  }

  asked(call: Asked): void {
    const { uri } = paramsOf(call);
    if (typeof uri !== "string") return;
    // The response does not matter: the client no longer needs it.
    if (call.method === "resources/unsubscribe") this.#subscriptions.delete(uri);
    if (call.method !== "resources/subscribe" || this.#subscriptions.has(uri)) return;
    if (this.#subscriptions.size < this.#limit) return;
    throw new GatewayError("LIMIT_EXCEEDED", {
      message: `A client can subscribe to at most ${this.#limit} resources of a server`,
      recoveryAction: "Unsubscribe from some first",
    });
  }

  answered(call: Asked, answer: string): void {
    if (memberText(answer, "result") === undefined) return;
    const { method } = call;
    const { uri, level } = paramsOf(call);
    if (method === "resources/subscribe" && typeof uri === "string") this.#subscriptions.add(uri);
    if (method === "logging/setLevel" && typeof level === "string") this.#level = level;
  }

  /** Restores all of it on a new connection; throws if the connection is lost meanwhile. */
  async restore(connection: Pick<Connection, "call">): Promise<void> {
    const requests = Array.from(
      this.#subscriptions,
      (uri) => ({ method: "resources/subscribe", params: JSON.stringify({ uri }) }),
    );
    if (this.#level !== undefined) {
      const params = JSON.stringify({ level: this.#level });
      requests.unshift({ method: "logging/setLevel", params });
    }
    const left = requests.values();
    // Calls wait for this: after the limit, the rest is not restored on a slow server.
    const end = Date.now() + RESTORE_TIMEOUT_MS;
    let isLost = false;
    async function askInTurn(): Promise<void> {
      for (const request of left) {
        try {
          await connection.call({ ...request, timeoutMs: RESTORE_TIMEOUT_MS, streams: false });
        } catch (error) {
          // A server that takes long over one of them is still of use for everything else.
          if (!(error instanceof GatewayError) || error.cause instanceof TransportClosed) {
            isLost = true;
            throw error;
          }
        }
        if (isLost || Date.now() > end) return;
      }
    }
    await Promise.all(Array.from({ length: RESTORED_AT_ONCE }, askInTurn));
  }
}

/** As they are sent to the server, which may differ from what the client sent. */
function paramsOf({ params }: Asked): Record<string, unknown> {
  const value: unknown = JSON.parse(params ?? "{}");
  return isObject(value) ? value : {};
}
