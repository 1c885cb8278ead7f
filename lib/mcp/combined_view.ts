import type { InitializeResult, ServerCapabilities } from "@modelcontextprotocol/sdk/types";
import { type CatalogTool, renamed } from "../catalog/catalog_tool.ts";
import type { NameTable, NameTables } from "../catalog/name_table.ts";
import { isListedTo, offerOf, toolsListedTo } from "../catalog/listed_to.ts";
import { flatten } from "../catalog/names.ts";
import type { Reader } from "../catalog/served_texts.ts";
import { type Builtins, ownerAmong, resolveTool } from "../catalog/resolve.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { defined, getOrMake } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { errorText, isObject, resultText } from "../core/rpc.ts";
import { VERSION } from "../core/product.ts";
import type { ManagedServer } from "../servers/server.ts";
import { type BuiltinTool, callBuiltin, describeBuiltin } from "./builtin_tool.ts";
import {
  type CallerRights,
  callParams,
  type CallPolicy,
  callTool,
  checkCursor,
  checkMayUse,
  checkUnchanged,
  isLooking,
  toolNameOf,
  useServer,
} from "./call.ts";
import type { ListedTools } from "./clients.ts";
import { FeatureAggregate, type FeatureAggregateOptions } from "./feature_aggregate.ts";
import type { ContentScreen } from "./content_screen.ts";
import { forwardedParams } from "./discovery_tools.ts";
import { ClientLists, ListText, type ListVersions } from "./list_changes.ts";
import type { ContentGuard } from "../trust/content_guard/guard.ts";
import type { OfferedLists } from "./offered_lists.ts";
import { withFollowableAdvice } from "./recovery.ts";
import { checkParamHeaders } from "./param_headers.ts";
import { ClientRelays } from "./relays.ts";
import { withExposedPage } from "./resource_aggregate.ts";
import { type CallServer, callShared } from "./server_lists.ts";
import { isStillStarting } from "./starting_servers.ts";
import { callAsTask, requiresTask } from "./task_aggregate.ts";
import type { TokenAccount } from "./token_account.ts";
import { OWN_TOOLS } from "./tool_directory.ts";
import type { Answer, View, ViewSession, VisibleServers } from "./view.ts";

export interface CombinedViewOptions {
  instructions: string;
  names: NameTables;
  listed: readonly BuiltinTool[];
  /** Changes whenever their descriptions may, apart from changes of the catalog. */
  edition?(): unknown;
  /** Whether they are listed under names without dots and hyphens. */
  flatBuiltins?: boolean;
  builtins: Builtins<BuiltinTool>;
  /** Missing if the view shows only the gateway's own tools. */
  servers?: VisibleServers;
  rights?: CallerRights;
  mayUse?(principal: string, tool: BuiltinTool): boolean;
  /** Throws ACCESS_DENIED if it may not. */
  demandUse?(principal: string, tool: BuiltinTool): void;
  policy?: CallPolicy | undefined;
  /** Counts what models are sent in place of all tools; missing if nothing is to be counted. */
  account?: TokenAccount | undefined;
  screen?: ContentScreen | undefined;
  guard?: ContentGuard | undefined;
  offered?: OfferedLists | undefined;
  /** Records the calls that were answered a moment ago. */
  settle?(): void;
  /** The gateway's own tools for clients with an offer; default: the same for all. */
  ownTools?(offer: string): Pick<CombinedViewOptions, "listed" | "builtins">;
  features?(principal: string): Pick<FeatureAggregateOptions, "onPromptCollisions" | "links">;
}

interface KnownList {
  table: NameTable;
  edition: unknown;
  grants: unknown;
  tools: readonly CatalogTool[];
  list: ListText;
}

/** Lists are long, and some callers connect once: beyond this many the oldest are made again. */
const MOST_LISTS = 200;
/** Of offers, by which clients are shown different tools. */
const MOST_VARIANTS = 50;
const NO_SNAPSHOT = { version: 0, servers: new Map() };

/** The gateway's own tools beside tools of many servers, under flat names. */
export class CombinedView implements View {
  readonly #options: CombinedViewOptions;
  readonly #lists = new Map<string, KnownList>();
  readonly #variants = new Map<string, CombinedView>();

  constructor(options: CombinedViewOptions) {
    this.#options = options;
  }

  introduce(
    principal: string,
  ): Promise<Pick<InitializeResult, "capabilities" | "serverInfo" | "instructions">> {
    const ofServers = {
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      logging: {},
      completions: {},
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
      ...this.#extensions(principal),
    };
    return Promise.resolve({
      capabilities: { tools: { listChanged: true }, ...(this.#options.servers ? ofServers : {}) },
      serverInfo: { name: "quartermaster", title: "Quartermaster", version: VERSION },
      instructions: this.#named(this.#options.instructions),
    });
  }

  /** The protocol extensions of all servers that the caller can use. */
  #extensions(principal: string): { extensions?: Record<string, object> } {
    const { servers } = this.#options;
    const names = (servers?.callable ?? servers?.servers)?.(principal) ?? [];
    const extensions: Record<string, object> = {};
    for (const name of names) {
      const own = servers?.findServer(name)?.info?.capabilities.extensions;
      for (const [extension, settings] of Object.entries(isObject(own) ? own : {})) {
        if (isObject(settings)) extensions[extension] = { ...settings, ...extensions[extension] };
      }
    }
    return Object.keys(extensions).length === 0 ? {} : { extensions };
  }

  open(client: Client): ViewSession {
    const view = this.#variant(offerOf(client.profile));
    return new CombinedViewSession(view, view.#options, client);
  }

  /** The view with the tools that servers list to clients with this offer. */
  #variant(offer: string): CombinedView {
    const { servers, ownTools } = this.#options;
    if (!servers) return this;
    const variant = getOrMake(this.#variants, offer, () =>
      new CombinedView({
        ...this.#options,
        ...ownTools?.(offer),
        servers: {
          ...servers,
          tools: (principal) => toolsListedTo(servers.tools(principal), offer, principal),
          admits: (principal, tool) =>
            isListedTo(tool, offer, principal) && servers.admits?.(principal, tool) !== false,
        },
      }));
    if (this.#variants.size > MOST_VARIANTS) {
      this.#variants.delete(this.#variants.keys().next().value!);
    }
    return variant;
  }

  /** A principal's tools with the texts that a reader gets; made again only after a change. */
  toolList(principal: string, reader: Reader = {}): ListText {
    const { servers, names } = this.#options;
    const served = servers?.catalog.served;
    const audience = served?.audienceOf(reader) ?? "";
    const key = audience === "" ? principal : JSON.stringify([principal, audience]);
    const table = names.of(servers?.catalog.snapshot ?? NO_SNAPSHOT);
    const [tools, edition] = [servers?.tools(principal) ?? [], this.#options.edition?.()];
    const grants = this.#options.rights?.grants(principal);
    const known = this.#lists.get(key);
    const isSame = known?.table === table && known.tools === tools && known.edition === edition &&
      known.grants === grants;
    if (isSame) return known.list;
    const shown = this.listed(principal);
    const texts = [
      ...shown.builtins,
      ...shown.tools.map((tool) => {
        const text = served?.shownTo(tool, reader) ?? tool;
        return withExposedPage(tool.server, renamed(text, table.nameOf(tool, "flat")));
      }),
    ];
    const list = ListText.of(`{"tools":[${texts.join(",")}]}`, known?.list);
    this.#lists.delete(key);
    this.#lists.set(key, { table, tools, edition, grants, list });
    if (this.#lists.size > MOST_LISTS) this.#lists.delete(this.#lists.keys().next().value!);
    return list;
  }

  listed(principal: string): ListedTools {
    const { servers, listed, mayUse } = this.#options;
    return {
      builtins: listed.filter((tool) => mayUse?.(principal, tool) !== false)
        .map((tool) => this.#named(JSON.stringify(describeBuiltin(tool, principal)))),
      tools: servers?.tools(principal)
        .filter((tool) => servers.admits?.(principal, tool) !== false) ?? [],
    };
  }

  listVersions(principal: string, reader: Reader): ListVersions {
    const { servers } = this.#options;
    const reachable = servers?.servers(principal) ?? [];
    const having = (capability: keyof ServerCapabilities) =>
      reachable.filter((name) => {
        const info = servers?.findServer(name)?.info;
        return info === undefined || info.capabilities[capability] !== undefined;
      }).join(" ");
    return {
      tools: this.toolList(principal, reader).digest,
      resources: having("resources"),
      prompts: having("prompts"),
    };
  }

  explain(error: unknown, principal: string): unknown {
    const { listed, mayUse } = this.#options;
    const names = listed.filter((tool) => mayUse?.(principal, tool) !== false)
      .map(({ name }) => name);
    const shown = withFollowableAdvice(error, new Set(names));
    if (!this.#options.flatBuiltins || !(shown instanceof GatewayError)) return shown;
    const { recoverySteps, hint, suggestedTools, ...rest } = shown.details;
    return new GatewayError(shown.code, {
      ...rest,
      ...defined({
        recoverySteps: recoverySteps?.map((step) => this.#named(step)),
        hint: hint === undefined ? undefined : this.#named(hint),
        suggestedTools: suggestedTools?.map((name) => this.#named(name)),
      }),
    });
  }

  /** A text with the gateway's own tools under the names they are listed with. */
  #named(text: string): string {
    if (!this.#options.flatBuiltins) return text;
    const { listed } = this.#options;
    return listed.reduce((text, { name }) => text.replaceAll(name, flatten(name)), text);
  }
}

class CombinedViewSession implements ViewSession {
  readonly lists: ClientLists;
  readonly #view: CombinedView;
  readonly #options: CombinedViewOptions;
  readonly #client: Client;
  readonly #reader: Reader;
  readonly #relays: ClientRelays | undefined;
  readonly #features: FeatureAggregate | undefined;
  /** The list whose tokens were counted last. */
  #counted: string | undefined;

  constructor(view: CombinedView, options: CombinedViewOptions, client: Client) {
    this.#view = view;
    this.#options = options;
    this.#client = client;
    const { servers } = options;
    const reader = this.#reader = servers?.catalog.served.readerOf(client) ?? {};
    this.lists = new ClientLists(() => view.listVersions(client.principal, reader));
    if (!servers) return;
    const relays: ClientRelays = this.#relays = new ClientRelays({
      findServer: (name) => servers.findServer(name),
      clientFor: (server) => features.clientFor(server, client),
      guard: options.guard,
      onOwnTools: (server, tools) => options.offered?.noteOwn(server, client, tools),
    });
    const features: FeatureAggregate = this.#features = new FeatureAggregate({
      maxNameLength: options.names.maxLength,
      servers: () => this.#found(servers.servers(client.principal)),
      callable: () => this.#found((servers.callable ?? servers.servers)(client.principal)),
      connected: () => relays.connected(),
      list: this.#list,
      call: async (server, request, params) =>
        await options.screen?.of(server).refusal(request) ??
          await this.#useServer(server, request, params),
      ...options.features?.(client.principal),
    });
  }

  request(request: McpRequest): Promise<Answer> {
    switch (request.method) {
      case "ping":
        return Promise.resolve({ text: resultText(request.id, "{}") });
      case "tools/list":
        return this.#listTools(request);
      case "tools/call":
        return this.#callTool(request);
      default:
        return this.#use(request);
    }
  }

  notify(method: string, params: Record<string, unknown>, text: string): void {
    this.#relays?.notify(method, params, text);
  }

  listed(): ListedTools {
    const { builtins, tools } = this.#view.listed(this.#client.principal);
    const served = this.#options.servers?.catalog.served;
    const shown = (tool: CatalogTool) => served?.shownTo(tool, this.#reader) ?? tool;
    return { builtins, tools: tools.map(shown) };
  }

  explain(error: unknown): unknown {
    return this.#view.explain(error, this.#client.principal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#relays?.[Symbol.asyncDispose]();
  }

  async #listTools(request: McpRequest): Promise<Answer> {
    checkCursor(request);
    const { principal } = this.#client;
    await this.#options.servers?.settled?.(principal, request.signal);
    await this.#offeredLists(request);
    const list = this.#view.toolList(principal, this.#reader);
    this.lists.noteListed("tools", list.digest);
    const { servers } = this.#options;
    servers?.catalog.served.noteShown(servers.tools(principal), this.#reader);
    this.#countList(list.digest);
    const text = list.textFor(this.#client.profile);
    return { text: resultText(request.id, text), list: text, ttlMs: servers?.ttlMs?.(principal) };
  }

  /** Resolves when it is known what servers list to clients like this one; undefined if it is. */
  #offeredLists({ signal }: McpRequest): Promise<void> | undefined {
    const { servers, offered } = this.#options;
    const { principal, profile } = this.#client;
    if (!servers || !offered || offerOf(profile) === "") return undefined;
    return offered.known(
      this.#found((servers.callable ?? servers.servers)(principal)),
      profile,
      signal,
      principal,
    );
  }

  #found(names: readonly string[]): ManagedServer[] {
    return names.flatMap((name) => this.#options.servers?.findServer(name) ?? []);
  }

  #countList(digest: string): void {
    if (digest === this.#counted) return;
    this.#counted = digest;
    this.#options.account?.listed(this.#client, this.listed());
  }

  async #use(request: McpRequest): Promise<Answer> {
    const { method } = request;
    const { rights, policy } = this.#options;
    if (method === "resources/list" || method === "resources/templates/list") {
      this.lists.noteListed("resources");
    } else if (method === "prompts/list") this.lists.noteListed("prompts");
    if (!isLooking(method)) checkMayUse(rights, policy, { method, client: this.#client });
    const text = await policy?.read?.(request, this.#client) ??
      await this.#features?.request(request) ??
      errorText(request.id, -32601, `Method not found: ${method}`);
    return { text };
  }

  async #callTool(request: McpRequest): Promise<Answer> {
    const name = toolNameOf(request.params);
    const builtin = this.#options.builtins.find(name);
    if (builtin) return await this.#callBuiltin(builtin, request);
    const resolved = this.#resolve(name, request);
    const tool = resolved instanceof Promise ? await resolved : resolved;
    checkParamHeaders(tool, request);
    return await this.#callOn(tool, request, () => callParams(request, tool.name));
  }

  async #callBuiltin(tool: BuiltinTool, request: McpRequest): Promise<Answer> {
    this.#checkUse(tool);
    // A forwarded call is counted where it is made.
    if (!tool.forwards) {
      await this.#options.policy?.enterBuiltin?.(this.#client.principal);
      // Some tools read the record, for example to mark the newest call.
      this.#options.settle?.();
    }
    await this.#offeredLists(request);
    const result = await callBuiltin(
      tool,
      request,
      this.#client,
      (error) => this.explain(error) as GatewayError,
    );
    if (!("forward" in result)) {
      const { call, ...shown } = result;
      const [content] = shown.content;
      // A session from before a restart received its list then.
      this.#countList(this.#counted ?? "");
      this.#options.account?.answered(this.#client, {
        text: content?.type === "text" ? content.text : "",
        data: shown.structuredContent,
      });
      return { text: resultText(request.id, JSON.stringify(shown)), ...defined({ call }) };
    }
    const { forward, argumentsIn, refusal } = result;
    const params = () => {
      if (refusal) throw refusal;
      return forwardedParams(request.text, forward.name, argumentsIn);
    };
    const answer = await this.#callOn(forward, request, params);
    if (answer.call) answer.call.isForwarded = true;
    return answer;
  }

  /** Waits only if the tool's server may be on its way. */
  #resolve(name: string, request: McpRequest): CatalogTool | Promise<CatalogTool> {
    const { servers, builtins } = this.#options;
    const { principal } = this.#client;
    const find = () =>
      resolveTool({
        ...this.#visibleTools(),
        naming: "flat",
        builtins,
        away: () => servers?.away?.(principal) ?? [],
      }, name);
    try {
      return find();
    } catch (error) {
      // A session from before a restart can be faster than the servers that come after it.
      const coming = isStillStarting(error)
        ? this.#owner(name)?.connection(request.signal)
        : servers?.settled?.(principal, request.signal) ?? this.#offeredLists(request);
      if (!coming) throw error;
      return coming.then(find);
    }
  }

  #visibleTools() {
    const { names, servers } = this.#options;
    return {
      table: names.of(servers?.catalog.snapshot ?? NO_SNAPSHOT),
      admits: (tool: CatalogTool) => servers?.admits?.(this.#client.principal, tool) ?? true,
    };
  }

  /** The server that is not up, if a name may be one of its tools. */
  #owner(name: string): ManagedServer | undefined {
    const { servers } = this.#options;
    const owner = ownerAmong(servers?.away?.(this.#client.principal) ?? [], name);
    return owner && servers?.findServer(owner.name);
  }

  #callOn(tool: CatalogTool, request: McpRequest, params: () => string): Promise<Answer> {
    return callTool(this.#options, { tool, request, client: this.#client }, {
      params,
      checkUnchanged: () => checkUnchanged(tool, this.#visibleTools()),
      relay: (params) => this.#relayCall(tool, request, params),
    });
  }

  async #relayCall(tool: CatalogTool, request: McpRequest, params: string): Promise<string> {
    const server = this.#options.servers?.findServer(tool.server);
    if (!server || !this.#features) throw new GatewayError("SERVER_NOT_FOUND");
    const preparing = this.#features.prepare(server, request);
    if (preparing) await preparing;
    const call = (request: McpRequest, params: string) => this.#relay(server, request, params);
    const isTask = request.params.task === undefined && requiresTask(tool.definition);
    const response = isTask ? await callAsTask(request, params, call) : await call(request, params);
    return await this.#features.shown(server, request, response);
  }

  #checkUse(tool: BuiltinTool): void {
    const client = this.#client;
    try {
      this.#options.demandUse?.(client.principal, tool);
    } catch (error) {
      const subject = `${OWN_TOOLS}.${tool.name}`;
      this.#options.policy?.refused?.({ subject, principal: client.principal, client }, error);
      throw error;
    }
  }

  readonly #useServer: CallServer = async (server, request, params) => {
    const { method } = request;
    const use = { server: server.name, method, principal: this.#client.principal, request };
    return await useServer(this.#options.policy, use, () => this.#relay(server, request, params));
  };

  readonly #relay: CallServer = (server, request, params) => {
    const own = this.#features!.requestFor(server.name, request);
    return this.#relays!.to(server, request).call(own, params);
  };

  readonly #list: CallServer = async (server, request, params) => {
    const { screen } = this.#options;
    const call = this.#relays!.to(server, request).hasOwn ? this.#relay : callShared;
    const response = await call(server, request, params);
    return screen ? await screen.shown(server, request.method, response) : response;
  };
}
