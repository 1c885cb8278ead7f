import {
  idText,
  isObject,
  memberSpans,
  type MessageId,
  notificationText,
  resultText,
  type RpcMessage,
  withFirstMember,
} from "../core/rpc.ts";
import { GatewayError } from "../core/errors.ts";
import * as z from "zod";
import { SUBSCRIPTION_ID_KEY } from "../core/stateless.ts";
import type { ClientLists, ListeningSession } from "./list_changes.ts";
import { MAX_WAITING, type StatelessSession } from "./stateless_session.ts";
import type { View } from "./view.ts";

const SubscriptionFilter = z.object({
  toolsListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string()).max(10_000).optional(),
});
type SubscriptionFilter = z.infer<typeof SubscriptionFilter>;

/** Where the events of one subscription go: an HTTP response, or lines on stdout. */
export interface ListenSink {
  send(text: string): void;
  heartbeat(): void;
  end(): void;
}

/** One request of a client becomes one to a server for each resource. */
const SUBSCRIBE_AT_ONCE = 20;

const LIST_CHANGES = new Map<string, keyof SubscriptionFilter>([
  ["notifications/tools/list_changed", "toolsListChanged"],
  ["notifications/prompts/list_changed", "promptsListChanged"],
  ["notifications/resources/list_changed", "resourcesListChanged"],
]);

/** One subscriptions/listen of a client: changes of lists and updates of resources, as it asked. */
export class Listen implements ListeningSession {
  readonly #session: StatelessSession;
  readonly #id: MessageId;
  readonly #filter: SubscriptionFilter;
  readonly #uris: ReadonlySet<string>;
  readonly #sink: ListenSink;
  readonly #lists: ClientLists | undefined;

  private constructor(
    session: StatelessSession,
    id: MessageId,
    filter: SubscriptionFilter,
    sink: ListenSink,
  ) {
    this.#session = session;
    this.#id = id;
    this.#filter = filter;
    this.#uris = new Set(filter.resourceSubscriptions);
    this.#sink = sink;
    this.#lists = session.view.lists?.follow();
  }

  /** Acknowledges the notifications it will get; throws INVALID_PARAMS or LIMIT_EXCEEDED. */
  static async open(
    session: StatelessSession,
    view: View,
    { id, params }: { id: MessageId; params: Record<string, unknown> },
    openSink: () => ListenSink,
  ): Promise<Listen> {
    const wanted = SubscriptionFilter.safeParse(params.notifications);
    if (!wanted.success) {
      throw new GatewayError("INVALID_PARAMS", {
        message: `subscriptions/listen: notifications: ${z.prettifyError(wanted.error)}`,
      });
    }
    if (session.listens.size + session.opening >= MAX_WAITING) {
      throw new GatewayError("LIMIT_EXCEEDED", {
        message: `A client can have at most ${MAX_WAITING} open subscriptions/listen requests`,
        recoverySteps: ["End one of the client's subscriptions/listen requests"],
      });
    }
    session.opening++;
    const filter = await honored(session, view, wanted.data).finally(() => session.opening--);
    const listen = new Listen(session, id, filter, openSink());
    session.listens.add(listen);
    listen.#send("notifications/subscriptions/acknowledged", { notifications: filter });
    // Changes since the client's last list are announced immediately.
    for (const kind of listen.#lists?.takeChanges() ?? []) {
      listen.push(notificationText(`notifications/${kind}/list_changed`));
    }
    // The client may open another.
    if (session.isEnded) listen.end();
    return listen;
  }

  *lists(): Iterable<ClientLists> {
    if (this.#lists) yield this.#lists;
  }

  /** An announcement of a changed list. */
  push(text: string): void {
    this.take(JSON.parse(text), text);
  }

  /** Passes a notification on if the client asked for it. */
  take(
    { method, params }: Pick<Extract<RpcMessage, { kind: "notification" }>, "method" | "params">,
    text: string,
  ): void {
    const member = LIST_CHANGES.get(method);
    const isWanted = member === undefined
      ? method === "notifications/resources/updated" && typeof params.uri === "string" &&
        this.#uris.has(params.uri)
      : this.#filter[member] === true;
    if (!isWanted || !this.#session.listens.has(this)) return;
    const span = memberSpans(text).get("params");
    this.#send(method, span ? JSON.parse(text.slice(span.start, span.end)) : {});
  }

  heartbeat(): void {
    this.#sink.heartbeat();
  }

  /** The gateway ends it, and tells the client that nothing more will come. */
  end(): void {
    if (!this.#close()) return;
    const meta = `{"${SUBSCRIPTION_ID_KEY}":${idText(this.#id)}}`;
    this.#sink.send(resultText(this.#id, `{"resultType":"complete","_meta":${meta}}`));
    this.#sink.end();
  }

  /** The client has gone, or has cancelled it. */
  close(): void {
    if (this.#close()) this.#sink.end();
  }

  #close(): boolean {
    if (!this.#session.listens.delete(this)) return false;
    this.#session.touch();
    for (const uri of this.#uris) this.#session.unsubscribe(uri);
    return true;
  }

  #send(method: string, params: Record<string, unknown>): void {
    const { _meta, ...rest } = params;
    const meta = JSON.stringify(isObject(_meta) ? _meta : {});
    const stamped = withFirstMember(meta, SUBSCRIPTION_ID_KEY, idText(this.#id));
    const sent = withFirstMember(JSON.stringify(rest), "_meta", stamped);
    this.#sink.send(notificationText(method, sent));
  }
}

/** The part of a filter that the endpoint supports; subscribes to the resources. */
async function honored(
  session: StatelessSession,
  view: View,
  wanted: SubscriptionFilter,
): Promise<SubscriptionFilter> {
  const { capabilities } = await view.introduce(session.principal);
  const has = (feature: string, name: string) => {
    const offered = isObject(capabilities) ? capabilities[feature] : undefined;
    return isObject(offered) && offered[name] === true;
  };
  const filter: SubscriptionFilter = {};
  for (const feature of ["tools", "prompts", "resources"] as const) {
    const member = `${feature}ListChanged` as const;
    if (wanted[member] && has(feature, "listChanged")) filter[member] = true;
  }
  if (wanted.resourceSubscriptions && has("resources", "subscribe")) {
    const uris = [...new Set(wanted.resourceSubscriptions)];
    const done: boolean[] = [];
    while (done.length < uris.length && !session.isEnded) {
      const some = uris.slice(done.length, done.length + SUBSCRIBE_AT_ONCE);
      done.push(...await Promise.all(some.map((uri) => session.subscribe(uri))));
    }
    filter.resourceSubscriptions = uris.filter((_, index) => done[index]);
  }
  return filter;
}
