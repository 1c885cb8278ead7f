import type { InitializeResult } from "@modelcontextprotocol/sdk/types";
import type { Catalog, ServerTools } from "../catalog/catalog.ts";
import { type CatalogTool, renamed, sentText } from "../catalog/catalog_tool.ts";
import { offerOf, serverToolsListedTo } from "../catalog/listed_to.ts";
import type { NameTable, NameTables } from "../catalog/name_table.ts";
import type { Naming } from "../catalog/names.ts";
import { resolveTool } from "../catalog/resolve.ts";
import { type Client, isStateless, type McpRequest } from "../core/client.ts";
import type { Reader } from "../catalog/served_texts.ts";
import { EVERYONE } from "../core/access.ts";
import { resultText, type Unchecked } from "../core/rpc.ts";
import { isAway, isStarting } from "../core/server.ts";
import type { ManagedServer } from "../servers/server.ts";
import { notConnected } from "../servers/status.ts";
import { RENEWAL_MS } from "../servers/tool_list.ts";
import { asAbortSignal, settledWithin } from "../core/async.ts";
import {
  type CallChecks,
  type CallerRights,
  callParams,
  type CallPolicy,
  callTool,
  checkCursor,
  checkMayUse,
  checkUnchanged,
  isLooking,
  requestParams,
  toolNameOf,
  useServer,
} from "./call.ts";
import type { ListedTools } from "./clients.ts";
import type { ContentScreen } from "./content_screen.ts";
import { ClientLists, ListText } from "./list_changes.ts";
import type { OfferedLists } from "./offered_lists.ts";
import { withFollowableAdvice } from "./recovery.ts";
import { checkParamHeaders } from "./param_headers.ts";
import { Relay } from "./relay.ts";
import type { ContentGuard } from "../trust/content_guard/guard.ts";
import { withValidItems } from "./server_lists.ts";
import { isStillStarting } from "./starting_servers.ts";
import { callAsTask, requiresTask } from "./task_aggregate.ts";
import type { Answer, View, ViewSession } from "./view.ts";

const NO_BUILTINS: ReadonlySet<string> = new Set();
/** More than that at a time are made again. */
const MOST_AUDIENCES = 50;

interface ServerViewOptions {
  server: ManagedServer;
  catalog: Catalog;
  names: NameTables;
  naming: Naming;
  rights?: CallerRights | undefined;
  policy?: CallPolicy | undefined;
  screen?: ContentScreen | undefined;
  guard?: ContentGuard | undefined;
  onListChange?(): void;
  offered?: OfferedLists | undefined;
}

/** One server, whole: its tools under the gateway's names, everything else unchanged. */
export class ServerView implements View {
  readonly #options: ServerViewOptions;
  #list: ListText | undefined;
  /** By audience, where clients get different texts of promoted tools. */
  readonly #lists = new Map<string, { table: NameTable; list: ListText }>();

  constructor(options: ServerViewOptions) {
    this.#options = options;
  }

  async introduce(): Promise<Unchecked<InitializeResult>> {
    const { server, catalog, screen, policy } = this.#options;
    const info = server.info ?? (await server.connection()).info;
    const { protocolVersion: _, capabilities, instructions, ...rest } = info;
    const shown = screen
      ? await screen.rules.instructions(server.name, instructions)
      : instructions;
    const tools = catalog.of(server.name).tools.length > 0 || capabilities.tools !== undefined;
    return {
      ...rest,
      ...(shown === undefined ? {} : { instructions: shown }),
      capabilities: {
        ...(policy?.hasPages?.(server.name) ? { resources: {} } : {}),
        ...capabilities,
        ...(tools ? { tools: { listChanged: true } } : {}),
      },
    };
  }

  open(client: Client): ViewSession {
    return new ServerViewSession(this, this.#options, client);
  }

  /** The list of every client that sees all tools, and that the server lists nothing of its own. */
  sharedList(text: string): ListText {
    return this.#list = ListText.of(text, this.#list);
  }

  /** The same for the clients of one audience. */
  listFor(audience: string, table: NameTable, make: () => string): ListText {
    const known = this.#lists.get(audience);
    if (known?.table === table) return known.list;
    const list = ListText.of(make(), known?.list);
    this.#lists.delete(audience);
    this.#lists.set(audience, { table, list });
    if (this.#lists.size > MOST_AUDIENCES) this.#lists.delete(this.#lists.keys().next().value!);
    return list;
  }
}

/** What the server lists for one client only, read by the rules of a snapshot. */
interface OwnTools {
  texts: string[];
  shared: ServerTools;
  tools: ServerTools;
  base: NameTable;
  table: NameTable;
}

/** What a caller without all rights sees, or one audience, and what that was made from. */
interface AdmittedList {
  audience: string;
  table: NameTable;
  tools: ServerTools;
  grants: unknown;
  text: string;
}

class ServerViewSession implements ViewSession {
  readonly lists: ClientLists;
  readonly #view: ServerView;
  readonly #options: ServerViewOptions;
  readonly #client: Client;
  readonly #relay: Relay;
  readonly #rights: CallerRights | undefined;
  readonly #offer: string;
  readonly #reader: Reader;
  readonly #admits: ((tool: CatalogTool) => boolean) | undefined;
  readonly #checks: CallChecks;
  #admitted: AdmittedList | undefined;
  #list: ListText | undefined;
  /** The names of what the server lists to clients with the same offer. */
  #listed: { shared: ServerTools; base: NameTable; table: NameTable } | undefined;
  /** What the server lists for this client, if that differs from what it lists for all. */
  #own: OwnTools | undefined;

  constructor(view: ServerView, options: ServerViewOptions, client: Client) {
    const { server } = options;
    this.#view = view;
    this.#options = options;
    this.#client = client;
    this.#offer = offerOf(client.profile);
    this.#reader = options.catalog.served.readerOf(client);
    const rights = this.#rights = client.principal === EVERYONE ? undefined : options.rights;
    this.#admits = rights && ((tool) => rights.admits(client.principal, tool));
    this.#checks = { rights, policy: options.policy };
    this.#relay = new Relay(server, client, (texts) => {
      const shared = this.#shared();
      this.#own = isListOf(shared, texts) ? undefined : this.#read(texts, shared);
      options.onListChange?.();
    }, options.guard);
    // Resources and prompts are the server's own lists: it announces their changes itself.
    const others = { resources: "", prompts: "" };
    this.lists = new ClientLists(() => ({ tools: this.#listVersion(), ...others }));
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

  notify(method: string, _params: Record<string, unknown>, text: string): void {
    this.#relay.notify(method, text);
  }

  listed(): ListedTools {
    return { builtins: [], tools: this.#shownTools() };
  }

  #shownTools(): CatalogTool[] {
    const { served } = this.#options.catalog;
    return this.#tools().tools
      .filter((tool) => tool.enabled && this.#admits?.(tool) !== false)
      .map((tool) => served.shownTo(tool, this.#reader));
  }

  explain(error: unknown): unknown {
    return withFollowableAdvice(error, NO_BUILTINS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#relay[Symbol.asyncDispose]();
  }

  #tools(): ServerTools {
    return this.#currentOwn()?.tools ?? this.#shared();
  }

  /** What the server lists to all clients with the same offer. */
  #shared(): ServerTools {
    const { catalog, server } = this.#options;
    return serverToolsListedTo(catalog.of(server.name), this.#offer, this.#client.principal);
  }

  #table(): NameTable {
    return this.#currentOwn()?.table ?? this.#sharedTable();
  }

  #sharedTable(): NameTable {
    const { names, catalog, server } = this.#options;
    const base = names.of(catalog.snapshot);
    const shared = this.#shared();
    if (shared === catalog.of(server.name)) return base;
    if (this.#listed?.shared !== shared || this.#listed.base !== base) {
      this.#listed = { shared, base, table: base.with(server.name, shared) };
    }
    return this.#listed.table;
  }

  #currentOwn(): OwnTools | undefined {
    if (!this.#own) return undefined;
    const { names, catalog, server } = this.#options;
    const shared = this.#shared();
    // Between two connections nobody reports changes of this client's list.
    const isOld = !this.#relay.hasOwn && this.#own.shared !== shared &&
      !isListOf(shared, this.#own.shared.tools.map(sentText));
    if (isOld) return this.#own = undefined;
    // Which tools are enabled may have changed since it was read; then the shared list is new.
    if (this.#own.shared !== shared) return this.#own = this.#read(this.#own.texts, shared);
    const base = names.of(catalog.snapshot);
    if (this.#own.base !== base) {
      this.#own = { ...this.#own, base, table: base.with(server.name, this.#own.tools) };
    }
    return this.#own;
  }

  #read(texts: string[], shared: ServerTools): OwnTools {
    const { names, catalog, server } = this.#options;
    const tools = catalog.read(server.name, texts);
    const base = names.of(catalog.snapshot);
    return { texts, shared, tools, base, table: base.with(server.name, tools) };
  }

  /** A session from before a restart can be faster than its server: its tools are not gone. */
  get #isUnknown(): boolean {
    const { server, catalog } = this.#options;
    return server.info === undefined && isStarting(server.status.state) &&
      catalog.of(server.name).tools.length === 0;
  }

  async #listTools(request: McpRequest): Promise<Answer> {
    checkCursor(request);
    const { server } = this.#options;
    // If it cannot be reached its list is empty, and a change is announced when it is back.
    if (this.#isUnknown) await server.connection(request.signal).catch(() => {});
    const renewed = server.toolList.renewed();
    if (renewed) await settledWithin(renewed, RENEWAL_MS, asAbortSignal(request.signal));
    if (!this.#own) {
      await this.#offeredList(request);
      this.#adopt();
    }
    const list = this.#toolList();
    this.lists.noteListed("tools", list.digest);
    this.#options.catalog.served.noteShown(this.#tools().tools, this.#reader);
    const text = list.textFor(this.#client.profile);
    return { text: resultText(request.id, text), list: text, ttlMs: server.toolList.ttlMs };
  }

  /** Until the client has a connection of its own, its list is that of clients like it, in that order. */
  #adopt(): void {
    const texts = this.#options.offered?.find(this.#options.server, this.#client.profile);
    const shared = this.#shared();
    if (this.#own || !texts || isListOf(shared, texts)) return;
    this.#own = this.#read(texts, shared);
  }

  /** Resolves when what the server lists to clients like this one is known; undefined if it is. */
  #offeredList({ signal }: McpRequest): Promise<void> | undefined {
    const { profile, principal } = this.#client;
    return this.#options.offered?.known([this.#options.server], profile, signal, principal);
  }

  /**
   * The client's own list is read again only when the client lists: reading notes what is held back,
   * and the server may have another list for it by then.
   */
  #listVersion(): string {
    const { server, naming } = this.#options;
    const isStale = this.#own !== undefined && this.#own.shared !== this.#shared();
    if (!isStale) return this.#toolList().digest;
    const text = this.#sharedTable().listText(server.name, naming);
    const beside = [this.#view.sharedList(text).digest, this.#audience()];
    return `own, beside ${beside.join(" ").trim()}`;
  }

  #audience(): string {
    const { catalog, server } = this.#options;
    return catalog.served.audienceOf(this.#reader, server.name);
  }

  #toolList(): ListText {
    const { server, naming } = this.#options;
    const audience = this.#audience();
    const isShared = !this.#own && this.#offer === "";
    if (!this.#rights && audience === "") {
      const text = this.#table().listText(server.name, naming);
      if (isShared) return this.#view.sharedList(text);
      return this.#list = ListText.of(text, this.#list);
    }
    if (!this.#rights && isShared) {
      return this.#view.listFor(audience, this.#table(), () => this.#shownText());
    }
    return this.#list = ListText.of(this.#admittedText(audience), this.#list);
  }

  /** The tools that exist for the caller, with the texts it gets; made again only after a change. */
  #admittedText(audience: string): string {
    const [table, tools] = [this.#table(), this.#tools()];
    const grants = this.#rights?.grants(this.#client.principal);
    const known = this.#admitted;
    const isSame = known?.table === table && known.tools === tools && known.grants === grants &&
      known.audience === audience;
    if (isSame) return known.text;
    const text = this.#shownText();
    this.#admitted = { audience, table, tools, grants, text };
    return text;
  }

  #shownText(): string {
    const { naming } = this.#options;
    const table = this.#table();
    // Names are known by the tool's name, not by its text.
    const texts = this.#shownTools().map((tool) => {
      const named = table.find(tool.server, tool.name) ?? tool;
      return renamed(tool, table.nameOf(named, naming));
    });
    return `{"tools":[${texts.join(",")}]}`;
  }

  async #use(request: McpRequest): Promise<Answer> {
    const { method } = request;
    const { screen, server, policy } = this.#options;
    if (!isLooking(method)) {
      checkMayUse(this.#rights, policy, { method, server: server.name, client: this.#client });
    }
    const params = requestParams(request.text)?.text;
    const page = policy?.read?.(request, this.#client);
    if (page) return { text: await page };
    const refusal = await screen?.of(server).refusal(request);
    if (refusal !== undefined) return { text: refusal };
    const use = { server: server.name, method, principal: this.#client.principal, request };
    const response = await useServer(policy, use, () => this.#relay.call(request, params));
    const shown = screen ? await screen.shown(server, method, response) : response;
    return { text: await withValidItems(server, method, shown) };
  }

  /** Waits for a server that may list more, soon, before reporting that it has no such tool. */
  #callTool(request: McpRequest): Promise<Answer> {
    const { server } = this.#options;
    try {
      return this.#callResolved(this.#resolve(request), request);
    } catch (error) {
      const coming = isStillStarting(error)
        ? server.connection(request.signal)
        : this.#offeredList(request);
      if (!coming) return Promise.reject(error);
      return coming.then(() => this.#callResolved(this.#resolve(request), request));
    }
  }

  #resolve(request: McpRequest): CatalogTool {
    const name = toolNameOf(request.params);
    const { server, naming } = this.#options;
    if (server.isSwitchedOff) throw notConnected(server.status);
    return resolveTool({
      table: this.#table(),
      naming,
      server: server.name,
      admits: this.#admits,
      away: () => isAway(server.status) ? [server.status] : [],
    }, name);
  }

  #callResolved(tool: CatalogTool, request: McpRequest): Promise<Answer> {
    checkParamHeaders(tool, request);
    // Clients of 2026-07-28 do not know the tasks of older servers.
    const isTask = isStateless(this.#client.profile) && requiresTask(tool.definition);
    const call = (request: McpRequest, params: string) => this.#relay.call(request, params);
    return callTool(this.#checks, { tool, request, client: this.#client }, {
      params: () => callParams(request, tool.name),
      checkUnchanged: () => checkUnchanged(tool, { table: this.#table(), admits: this.#admits }),
      relay: (params) =>
        isTask ? callAsTask(request, params, call) : this.#relay.call(request, params),
    });
  }
}

function isListOf({ tools }: ServerTools, texts: string[]): boolean {
  return tools.length === texts.length &&
    tools.every((tool, index) => sentText(tool) === texts[index]);
}
