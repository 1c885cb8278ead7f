import { defined } from "../core/defined.ts";
import {
  errorText,
  isObject,
  memberSpans,
  memberText,
  replaceSpan,
  resultText,
} from "../core/rpc.ts";
import { LOG_LEVELS } from "../core/stateless.ts";
import { GatewayError } from "../core/errors.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { OnPromptCollisions } from "../catalog/name_table.ts";
import { isFresh, NEVER, PromptAggregate, type PromptRoute } from "./prompt_aggregate.ts";
import {
  isGlobal,
  mayRefer,
  parseNamedUri,
  parseScopedUri,
  ResourceAggregate,
  type ResourceRoute,
  unambiguousUri,
  withExposedEntry,
  withExposedUris,
} from "./resource_aggregate.ts";
import { type CallServer, declares, listValid, SKILLS_LIST } from "./server_lists.ts";
import { TaskAggregate, withOwnTasks, withRoutedTasks } from "./task_aggregate.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { completionRef, requestParams } from "./call.ts";
import type { CallersLinks } from "./given_links.ts";

/** Servers named in an error. */
const MOST_NAMED = 10;
/** URIs in results that did not name their server, with the server that gave them. */
const MOST_GIVEN = 1_000;

export interface FeatureAggregateOptions {
  maxNameLength: number;
  servers(): readonly ManagedServer[];
  /** The servers whose tools can be called, listed or not; what they refer to can be read. */
  callable(): readonly ManagedServer[];
  /** Those to which the client has a connection of its own. */
  connected(): readonly ManagedServer[];
  list: CallServer;
  call: CallServer;
  onPromptCollisions?: OnPromptCollisions | undefined;
  /** What the caller was given in other sessions, too; missing if that is not recorded. */
  links?: CallersLinks | undefined;
}

/** Resources, prompts, completions and logging of several servers as those of one. */
export class FeatureAggregate {
  readonly #options: FeatureAggregateOptions;
  readonly #prompts: PromptAggregate;
  /** Of callable servers whose prompts are not listed. */
  readonly #otherPrompts: PromptAggregate;
  readonly #tasks: TaskAggregate;
  readonly #claims = new Map<string, string>();
  #resources = new ResourceAggregate([], []);
  #resourcesListed = NEVER;
  /** Of all callable servers, for URIs that no listed server has. */
  #all = new ResourceAggregate([], []);
  #allListed = NEVER;
  readonly #given = new Map<string, string>();
  /** By the URI that the client subscribed to: another list may give the resource another one. */
  readonly #subscribed = new Map<string, ResourceRoute>();
  #level: string | undefined;
  readonly #levels = new WeakMap<ManagedServer, string>();

  constructor(options: FeatureAggregateOptions) {
    this.#options = options;
    const { maxNameLength, list, onPromptCollisions, callable, connected } = options;
    this.#prompts = new PromptAggregate({ maxNameLength, list, onPromptCollisions });
    this.#otherPrompts = new PromptAggregate({ maxNameLength, list });
    this.#tasks = new TaskAggregate({
      callable,
      connected,
      list,
      call: async (server, request, params) =>
        await this.shown(server, request, await options.call(server, request, params)),
    });
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
        const texts = await this.#prompts.load(this.#options.servers(), request);
        return resultText(request.id, `{"prompts":[${texts.join(",")}]}`);
      }
      case SKILLS_LIST: {
        const { callable, list } = this.#options;
        const items = await listValid(callable(), "skills", request, list);
        const texts = items.map(({ server, text }) =>
          withExposedEntry(text, (uri) => this.#exposed(server.name, uri))
        );
        return resultText(request.id, `{"skills":[${texts.join(",")}]}`);
      }
      case "skills/get":
      case "resources/directory/read":
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
      default:
        return await this.#tasks.request(request);
    }
  }

  /** A server's answer with the URIs and ids of tasks that the client knows. */
  async shown(server: ManagedServer, request: McpRequest, answer: string): Promise<string> {
    const routed = withRoutedTasks(server.name, answer, request.method);
    if (!mayRefer(routed)) return routed;
    const servers = this.#options.servers();
    // Which URIs stay as they are depends on who lists them.
    if (this.#resourcesListed === NEVER && servers.includes(server)) {
      await this.#loadResources(request);
    }
    return withExposedUris(routed, (uri) => this.#exposed(server.name, uri));
  }

  #exposed(server: string, uri: string): string {
    const exposed = this.#resources.exposed(server, uri);
    if (exposed !== uri) return exposed;
    // Two servers can refer to the same file or web page, and each has its own of it.
    const first = this.#given.get(uri);
    if (first !== undefined) return first === server ? uri : unambiguousUri(server, uri);
    if (this.#given.size >= MOST_GIVEN) this.#given.delete(this.#given.keys().next().value!);
    this.#given.set(uri, server);
    if (isGlobal(uri)) this.#options.links?.note(uri, server);
    return uri;
  }

  /** The client as one of the servers sees it. */
  clientFor(server: string, client: Client): Client {
    return {
      profile: client.profile,
      principal: client.principal,
      ...defined({ endpoint: client.endpoint, from: client.from }),
      push: (text) => client.push(this.#outgoing(server, text)),
      ask: (text, id, onAnswer) =>
        client.ask(text, id, (answer) => onAnswer(withOwnTasks(server, answer))),
    };
  }

  requestFor(server: string, request: McpRequest): McpRequest {
    return { ...request, send: (text) => request.send(this.#outgoing(server, text)) };
  }

  /** Sets the client's log level on a server at first use; undefined if it is already set. */
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
    const servers = this.#options.servers();
    const resources = await this.#listResources(servers, request, this.#claims);
    this.#resourcesListed = { at: Date.now(), servers };
    return this.#resources = resources;
  }

  async #listResources(
    servers: readonly ManagedServer[],
    request: McpRequest,
    claims?: Map<string, string>,
  ): Promise<ResourceAggregate> {
    const { list } = this.#options;
    const [resources, templates] = await Promise.all([
      listValid(servers, "resources", request, list),
      listValid(servers, "resourceTemplates", request, list),
    ]);
    return new ResourceAggregate(resources, templates, claims);
  }

  async #onResource(request: McpRequest): Promise<string> {
    const { uri } = request.params;
    const route = typeof uri === "string" ? await this.#routeOf(request, uri) : undefined;
    if (typeof uri !== "string" || !route) return this.#noResource(request, uri);
    const params = { ...request.params, uri: route.uri };
    if (request.method !== "resources/subscribe") {
      return await this.#relay(route.server, request, params, { [route.uri]: uri });
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

  /** Another session, or another gateway, may have been given a URI that does not name its server. */
  #noResource(request: McpRequest, uri: unknown): string {
    const servers = typeof uri !== "string" || !isGlobal(uri)
      ? []
      : this.#options.callable().filter(({ info }) => info?.capabilities.resources !== undefined);
    const [one] = servers;
    if (!one) return nothingAt(request, -32002, "resource", uri);
    const names = servers.slice(0, MOST_NAMED).map(({ name }) => name).join(", ");
    const message =
      `There is no resource ${JSON.stringify(uri)} here. If a server referred to it, ` +
      `name that server: ${unambiguousUri("SERVER", String(uri))}, with SERVER one of ${names}` +
      (servers.length > MOST_NAMED ? ` and ${servers.length - MOST_NAMED} others` : "");
    return errorText(request.id, -32002, message);
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
    const page = parseScopedUri(uri);
    if (page) {
      const server = this.#options.callable().find(({ name }) => name === page.server);
      return server && { server, uri: page.uri };
    }
    const { servers, callable } = this.#options;
    // A URI of an unavailable server cannot be resolved.
    const reachable = (route: ResourceRoute | undefined) =>
      route && servers().includes(route.server) ? route : undefined;
    const known = reachable(this.#resources.find(uri, servers())) ?? parseNamedUri(uri, callable());
    if (known) return known;
    if (!isFresh(this.#resourcesListed, servers())) await this.#loadResources(request);
    const given = callable().find(({ name }) => name === this.#given.get(uri));
    return reachable(this.#resources.find(uri, servers())) ?? (given && { server: given, uri }) ??
      await this.#findGiven(uri) ?? this.#resources.guess(uri, servers()) ??
      await this.#findUnlisted(request, uri);
  }

  /** By what the caller was given elsewhere; throws INVALID_PARAMS if several servers gave it. */
  async #findGiven(uri: string): Promise<ResourceRoute | undefined> {
    const { links, callable } = this.#options;
    if (!links || !isGlobal(uri)) return undefined;
    const names = await links.find(uri);
    return onlyOwner(uri, callable().filter(({ name }) => names.includes(name)));
  }

  /** Among all callable servers; throws INVALID_PARAMS if several have it. */
  async #findUnlisted(request: McpRequest, uri: string): Promise<ResourceRoute | undefined> {
    const servers = this.#options.callable();
    if (!isFresh(this.#allListed, servers)) {
      this.#all = await this.#listResources(servers, request);
      this.#allListed = { at: Date.now(), servers };
    }
    return onlyOwner(uri, this.#all.owners(uri));
  }

  async #getPrompt(request: McpRequest): Promise<string> {
    const { name } = request.params;
    const route = typeof name === "string" ? await this.#findPrompt(request, name) : undefined;
    if (!route) return nothingAt(request, -32602, "prompt", name);
    return await this.#relay(route.server, request, { ...request.params, name: route.name });
  }

  async #findPrompt(request: McpRequest, name: string): Promise<PromptRoute | undefined> {
    const { servers, callable } = this.#options;
    return await this.#prompts.find(servers(), request, name) ??
      await this.#otherPrompts.find(callable(), request, name);
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
    if (typeof level !== "string" || !LOG_LEVELS.includes(level)) {
      return errorText(request.id, -32602, `The log level must be one of ${LOG_LEVELS.join(", ")}`);
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
    asked: Record<string, string> = {},
  ): Promise<string> {
    await this.prepare(server, request);
    let { text } = requestParams(request.text)!;
    for (const member of ["uri", "name", "ref"]) {
      if (params[member] === request.params[member]) continue;
      text = replaceSpan(text, memberSpans(text).get(member)!, JSON.stringify(params[member]));
    }
    const answer = await this.#options.call(server, { ...request, params }, text);
    // What was read has the URI that it was asked for by.
    return withExposedUris(
      answer,
      (uri) => Object.hasOwn(asked, uri) ? asked[uri]! : this.#exposed(server.name, uri),
    );
  }

  /** What a server says of a resource, under the URI that the client knows. */
  #outgoing(server: string, message: string): string {
    const text = withRoutedTasks(server, message);
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

/** Throws INVALID_PARAMS if there are several. */
function onlyOwner(uri: string, owners: readonly ManagedServer[]): ResourceRoute | undefined {
  const [server] = owners;
  if (!server || owners.length === 1) return server && { server, uri };
  const names = owners.map(({ name }) => unambiguousUri(name, uri));
  throw new GatewayError("INVALID_PARAMS", {
    message: `${owners.length} servers have the resource ${JSON.stringify(uri)}`,
    recoverySteps: [`Use one of ${names.join(", ")}`],
  });
}

function nothingAt({ id }: McpRequest, code: number, kind: string, name: unknown): string {
  return errorText(id, code, `There is no ${kind} ${JSON.stringify(name) ?? ""} here`);
}
