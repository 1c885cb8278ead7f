import {
  idText,
  isObject,
  memberText,
  type MessageId,
  notificationText,
  resultText,
  type RpcMessage,
  withFirstMember,
  withoutMembers,
} from "../core/rpc.ts";
import { GatewayError } from "../core/errors.ts";
import * as z from "zod";
import { SUBSCRIPTION_ID_KEY, TASK_CHANGED } from "../core/stateless.ts";
import type { HeldCalls } from "./held_calls.ts";
import type { ClientLists, ListeningSession } from "./list_changes.ts";
import { MAX_WAITING, type StatelessSession } from "./stateless_session.ts";
import { TaskFollower } from "./task_follower.ts";
import type { View } from "./view.ts";

/** Each has a stream of its own from its server. */
const MAX_TASKS = 100;

const SubscriptionFilter = z.object({
  toolsListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string()).max(10_000).optional(),
  taskIds: z.array(z.string()).max(MAX_TASKS).optional(),
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

/** One subscriptions/listen of a client: changes of lists, resources and tasks, as it asked. */
export class Listen implements ListeningSession {
  readonly #session: StatelessSession;
  readonly #id: MessageId;
  readonly #filter: SubscriptionFilter;
  readonly #uris: ReadonlySet<string>;
  readonly #sink: ListenSink;
  readonly #lists: ClientLists | undefined;
  #tasks: readonly TaskFollower[] = [];

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
    held: Pick<HeldCalls, "isOurs" | "taskSource">,
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
    const { taskIds, ...others } = wanted.data;
    const following = followedTasks(session, held, taskIds ?? []);
    const [filter, tasks] = await Promise.all([honored(session, view, others), following])
      .catch((error) => {
        void following.then((tasks) => tasks.forEach((task) => task[Symbol.dispose]()))
          .catch(() => {});
        throw error;
      })
      .finally(() => session.opening--);
    if (taskIds) filter.taskIds = [...tasks.keys()];
    const listen = new Listen(session, id, filter, openSink());
    listen.#tasks = [...tasks.values()];
    session.listens.add(listen);
    listen.#send(
      "notifications/subscriptions/acknowledged",
      JSON.stringify({ notifications: filter }),
    );
    for (const task of listen.#tasks) task.start((state) => listen.#tell(state));
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
    this.#send(method, memberText(text, "params") ?? "{}");
  }

  /** Sends a task's state, without what only the result of a request has. */
  #tell(state: string): void {
    this.#send(TASK_CHANGED, withoutMembers(state, "resultType"));
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
    for (const task of this.#tasks) task[Symbol.dispose]();
    return true;
  }

  #send(method: string, params: string): void {
    const meta = memberText(params, "_meta");
    const own = meta?.startsWith("{") ? withoutMembers(meta, SUBSCRIPTION_ID_KEY) : "{}";
    const stamped = withFirstMember(own, SUBSCRIPTION_ID_KEY, idText(this.#id));
    const sent = withFirstMember(withoutMembers(params, "_meta"), "_meta", stamped);
    this.#sink.send(notificationText(method, sent));
  }
}

/** Those of the tasks that are the client's, and whose changes it will get. */
async function followedTasks(
  session: StatelessSession,
  held: Pick<HeldCalls, "isOurs" | "taskSource">,
  taskIds: readonly string[],
): Promise<Map<string, TaskFollower>> {
  const { endpoint, principal } = session;
  const followed = await Promise.all(Array.from(new Set(taskIds), async (taskId) => {
    const source = held.isOurs(taskId)
      ? held.taskSource({ taskId, endpoint, principal })
      : session.taskSource(taskId);
    return [taskId, await TaskFollower.open(source)] as const;
  }));
  return new Map(followed.flatMap(([id, task]) => task ? [[id, task]] : []));
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
