import type { CancelSignal } from "../core/cancellation.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { renamed } from "../catalog/catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import { errorText, resultText, withId } from "../core/rpc.ts";
import { VERSION } from "../core/version.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import type { NameTable, NameTables } from "../routing/name_table.ts";
import { flatten } from "../routing/names.ts";
import type { OnPromptCollisions } from "../routing/prompt_collisions.ts";
import { type Builtins, resolve, type Resolved } from "../routing/resolve.ts";
import { type BuiltinTool, callBuiltin, describeBuiltin, isForwarded } from "./builtin_tool.ts";
import {
  type CallerRights,
  type CallGate,
  checkMayCall,
  checkMayUse,
  counted,
  type GatedCall,
  isLooking,
} from "./call_gate.ts";
import { CombinedFeatures } from "./combined_features.ts";
import { CombinedLines } from "./combined_lines.ts";
import { forwardedParams } from "./execute_tool.ts";
import type { KeptTexts } from "./kept_texts.ts";
import { LISTS, screened } from "./listed_texts.ts";
import { callParams } from "./sound_params.ts";
import {
  type ClientPort,
  type RequestScope,
  type Surface,
  type SurfaceSession,
  toolNameOf,
} from "./surface.ts";
import { ToldLists } from "./told_lists.ts";
import { checkUnchanged } from "./waited_call.ts";

/** What of the servers a combined door shows, which depends on who asks. */
export interface ServersShown {
  catalog: Catalog;
  findServer(name: string): ManagedServer | undefined;
  /** The tools to list; the same array as long as nothing has changed. */
  tools(principal: string): readonly CatalogTool[];
  /** The servers whose resources and prompts can be reached. */
  servers(principal: string): readonly string[];
  /** Whether a tool exists for this caller; all do where this is missing. */
  admits?(principal: string, tool: CatalogTool): boolean;
  /** Waits a moment for servers that are just being connected to, so that a list is not cut short. */
  settled?(principal: string, signal: CancelSignal): Promise<void> | undefined;
}

export interface CombinedSurfaceOptions {
  instructions: string;
  names: NameTables;
  /** Tools of the gateway's own that are listed. */
  listed: readonly BuiltinTool[];
  /** Is another one whenever their descriptions may be others, beyond what tools there are. */
  edition?(): unknown;
  /** Whether they are listed under names without dots and hyphens. */
  flatBuiltins?: boolean;
  /** All that can be called. */
  builtins: Builtins<BuiltinTool>;
  /** Missing where there is nothing but the gateway's own tools. */
  shown?: ServersShown;
  rights?: CallerRights;
  /** Whether a caller may use one of the gateway's own tools. */
  mayUse?(principal: string, tool: BuiltinTool): boolean;
  /** Throws ACCESS_DENIED where it may not. */
  demandUse?(principal: string, tool: BuiltinTool): void;
  gate?: CallGate;
  /** What no caller may reach of the servers' prompts and resources; the same for all. */
  texts?: KeptTexts;
  onPromptCollisions?: OnPromptCollisions | undefined;
}

interface ListedTools {
  table: NameTable;
  edition: unknown;
  grants: unknown;
  tools: readonly CatalogTool[];
  text: string;
}

/** Whole lists are long, and some callers come once: beyond this many the oldest are made anew. */
const MOST_LISTS = 200;

/** Tools of the gateway's own beside tools of many servers, under flat names. */
export class CombinedSurface implements Surface {
  readonly #options: CombinedSurfaceOptions;
  readonly #lists = new Map<string, ListedTools>();
  readonly #told = new ToldLists((principal) => ({
    tools: this.listText(principal),
    servers: (this.#options.shown?.servers(principal) ?? []).join(" "),
  }));

  constructor(options: CombinedSurfaceOptions) {
    this.#options = options;
  }

  introduce(): Promise<Record<string, unknown>> {
    const ofServers = {
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      logging: {},
      completions: {},
    };
    return Promise.resolve({
      capabilities: { tools: { listChanged: true }, ...(this.#options.shown ? ofServers : {}) },
      serverInfo: { name: "quartermaster", title: "Quartermaster", version: VERSION },
      instructions: this.#named(this.#options.instructions),
    });
  }

  open(port: ClientPort): SurfaceSession {
    this.#told.opened(port.principal);
    return new CombinedSession(this, this.#told, this.#options, port);
  }

  /** The result of tools/list for a principal, as text; made anew only when something has changed. */
  listText(principal: string): string {
    const { shown, names, listed } = this.#options;
    const table = names.of(shown?.catalog.snapshot ?? NO_SNAPSHOT);
    const tools = shown?.tools(principal) ?? [];
    const edition = this.#options.edition?.();
    const grants = this.#options.rights?.grants(principal);
    const known = this.#lists.get(principal);
    const isSame = known?.table === table && known.tools === tools && known.edition === edition &&
      known.grants === grants;
    if (isSame) return known.text;
    const admitted = tools.filter((tool) => shown?.admits?.(principal, tool) !== false);
    const texts = [
      ...listed.filter((tool) => this.#options.mayUse?.(principal, tool) !== false)
        .map((tool) => this.#named(JSON.stringify(describeBuiltin(tool, principal)))),
      ...admitted.map((tool) => renamed(tool, table.nameOf(tool, "flat"))),
    ];
    const text = `{"tools":[${texts.join(",")}]}`;
    this.#lists.delete(principal);
    this.#lists.set(principal, { table, tools, edition, grants, text });
    if (this.#lists.size > MOST_LISTS) this.#lists.delete(this.#lists.keys().next().value!);
    return text;
  }

  /** Which lists are others than those that a principal's clients were last told of. */
  changes(principal: string): { tools: boolean; others: boolean } {
    return this.#told.changes(principal);
  }

  /** A principal's clients know of the lists as they are now. */
  told(principal: string): void {
    this.#told.told(principal);
  }

  /** A text with the gateway's own tools under the names they are listed with. */
  #named(text: string): string {
    if (!this.#options.flatBuiltins) return text;
    const { listed } = this.#options;
    return listed.reduce((text, { name }) => text.replaceAll(name, flatten(name)), text);
  }
}

const NO_SNAPSHOT = { version: 0, servers: new Map() };

class CombinedSession implements SurfaceSession {
  readonly #surface: CombinedSurface;
  readonly #told: ToldLists;
  readonly #options: CombinedSurfaceOptions;
  readonly #port: ClientPort;
  readonly #lines: CombinedLines | undefined;
  readonly #features: CombinedFeatures | undefined;

  constructor(
    surface: CombinedSurface,
    told: ToldLists,
    options: CombinedSurfaceOptions,
    port: ClientPort,
  ) {
    this.#surface = surface;
    this.#told = told;
    this.#options = options;
    this.#port = port;
    const { shown } = options;
    if (!shown) return;
    const lines: CombinedLines = this.#lines = new CombinedLines({
      findServer: (name) => shown.findServer(name),
      port,
      portFor: (server) => features.portFor(server, port),
    });
    const features: CombinedFeatures = this.#features = new CombinedFeatures({
      maxNameLength: options.names.maxLength,
      servers: () => shown.servers(port.principal).flatMap((name) => shown.findServer(name) ?? []),
      connected: () => lines.connected(),
      list: (server, scope, method, params) => this.#list(server, scope, method, params),
      call: async (server, scope, method, params) =>
        await options.texts?.of(server).refusal(scope) ??
          await this.#used(server, scope, method, params),
      onPromptCollisions: options.onPromptCollisions,
    });
  }

  request(scope: RequestScope): Promise<string> {
    switch (scope.method) {
      case "ping":
        return Promise.resolve(resultText(scope.id, "{}"));
      case "tools/list":
        return this.#listTools(scope);
      case "tools/call":
        return this.#callTool(scope);
      default:
        return this.#ask(scope);
    }
  }

  notify(method: string, params: Record<string, unknown>, text: string): void {
    this.#lines?.notify(method, params, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#told.closed(this.#port.principal);
    await this.#lines?.[Symbol.asyncDispose]();
  }

  async #listTools(scope: RequestScope): Promise<string> {
    const { principal } = this.#port;
    await this.#options.shown?.settled?.(principal, scope.signal);
    this.#told.noteListed(principal);
    return resultText(scope.id, this.#surface.listText(principal));
  }

  async #ask(scope: RequestScope): Promise<string> {
    const { method } = scope;
    const { rights, gate } = this.#options;
    if (method.endsWith("/list")) this.#told.noteListed(this.#port.principal);
    if (!isLooking(method)) checkMayUse(rights, gate, { method, port: this.#port });
    return await gate?.read?.(scope, this.#port) ??
      await this.#features?.request(scope) ??
      errorText(scope.id, -32601, `Method not found: ${method}`);
  }

  async #callTool(scope: RequestScope): Promise<string> {
    const name = toolNameOf(scope.params);
    const resolved = this.#resolve(name, scope);
    const found = resolved instanceof Promise ? await resolved : resolved;
    if (found.kind === "builtin") {
      this.#checkUse(found.builtin);
      // What it calls for the caller is counted there.
      if (!found.builtin.forwards) this.#options.gate?.enterBuiltin?.(this.#port.principal);
      const result = await callBuiltin(found.builtin, scope, this.#port);
      if (!isForwarded(result)) return resultText(scope.id, JSON.stringify(result));
      const { forward, argumentsIn } = result;
      return await this.#callOn(
        forward,
        scope,
        forwardedParams(scope.text, forward.name, argumentsIn),
      );
    }
    return await this.#callOn(found.tool, scope, callParams(scope, found.tool.name));
  }

  /** At once, unless its server may be on its way. */
  #resolve(
    name: string,
    scope: RequestScope,
  ): Resolved<BuiltinTool> | Promise<Resolved<BuiltinTool>> {
    const { names, shown, builtins } = this.#options;
    const { principal } = this.#port;
    const find = () =>
      resolve({
        table: names.of(shown?.catalog.snapshot ?? NO_SNAPSHOT),
        naming: "flat",
        builtins,
        admits: (tool) => shown?.admits?.(principal, tool) ?? true,
      }, name);
    try {
      return find();
    } catch (error) {
      // A session from before a restart can be faster than the servers that come after it.
      const coming = shown?.settled?.(principal, scope.signal);
      if (!coming) throw error;
      return coming.then(find);
    }
  }

  async #callOn(tool: CatalogTool, scope: RequestScope, params: string): Promise<string> {
    const { gate } = this.#options;
    const call = { tool, scope, port: this.#port };
    checkMayCall(this.#options.rights, gate, call);
    scope.target = tool;
    const agreed = gate?.enter(call);
    if (agreed) {
      await agreed;
      this.#checkAgain(call);
    }
    const target = this.#options.shown?.findServer(tool.server);
    if (!target || !this.#features) throw new GatewayError("SERVER_NOT_FOUND");
    const preparing = this.#features.prepare(target, scope);
    if (preparing) await preparing;
    const answer = await this.#relayed(target, scope, "tools/call", params);
    return gate?.leave ? gate.leave(call, answer) : answer;
  }

  /** What became of the tool and the caller's rights while somebody was asked counts as well. */
  #checkAgain(call: GatedCall): void {
    const { names, shown } = this.#options;
    checkUnchanged(call.tool, {
      table: names.of(shown?.catalog.snapshot ?? NO_SNAPSHOT),
      admits: (tool) => shown?.admits?.(this.#port.principal, tool) ?? true,
    });
    checkMayCall(this.#options.rights, this.#options.gate, call);
  }

  #checkUse(tool: BuiltinTool): void {
    const port = this.#port;
    const { principal } = port;
    try {
      this.#options.demandUse?.(principal, tool);
    } catch (error) {
      this.#options.gate?.refused?.({ subject: `(gateway).${tool.name}`, principal, port }, error);
      throw error;
    }
  }

  async #used(
    server: ManagedServer,
    scope: RequestScope,
    method: string,
    params: string | undefined,
  ): Promise<string> {
    const use = { server: server.name, method, principal: this.#port.principal, scope };
    return await counted(
      this.#options.gate,
      use,
      () => this.#relayed(server, scope, method, params),
    );
  }

  async #relayed(
    server: ManagedServer,
    scope: RequestScope,
    method: string,
    params: string | undefined,
  ): Promise<string> {
    const own = this.#features!.scopeFor(server.name, scope);
    try {
      return await this.#lines!.to(server, scope).call(own, method, params);
    } finally {
      if (own.atServer) scope.atServer = own.atServer;
    }
  }

  /** A list asks nobody anything: no client needs a program of its own for it. */
  async #list(
    server: ManagedServer,
    scope: RequestScope,
    method: string,
    params: string | undefined,
  ): Promise<string> {
    const answer = await this.#listed(server, scope, method, params);
    const kind = LISTS[method];
    if (kind === undefined) return answer;
    const { texts } = this.#options;
    const shown = await screened(texts?.screen, server.name, kind, answer);
    if (shown !== answer) await texts?.of(server).learn(kind, answer);
    return shown;
  }

  async #listed(
    server: ManagedServer,
    scope: RequestScope,
    method: string,
    params: string | undefined,
  ): Promise<string> {
    if (this.#lines!.to(server, scope).hasOwn) {
      return await this.#relayed(server, scope, method, params);
    }
    const { timeoutMs } = server;
    const { signal } = scope;
    const { id, text } = await server.call({ method, params, timeoutMs, streams: false, signal });
    return withId(text, id, scope.id);
  }
}
