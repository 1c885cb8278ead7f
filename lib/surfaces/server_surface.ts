import type { Catalog, ServerTools } from "../catalog/catalog.ts";
import { canonicalText, renamed } from "../catalog/catalog_tool.ts";
import { EVERYONE } from "../core/principal.ts";
import { notificationText, resultText } from "../core/rpc.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import { notConnected } from "../downstream/server_trouble.ts";
import type { Naming } from "../routing/names.ts";
import type { NameTable, NameTables } from "../routing/name_table.ts";
import { resolveTool, type View } from "../routing/resolve.ts";
import {
  type CallerRights,
  type CallGate,
  checkMayCall,
  checkMayUse,
  counted,
  type GatedCall,
  isLooking,
} from "./call_gate.ts";
import type { KeptTexts } from "./kept_texts.ts";
import { LISTS, screened } from "./listed_texts.ts";
import { Relay } from "./relay.ts";
import { callParams, soundParams } from "./sound_params.ts";
import {
  type ClientPort,
  type RequestScope,
  type Surface,
  type SurfaceSession,
  toolNameOf,
} from "./surface.ts";
import { checkUnchanged } from "./waited_call.ts";

export interface ServerDoorOptions {
  server: ManagedServer;
  catalog: Catalog;
  names: NameTables;
  naming: Naming;
  rights?: CallerRights;
  gate?: CallGate;
  /** What no caller may reach of prompts and resources; the same for all. */
  texts?: KeptTexts;
}

/** One downstream server, whole: its tools under the gateway's names, everything else as it is. */
export class ServerSurface implements Surface {
  readonly #options: ServerDoorOptions;

  constructor(options: ServerDoorOptions) {
    this.#options = options;
  }

  async introduce(): Promise<Record<string, unknown>> {
    const { server, catalog, texts, gate } = this.#options;
    const info = server.info ?? (await server.connection()).info;
    const { protocolVersion: _, capabilities, instructions, ...rest } = info;
    const shown = texts ? await texts.screen.instructions(server.name, instructions) : instructions;
    const tools = catalog.of(server.name).tools.length > 0 || capabilities.tools !== undefined;
    return {
      ...rest,
      ...(shown === undefined ? {} : { instructions: shown }),
      capabilities: {
        ...(gate?.hasPages?.(server.name) ? { resources: {} } : {}),
        ...capabilities,
        ...(tools ? { tools: { listChanged: true } } : {}),
      },
    };
  }

  open(port: ClientPort): SurfaceSession {
    return new ServerSurfaceSession(this.#options, port);
  }
}

/** What the server lists for one client, read by the rules of a snapshot. */
interface OwnTools {
  texts: string[];
  shared: ServerTools;
  tools: ServerTools;
  base: NameTable;
  table: NameTable;
}

class ServerSurfaceSession implements SurfaceSession {
  readonly #options: ServerDoorOptions;
  readonly #port: ClientPort;
  readonly #relay: Relay;
  /** Missing where nothing is kept from the caller. */
  readonly #rights: CallerRights | undefined;
  readonly #admits: View["admits"];
  #listed: AdmittedList | undefined;
  /** What the server lists for this client, where that is not what it lists for all. */
  #own: OwnTools | undefined;
  readonly #unsubscribe: () => void;

  constructor(options: ServerDoorOptions, port: ClientPort) {
    const { server, catalog } = options;
    this.#options = options;
    this.#port = port;
    const rights = this.#rights = port.principal === EVERYONE ? undefined : options.rights;
    this.#admits = rights && ((tool) => rights.admits(port.principal, tool));
    this.#relay = new Relay(server, port, (texts) => {
      const before = this.#tools();
      const shared = catalog.of(server.name);
      this.#own = isListOf(shared, texts) ? undefined : this.#read(texts, shared);
      const after = this.#tools();
      if (isListOf(before, textsOf(after))) return;
      port.push(notificationText("notifications/tools/list_changed"));
    });
    this.#unsubscribe = server.onBroadcast((text) => {
      if (!this.#relay.hasOwn) port.push(text);
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

  notify(method: string, _params: Record<string, unknown>, text: string): void {
    this.#relay.notify(method, text);
  }

  /** What changed of tools that do not exist for the caller is no news for it. */
  isListChanged(): boolean {
    const known = this.#listed;
    return !this.#rights || !known || this.#admittedList(this.#rights) !== known.text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe();
    await this.#relay[Symbol.asyncDispose]();
  }

  #tools(): ServerTools {
    return this.#currentOwn()?.tools ?? this.#options.catalog.of(this.#options.server.name);
  }

  #table(): NameTable {
    const { names, catalog } = this.#options;
    return this.#currentOwn()?.table ?? names.of(catalog.snapshot);
  }

  #currentOwn(): OwnTools | undefined {
    if (!this.#own) return undefined;
    const { names, catalog, server } = this.#options;
    const shared = catalog.of(server.name);
    // Between two connections nobody tells what has become of this client's list.
    const isOld = !this.#relay.hasOwn && this.#own.shared !== shared &&
      !isListOf(shared, textsOf(this.#own.shared));
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

  /**
   * Whether nothing is known of the server yet. A session from before a restart can be faster than
   * the server, and must not be told that its tools are gone.
   */
  get #isUnknown(): boolean {
    const { server, catalog } = this.#options;
    return server.info === undefined && server.status.state === "connecting" &&
      catalog.of(server.name).tools.length === 0;
  }

  async #listTools(scope: RequestScope): Promise<string> {
    const { server, naming } = this.#options;
    // Where it cannot be reached its list is empty, and another one is announced when it is back.
    if (this.#isUnknown) await server.connection(scope.signal).catch(() => {});
    if (this.#rights) return resultText(scope.id, this.#admittedList(this.#rights));
    return resultText(scope.id, this.#table().listText(server.name, naming));
  }

  /** The tools that exist for the caller; made anew only when something has changed. */
  #admittedList(rights: CallerRights): string {
    const { naming } = this.#options;
    const { principal } = this.#port;
    const [table, tools, grants] = [this.#table(), this.#tools(), rights.grants(principal)];
    const known = this.#listed;
    if (known?.table === table && known.tools === tools && known.grants === grants) {
      return known.text;
    }
    const texts = tools.tools
      .filter((tool) => tool.enabled && rights.admits(principal, tool))
      .map((tool) => renamed(tool, table.nameOf(tool, naming)));
    const text = `{"tools":[${texts.join(",")}]}`;
    this.#listed = { table, tools, grants, text };
    return text;
  }

  /** What became of the tool and the caller's rights while somebody was asked counts as well. */
  #checkAgain(call: GatedCall): void {
    checkUnchanged(call.tool, { table: this.#table(), admits: this.#admits });
    checkMayCall(this.#rights, this.#options.gate, call);
  }

  async #ask(scope: RequestScope): Promise<string> {
    const { method } = scope;
    const { texts, server, gate } = this.#options;
    if (!isLooking(method)) {
      checkMayUse(this.#rights, gate, { method, server: server.name, port: this.#port });
    }
    const params = soundParams(scope.text)?.text;
    const page = gate?.read?.(scope, this.#port);
    if (page) return await page;
    const refusal = await texts?.of(server).refusal(scope);
    if (refusal !== undefined) return refusal;
    const use = { server: server.name, method, principal: this.#port.principal, scope };
    const answer = await counted(gate, use, () => this.#relay.call(scope, method, params));
    const kind = LISTS[method];
    if (kind === undefined) return answer;
    const shown = await screened(texts?.screen, server.name, kind, answer);
    if (shown !== answer) await texts?.of(server).learn(kind, answer);
    return shown;
  }

  async #callTool(scope: RequestScope): Promise<string> {
    const name = toolNameOf(scope.params);
    const { server, naming } = this.#options;
    if (server.status.state === "disabled") throw notConnected(server.status);
    if (this.#isUnknown) await server.connection(scope.signal);
    const view = { table: this.#table(), naming, server: server.name, admits: this.#admits };
    const tool = resolveTool(view, name);
    const call = { tool, scope, port: this.#port };
    checkMayCall(this.#rights, this.#options.gate, call);
    scope.target = tool;
    const own = callParams(scope, tool.name);
    const { gate } = this.#options;
    if (!gate) return await this.#relay.call(scope, "tools/call", own);
    const agreed = gate.enter(call);
    if (agreed) {
      await agreed;
      this.#checkAgain(call);
    }
    const answer = await this.#relay.call(scope, "tools/call", own);
    return gate.leave ? gate.leave(call, answer) : answer;
  }
}

/** What a caller who does not see everything was last told. */
interface AdmittedList {
  table: NameTable;
  tools: ServerTools;
  grants: unknown;
  text: string;
}

function textsOf({ tools }: ServerTools): string[] {
  return tools.map(canonicalText);
}

function isListOf({ tools }: ServerTools, texts: string[]): boolean {
  return tools.length === texts.length &&
    tools.every((tool, index) => canonicalText(tool) === texts[index]);
}
