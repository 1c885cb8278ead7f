import type { Catalog, ServerTools } from "../catalog/catalog.ts";
import { memberSpans, replaceSpan } from "../core/json_spans.ts";
import { memberText, notificationText, resultText } from "../core/rpc.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import type { Naming } from "../routing/names.ts";
import { ServerView } from "../routing/server_view.ts";
import { Relay } from "./relay.ts";
import {
  type ClientPort,
  type RequestScope,
  type Surface,
  type SurfaceSession,
  toolNameOf,
} from "./surface.ts";

/** Views of lists that are gone go with them. */
const views = new WeakMap<ServerTools, ServerView>();

/** One downstream server, whole: its tools under the gateway's names, everything else as it is. */
export class ServerSurface implements Surface {
  readonly #server: ManagedServer;
  readonly #catalog: Catalog;
  readonly #naming: Naming;

  constructor(server: ManagedServer, catalog: Catalog, naming: Naming) {
    this.#server = server;
    this.#catalog = catalog;
    this.#naming = naming;
  }

  async introduce(): Promise<Record<string, unknown>> {
    const info = this.#server.info ?? (await this.#server.connection()).info;
    const { protocolVersion: _, capabilities, ...rest } = info;
    const tools = this.#catalog.of(this.#server.name).tools.length > 0 ||
      capabilities.tools !== undefined;
    return {
      ...rest,
      capabilities: { ...capabilities, ...(tools ? { tools: { listChanged: true } } : {}) },
    };
  }

  open(port: ClientPort): SurfaceSession {
    return new ServerSurfaceSession(this.#server, this.#catalog, this.#naming, port);
  }
}

class ServerSurfaceSession implements SurfaceSession {
  readonly #server: ManagedServer;
  readonly #catalog: Catalog;
  readonly #naming: Naming;
  readonly #relay: Relay;
  /** What the server lists for this client, where that is not what it lists for all. */
  #own: { texts: string[]; shared: ServerTools; tools: ServerTools } | undefined;
  readonly #unsubscribe: () => void;

  constructor(server: ManagedServer, catalog: Catalog, naming: Naming, port: ClientPort) {
    this.#server = server;
    this.#catalog = catalog;
    this.#naming = naming;
    this.#relay = new Relay(server, port, (texts) => {
      const before = this.#tools();
      const shared = catalog.of(server.name);
      this.#own = isListOf(shared, texts) ? undefined : this.#read(texts, shared);
      const after = this.#tools();
      if (isListOf(before, after.tools.map(({ text }) => text))) return;
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
        return Promise.resolve(resultText(scope.id, this.#view().listText(this.#naming)));
      case "tools/call":
        return this.#callTool(scope);
      default:
        return this.#relay.call(scope, scope.method, memberText(scope.text, "params"));
    }
  }

  notify(method: string, _params: Record<string, unknown>, text: string): void {
    this.#relay.notify(method, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe();
    await this.#relay[Symbol.asyncDispose]();
  }

  #tools(): ServerTools {
    const shared = this.#catalog.of(this.#server.name);
    if (!this.#own || !this.#relay.hasOwn) return shared;
    // Which tools are enabled may have changed since it was read; then the shared list is new.
    if (this.#own.shared !== shared) this.#own = this.#read(this.#own.texts, shared);
    return this.#own.tools;
  }

  #read(texts: string[], shared: ServerTools) {
    return { texts, shared, tools: this.#catalog.read(this.#server.name, texts) };
  }

  #view(): ServerView {
    const tools = this.#tools();
    let view = views.get(tools);
    if (!view) views.set(tools, view = new ServerView(this.#server.name, tools));
    return view;
  }

  async #callTool(scope: RequestScope): Promise<string> {
    const name = toolNameOf(scope.params);
    const tool = this.#view().resolve(name, this.#naming);
    const params = memberText(scope.text, "params")!;
    const own = name === tool.name ? params : withName(params, tool.name);
    return await this.#relay.call(scope, "tools/call", own);
  }
}

function isListOf({ tools }: ServerTools, texts: string[]): boolean {
  return tools.length === texts.length && tools.every(({ text }, index) => text === texts[index]);
}

/** The params of a call under another name, the rest as it came. */
function withName(params: string, name: string): string {
  return replaceSpan(params, memberSpans(params).get("name")!, JSON.stringify(name));
}
