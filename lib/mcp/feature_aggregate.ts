import {
  errorText,
  isObject,
  memberSpans,
  memberText,
  replaceSpan,
  resultText,
} from "../core/rpc.ts";
import type { ManagedServer } from "../servers/server.ts";
import { findCollisions, type OnPromptCollisions } from "../catalog/name_table.ts";
import { flatNames, namespacedName } from "../catalog/names.ts";
import {
  parseExposedPage,
  ResourceAggregate,
  type ResourceRoute,
  withExposedPages,
} from "./resource_aggregate.ts";
import { type CallServer, declares, type ListedItem, listFromAll } from "./server_lists.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { completionRef, requestParams } from "./call.ts";

/** Lists younger than this are not asked for again to find something that is not in them. */
const FRESH_MS = 2_000;

interface FeatureAggregateOptions {
  maxNameLength: number;
  servers(): readonly ManagedServer[];
  /** The servers whose tools can be called, listed or not; their pages can be shown. */
  callable(): readonly ManagedServer[];
  /** Those to which the client has a connection of its own. */
  connected(): readonly ManagedServer[];
  list: CallServer;
  call: CallServer;
  onPromptCollisions?: OnPromptCollisions | undefined;
}

interface PromptRoute {
  server: ManagedServer;
  name: string;
}

interface Listing {
  at: number;
  servers: readonly ManagedServer[];
}

const NEVER: Listing = { at: 0, servers: [] };
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** Resources, prompts, completions and logging of several servers as those of one. */
export class FeatureAggregate {
  readonly #options: FeatureAggregateOptions;
  #resources = new ResourceAggregate([], []);
  #resourcesListed = NEVER;
  #prompts = new Map<string, PromptRoute>();
  #promptsListed = NEVER;
  /** By the URI that the client subscribed to: another list may give the resource another one. */
  readonly #subscribed = new Map<string, ResourceRoute>();
  #level: string | undefined;
  readonly #levels = new WeakMap<ManagedServer, string>();

  constructor(options: FeatureAggregateOptions) {
    this.#options = options;
  }

  /** The whole answer; undefined where the method is none of these. */
  async request(request: McpRequest): Promise<string | undefined> {
    switch (request.method) {
      case "resources/list": {
        const { resourceTexts } = await this.#loadResources(request);
        return resultText(request.id, `{"resources":[${resourceTexts.join(",")}]}`);
      }
      case "resources/templates/list": {
        const { templateTexts } = await this.#loadResources(request);
        return resultText(request.id, `{"resourceTemplates":[${templateTexts.join(",")}]}`);
      }
      case "prompts/list": {
        const texts = await this.#loadPrompts(request);
        return resultText(request.id, `{"prompts":[${texts.join(",")}]}`);
      }
      case "resources/read":
      case "resources/subscribe":
      case "resources/unsubscribe":
        return await this.#onResource(request);
      case "prompts/get":
        return await this.#getPrompt(request);
      case "completion/complete":
        return await this.#complete(request);
      case "logging/setLevel":
        return await this.#setLevel(request);
    }
  }

  /** The client as one of the servers sees it. */
  clientFor(server: string, client: Client): Client {
    return {
      profile: client.profile,
      principal: client.principal,
      push: (text) => client.push(this.#outgoing(server, text)),
      ask: (text, id, onAnswer) => client.ask(text, id, onAnswer),
    };
  }

  requestFor(server: string, request: McpRequest): McpRequest {
    return { ...request, send: (text) => request.send(this.#outgoing(server, text)) };
  }

  /** Has a server that comes into use log as the client wants it; undefined where it does. */
  prepare(server: ManagedServer, request: McpRequest): Promise<void> | undefined {
    const level = this.#level;
    if (level === undefined || this.#levels.get(server) === level) return undefined;
    return this.#sendLevel(server, request, level);
  }

  async #sendLevel(server: ManagedServer, request: McpRequest, level: string): Promise<void> {
    try {
      if (await declares(server, "logging", request.signal)) {
        const inner = { ...request, method: "logging/setLevel", params: { level } };
        await this.#options.call(server, inner, JSON.stringify({ level }));
      }
      this.#levels.set(server, level);
    } catch {
      /* not a reason to refuse the call: it is set before the next one */
    }
  }

  async #loadResources(request: McpRequest): Promise<ResourceAggregate> {
    const { list } = this.#options;
    const servers = this.#options.servers();
    const [resources, templates] = await Promise.all([
      listFromAll(servers, "resources", request, list),
      listFromAll(servers, "resourceTemplates", request, list),
    ]);
    this.#resourcesListed = { at: Date.now(), servers };
    return this.#resources = new ResourceAggregate(resources, templates);
  }

  async #loadPrompts(request: McpRequest): Promise<string[]> {
    const servers = this.#options.servers();
    const items = await listFromAll(servers, "prompts", request, this.#options.list);
    const named = new Map<string, ListedItem>();
    for (const item of items) {
      if (typeof item.value.name !== "string") continue;
      named.set(namespacedName(item.server.name, item.value.name), item);
    }
    this.#prompts = new Map();
    this.#promptsListed = { at: Date.now(), servers };
    const { maxNameLength } = this.#options;
    const names = flatNames(named.keys(), maxNameLength);
    const collisions = findCollisions(names, maxNameLength);
    this.#options.onPromptCollisions?.(servers.map(({ name }) => name), collisions);
    return Array.from(names, ([namespaced, flat]) => {
      const { server, value, text } = named.get(namespaced)!;
      this.#prompts.set(flat, { server, name: String(value.name) });
      return replaceSpan(text, memberSpans(text).get("name")!, JSON.stringify(flat));
    });
  }

  async #onResource(request: McpRequest): Promise<string> {
    const { uri } = request.params;
    const route = typeof uri === "string" ? await this.#routeOf(request, uri) : undefined;
    if (typeof uri !== "string" || !route) return nothingAt(request, -32002, "resource", uri);
    const params = { ...request.params, uri: route.uri };
    if (request.method !== "resources/subscribe") {
      return await this.#relay(route.server, request, params);
    }
    const before = this.#subscribed.get(uri);
    // Before it is asked for: the first update may come before the answer.
    this.#subscribed.set(uri, route);
    let isSubscribed = false;
    try {
      const answer = await this.#relay(route.server, request, params);
      isSubscribed = memberText(answer, "result") !== undefined;
      return answer;
    } finally {
      if (!isSubscribed && before) this.#subscribed.set(uri, before);
      else if (!isSubscribed) this.#subscribed.delete(uri);
    }
  }

  /** Where a request about a resource goes; a subscription ends where it was made. */
  async #routeOf(request: McpRequest, uri: string): Promise<ResourceRoute | undefined> {
    const subscribed = this.#subscribed.get(uri);
    if (request.method !== "resources/unsubscribe" || !subscribed) {
      return await this.#findResource(request, uri);
    }
    this.#subscribed.delete(uri);
    return subscribed;
  }

  async #findResource(request: McpRequest, uri: string): Promise<ResourceRoute | undefined> {
    const page = parseExposedPage(uri);
    if (page) {
      const server = this.#options.callable().find(({ name }) => name === page.server);
      return server && { server, uri: page.uri };
    }
    const servers = this.#options.servers();
    // A URI of a server that is away leads nowhere.
    const reachable = (route: ResourceRoute | undefined) =>
      route && servers.includes(route.server) ? route : undefined;
    const known = reachable(this.#resources.find(uri, servers));
    if (known) return known;
    if (!isFresh(this.#resourcesListed, servers)) await this.#loadResources(request);
    return reachable(this.#resources.find(uri, servers)) ?? this.#resources.guess(uri, servers);
  }

  async #getPrompt(request: McpRequest): Promise<string> {
    const { name } = request.params;
    const route = typeof name === "string" ? await this.#findPrompt(request, name) : undefined;
    if (!route) return nothingAt(request, -32602, "prompt", name);
    return await this.#relay(route.server, request, { ...request.params, name: route.name });
  }

  async #findPrompt(request: McpRequest, name: string): Promise<PromptRoute | undefined> {
    const find = () => {
      const route = this.#prompts.get(name) ??
        [...this.#prompts.values()].find((route) =>
          namespacedName(route.server.name, route.name) === name
        );
      return route && this.#options.servers().includes(route.server) ? route : undefined;
    };
    const known = find();
    if (known || isFresh(this.#promptsListed, this.#options.servers())) return known;
    await this.#loadPrompts(request);
    return find();
  }

  async #complete(request: McpRequest): Promise<string> {
    const { kind, name } = completionRef(request.text, request.params);
    const route = kind === "resource"
      ? await this.#findResource(request, name)
      : await this.#findPrompt(request, name);
    if (!route) return nothingAt(request, -32602, kind, name);
    const known = "name" in route ? { name: route.name } : { uri: route.uri };
    const ref = isObject(request.params.ref) ? request.params.ref : {};
    const params = { ...request.params, ref: { ...ref, ...known } };
    return await this.#relay(route.server, request, params);
  }

  async #setLevel(request: McpRequest): Promise<string> {
    const { level } = request.params;
    if (typeof level !== "string" || !LEVELS.includes(level)) {
      return errorText(request.id, -32602, `A log level is one of ${LEVELS.join(", ")}`);
    }
    this.#level = level;
    // The others get it when the client first uses them: no server is started for it.
    await Promise.all(this.#options.connected().map((server) => this.prepare(server, request)));
    return resultText(request.id, "{}");
  }

  async #relay(
    server: ManagedServer,
    request: McpRequest,
    params: Record<string, unknown>,
  ): Promise<string> {
    await this.prepare(server, request);
    let { text } = requestParams(request.text)!;
    for (const member of ["uri", "name", "ref"]) {
      if (params[member] === request.params[member]) continue;
      text = replaceSpan(text, memberSpans(text).get(member)!, JSON.stringify(params[member]));
    }
    const answer = await this.#options.call(server, { ...request, params }, text);
    return withExposedPages(server.name, answer);
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

function isFresh(listed: Listing, servers: readonly ManagedServer[]): boolean {
  return Date.now() - listed.at < FRESH_MS && listed.servers.length === servers.length &&
    servers.every((server, index) => server === listed.servers[index]);
}

function nothingAt({ id }: McpRequest, code: number, kind: string, name: unknown): string {
  return errorText(id, code, `There is no ${kind} ${JSON.stringify(name) ?? ""} here`);
}
