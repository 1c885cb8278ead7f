import { memberSpans, replaceSpan } from "../core/json_spans.ts";
import { errorText, isObject, memberText, resultText } from "../core/rpc.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import { findCollisions } from "../routing/collisions.ts";
import { flatNames, namespacedName } from "../routing/names.ts";
import type { OnPromptCollisions } from "../routing/prompt_collisions.ts";
import { CombinedResources, type ResourceRoute } from "./combined_resources.ts";
import { type CallServer, declares, type ListedItem, listFromAll } from "./server_listing.ts";
import { portForServer } from "./shared_port.ts";
import { completionRef, soundParams } from "./sound_params.ts";
import type { ClientPort, RequestScope } from "./surface.ts";

/** Lists younger than this are not asked for again to find something that is not in them. */
const FRESH_MS = 2_000;

export interface CombinedFeaturesOptions {
  /** Of the flat names that prompts get. */
  maxNameLength: number;
  /** Those that can be reached now. */
  servers(): readonly ManagedServer[];
  /** Those to which the client has a connection of its own. */
  connected(): readonly ManagedServer[];
  /** Asks for one of a server's lists. */
  list: CallServer;
  call: CallServer;
  onPromptCollisions?: OnPromptCollisions | undefined;
}

interface PromptRoute {
  server: ManagedServer;
  name: string;
}

/** When something was listed, and from whom. */
interface Listing {
  at: number;
  servers: readonly ManagedServer[];
}

const NEVER: Listing = { at: 0, servers: [] };
const LEVELS = new Set([
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
]);

/** Resources, prompts, completions and logging of several servers as those of one. */
export class CombinedFeatures {
  readonly #options: CombinedFeaturesOptions;
  #resources = new CombinedResources([], []);
  #resourcesListed = NEVER;
  #prompts = new Map<string, PromptRoute>();
  #promptsListed = NEVER;
  /** By the URI that the client subscribed to: another list may give the resource another one. */
  readonly #subscribed = new Map<string, ResourceRoute>();
  #level: string | undefined;
  /** What each server was last told of it. */
  readonly #told = new WeakMap<ManagedServer, string>();

  constructor(options: CombinedFeaturesOptions) {
    this.#options = options;
  }

  /** The whole answer; undefined where the method is none of these. */
  async request(scope: RequestScope): Promise<string | undefined> {
    switch (scope.method) {
      case "resources/list": {
        const { resourceTexts } = await this.#loadResources(scope);
        return resultText(scope.id, `{"resources":[${resourceTexts.join(",")}]}`);
      }
      case "resources/templates/list": {
        const { templateTexts } = await this.#loadResources(scope);
        return resultText(scope.id, `{"resourceTemplates":[${templateTexts.join(",")}]}`);
      }
      case "prompts/list":
        return resultText(scope.id, `{"prompts":[${(await this.#loadPrompts(scope)).join(",")}]}`);
      case "resources/read":
      case "resources/subscribe":
      case "resources/unsubscribe":
        return await this.#onResource(scope);
      case "prompts/get":
        return await this.#getPrompt(scope);
      case "completion/complete":
        return await this.#complete(scope);
      case "logging/setLevel":
        return await this.#setLevel(scope);
    }
  }

  /** The client's port as one of the servers has it. */
  portFor(server: string, port: ClientPort): ClientPort {
    return portForServer(port, (text) => this.#outgoing(server, text));
  }

  /** A request of the client's as one of the servers has it. */
  scopeFor(server: string, scope: RequestScope): RequestScope {
    return { ...scope, send: (text) => scope.send(this.#outgoing(server, text)) };
  }

  /** Has a server that comes into use log as the client wants it; undefined where it does. */
  prepare(server: ManagedServer, scope: RequestScope): Promise<void> | undefined {
    const level = this.#level;
    if (level === undefined || this.#told.get(server) === level) return undefined;
    return this.#tellLevel(server, scope, level);
  }

  async #tellLevel(server: ManagedServer, scope: RequestScope, level: string): Promise<void> {
    const params = { level };
    const inner = { ...scope, method: "logging/setLevel", params };
    try {
      if (await declares(server, "logging", scope.signal)) {
        await this.#options.call(server, inner, inner.method, JSON.stringify(params));
      }
      this.#told.set(server, level);
    } catch {
      /* no reason to refuse the call it is about to serve; it is told with the next one */
    }
  }

  async #loadResources(scope: RequestScope): Promise<CombinedResources> {
    const servers = this.#options.servers();
    const { list } = this.#options;
    const [resources, templates] = await Promise.all([
      listFromAll(servers, "resources/list", scope, list),
      listFromAll(servers, "resources/templates/list", scope, list),
    ]);
    this.#resourcesListed = { at: Date.now(), servers };
    return this.#resources = new CombinedResources(resources, templates);
  }

  async #loadPrompts(scope: RequestScope): Promise<string[]> {
    const servers = this.#options.servers();
    const items = await listFromAll(servers, "prompts/list", scope, this.#options.list);
    const named = new Map<string, ListedItem>();
    for (const item of items) {
      if (typeof item.value.name !== "string") continue;
      named.set(namespacedName(item.server.name, item.value.name), item);
    }
    this.#prompts = new Map();
    this.#promptsListed = { at: Date.now(), servers };
    const { maxNameLength } = this.#options;
    const names = flatNames(named.keys(), maxNameLength);
    this.#options.onPromptCollisions?.(
      servers.map(({ name }) => name),
      findCollisions(names, maxNameLength),
    );
    return Array.from(names, ([namespaced, flat]) => {
      const { server, value, text } = named.get(namespaced)!;
      this.#prompts.set(flat, { server, name: String(value.name) });
      return replaceSpan(text, memberSpans(text).get("name")!, JSON.stringify(flat));
    });
  }

  async #onResource(scope: RequestScope): Promise<string> {
    const { uri } = scope.params;
    const route = typeof uri === "string" ? await this.#routeOf(scope, uri) : undefined;
    if (typeof uri !== "string" || !route) {
      return errorText(scope.id, -32002, `There is no resource ${JSON.stringify(uri) ?? ""} here`);
    }
    const params = { ...scope.params, uri: route.uri };
    if (scope.method !== "resources/subscribe") {
      return await this.#relay(route.server, scope, params);
    }
    const before = this.#subscribed.get(uri);
    // Before it is asked for: the first update may come before the answer.
    this.#subscribed.set(uri, route);
    let isSubscribed = false;
    try {
      const answer = await this.#relay(route.server, scope, params);
      isSubscribed = memberText(answer, "result") !== undefined;
      return answer;
    } finally {
      if (!isSubscribed) {
        if (before) this.#subscribed.set(uri, before);
        else this.#subscribed.delete(uri);
      }
    }
  }

  /** Where a request about a resource goes; a subscription ends where it was made. */
  async #routeOf(scope: RequestScope, uri: string): Promise<ResourceRoute | undefined> {
    const subscribed = this.#subscribed.get(uri);
    if (scope.method !== "resources/unsubscribe" || !subscribed) {
      return await this.#findResource(scope, uri);
    }
    this.#subscribed.delete(uri);
    return subscribed;
  }

  async #findResource(scope: RequestScope, uri: string): Promise<ResourceRoute | undefined> {
    const servers = this.#options.servers();
    // What a client was told of a server that is away now leads nowhere.
    const reachable = (route: ResourceRoute | undefined) =>
      route && servers.includes(route.server) ? route : undefined;
    const known = reachable(this.#resources.find(uri, servers));
    if (known) return known;
    if (!isFresh(this.#resourcesListed, servers)) await this.#loadResources(scope);
    return reachable(this.#resources.find(uri, servers)) ?? this.#resources.guess(uri, servers);
  }

  async #getPrompt(scope: RequestScope): Promise<string> {
    const { name } = scope.params;
    const route = typeof name === "string" ? await this.#findPrompt(scope, name) : undefined;
    if (!route) return noPrompt(scope, name);
    return await this.#relay(route.server, scope, { ...scope.params, name: route.name });
  }

  async #findPrompt(scope: RequestScope, name: string): Promise<PromptRoute | undefined> {
    const find = () => {
      const route = this.#prompts.get(name) ??
        [...this.#prompts.values()].find((route) =>
          namespacedName(route.server.name, route.name) === name
        );
      return route && this.#options.servers().includes(route.server) ? route : undefined;
    };
    const known = find();
    if (known || isFresh(this.#promptsListed, this.#options.servers())) return known;
    await this.#loadPrompts(scope);
    return find();
  }

  async #complete(scope: RequestScope): Promise<string> {
    const { kind, name } = completionRef(scope.text, scope.params);
    const ref = isObject(scope.params.ref) ? scope.params.ref : {};
    if (kind === "resource") {
      const route = await this.#findResource(scope, name);
      const params = { ...scope.params, ref: { ...ref, uri: route?.uri } };
      if (route) return await this.#relay(route.server, scope, params);
      return errorText(scope.id, -32602, `There is no resource ${JSON.stringify(name)} here`);
    }
    const route = await this.#findPrompt(scope, name);
    if (!route) return noPrompt(scope, name);
    const params = { ...scope.params, ref: { ...ref, name: route.name } };
    return await this.#relay(route.server, scope, params);
  }

  async #setLevel(scope: RequestScope): Promise<string> {
    const { level } = scope.params;
    if (typeof level !== "string" || !LEVELS.has(level)) {
      return errorText(scope.id, -32602, `A log level is one of ${[...LEVELS].join(", ")}`);
    }
    this.#level = level;
    // The others are told when the client first uses them: nobody else need be started for it.
    await Promise.all(this.#options.connected().map((server) => this.prepare(server, scope)));
    return resultText(scope.id, "{}");
  }

  /** With what was changed spliced in, and all else as it came. */
  async #relay(
    server: ManagedServer,
    scope: RequestScope,
    params: Record<string, unknown>,
  ): Promise<string> {
    await this.prepare(server, scope);
    let { text } = soundParams(scope.text)!;
    for (const member of ["uri", "name", "ref"]) {
      if (params[member] === scope.params[member]) continue;
      text = replaceSpan(text, memberSpans(text).get(member)!, JSON.stringify(params[member]));
    }
    return await this.#options.call(server, { ...scope, params }, scope.method, text);
  }

  /** What a server says of a resource, under the URI that the client knows. */
  #outgoing(server: string, text: string): string {
    if (this.#subscribed.size === 0 || !text.includes("notifications/resources/updated")) {
      return text;
    }
    const params = memberSpans(text).get("params");
    const uri = params && memberSpans(text, params.start).get("uri");
    if (!uri) return text;
    const own: unknown = JSON.parse(text.slice(uri.start, uri.end));
    if (typeof own !== "string") return text;
    const [known = this.#resources.exposed(server, own)] =
      [...this.#subscribed].find(([, route]) =>
        route.server.name === server && route.uri === own
      ) ?? [];
    return replaceSpan(text, uri, JSON.stringify(known));
  }
}

/** Whether asking again would hardly bring anything else. */
function isFresh(listed: Listing, servers: readonly ManagedServer[]): boolean {
  return Date.now() - listed.at < FRESH_MS && listed.servers.length === servers.length &&
    servers.every((server, index) => server === listed.servers[index]);
}

function noPrompt(scope: RequestScope, name: unknown): string {
  return errorText(scope.id, -32602, `There is no prompt ${JSON.stringify(name) ?? ""} here`);
}
