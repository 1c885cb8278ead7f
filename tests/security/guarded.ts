import { join } from "@std/path";
import * as z from "zod";
import { AccessScope, type NewToken } from "../../lib/core/access.ts";
import {
  AccessTokensRepository,
  ProjectsRepository,
} from "../../lib/storage/access_repositories.ts";
import { Store } from "../../lib/storage/store.ts";
import { AccessAdmin } from "../../lib/operations/access_admin.ts";
import type { Entries } from "../faults.ts";
import { type RunningGateway, startGateway, until } from "../gateway.ts";

const Answer = z.looseObject({
  result: z.looseObject({}).optional(),
  error: z.looseObject({ message: z.string(), data: z.unknown().optional() }).optional(),
});
const Listed = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) });
const Servers = z.object({ servers: z.array(z.looseObject({ state: z.string() })) });

interface TokenWishes extends Partial<Omit<NewToken, "scope">> {
  rights?: string[];
  servers?: string[];
  toolsets?: string[];
  tools?: string[];
}

/** A gateway that asks for tokens, and the store that these are made in, as a command line would. */
export class Guarded implements AsyncDisposable {
  readonly folder: string;
  readonly admin: AccessAdmin;
  /** May do everything. */
  readonly owner: string;
  readonly #store: Store;
  readonly #flags: string[];
  readonly #gateways: RunningGateway[] = [];
  readonly #killed: RunningGateway[] = [];
  readonly #count: number;
  #made = 0;

  private constructor(
    parts: { folder: string; store: Store; owner: string; flags: string[]; count: number },
  ) {
    this.folder = parts.folder;
    this.#store = parts.store;
    this.owner = parts.owner;
    this.#flags = parts.flags;
    this.#count = parts.count;
    this.admin = adminOf(parts.store);
  }

  /** Waits until all servers are ready. */
  static async open(servers: Entries, flags = ["--require-token"]): Promise<Guarded> {
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
    await Deno.writeTextFile(
      join(folder, ".mcp.json"),
      JSON.stringify({ mcpServers: servers }),
    );
    const store = await Store.open({ location: join(folder, "quartermaster.kv") });
    const { text: owner } = await adminOf(store).createToken({
      name: "owner",
      scope: AccessScope.parse({ rights: ["read", "call", "manage", "optimize"] }),
    });
    const count = Object.keys(servers).length;
    const guarded = new Guarded({ folder, store, owner, flags, count });
    try {
      await guarded.start();
    } catch (error) {
      await guarded[Symbol.asyncDispose]();
      throw error;
    }
    return guarded;
  }

  get url(): string {
    return this.#gateways[0]!.url;
  }

  /** Everything that all of its gateways have logged. */
  get log(): string {
    return [...this.#killed, ...this.#gateways].map((gateway) => gateway.log()).join("");
  }

  /** Starts one more gateway on the same data, where one was killed or at a port of its own. */
  async start(killed?: string): Promise<string> {
    const flags = killed === undefined
      ? this.#flags
      : [...this.#flags, "--port", new URL(killed).port];
    const gateway = await startGateway(flags, { dataDir: this.folder, cwd: this.folder });
    this.#gateways.push(gateway);
    await until(async () => {
      const response = await this.get("/api/servers", { token: this.owner, url: gateway.url });
      const { servers } = Servers.parse(await response.json());
      const isReady = servers.every(({ state }) => state === "ready");
      return servers.length >= this.#count && isReady ? true : undefined;
    });
    return gateway.url;
  }

  /** Kills a gateway, or that which was started last; returns its URL. */
  async kill(url = this.#gateways.at(-1)!.url): Promise<string> {
    const at = this.#gateways.findIndex((gateway) => gateway.url === url);
    const [gateway] = this.#gateways.splice(at, 1);
    this.#killed.push(gateway!);
    await gateway!.stop("SIGKILL");
    return url;
  }

  /** A token's text, and its id. */
  async token(wishes: TokenWishes = {}): Promise<{ text: string; id: string }> {
    const { rights = ["read", "call"], servers, toolsets, tools, ...more } = wishes;
    const { text, token } = await this.admin.createToken({
      name: `token ${++this.#made}`,
      scope: AccessScope.parse({ rights, servers, toolsets, tools }),
      ...more,
    });
    await this.knows(text);
    return { text, id: token.id };
  }

  /** Revokes a token, and waits until no gateway lets it in. */
  async revoke({ id, text }: { id: string; text: string }): Promise<void> {
    await this.admin.revokeToken(id);
    await this.#knows(text, false);
  }

  /** Waits until every gateway lets a token in. */
  knows(token: string): Promise<void> {
    return this.#knows(token, true);
  }

  get(path: string, { token, url = this.url }: { token?: string; url?: string } = {}) {
    return fetch(new URL(path, url), { headers: bearer(token) });
  }

  async api(method: string, path: string, body?: unknown, token = this.owner) {
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: { "content-type": "application/json", ...bearer(token) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, value: z.looseObject({}).parse(await response.json()) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const gateway of this.#gateways) await gateway.stop();
    await this.#store[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }

  async #knows(token: string, isAdmitted: boolean): Promise<void> {
    for (const { url } of this.#gateways) {
      await until(async () => {
        const response = await fetch(`${url}/mcp`, { method: "PUT", headers: bearer(token) });
        await response.body?.cancel();
        const isRefused = response.status === 401 || response.status === 429;
        return isRefused !== isAdmitted || undefined;
      });
    }
  }
}

export function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** A client by hand, with a token of its own. */
export class Visitor {
  readonly url: URL;
  readonly headers: Headers;
  #id = 0;

  private constructor(url: URL, token: string | undefined, headers?: Headers) {
    this.url = url;
    this.headers = headers ?? new Headers({
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...bearer(token),
    });
  }

  static async open(
    base: string,
    path: string,
    token?: string,
    headers: Record<string, string> = {},
  ): Promise<Visitor> {
    const visitor = new Visitor(new URL(path, base), token);
    for (const [name, value] of Object.entries(headers)) visitor.headers.set(name, value);
    const { error } = await visitor.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "visitor", version: "1" },
    });
    if (error) throw new Error(`Cannot open ${path}: ${error.message}`);
    return visitor;
  }

  /** The same session at another gateway on the store. */
  at(base: string): Visitor {
    const { pathname, search } = this.url;
    const there = new Visitor(new URL(pathname + search, base), undefined, this.headers);
    // Ids are the session's.
    there.#id = ++this.#id * 1_000;
    return there;
  }

  get session(): string {
    return this.headers.get("mcp-session-id") ?? "";
  }

  post(method: string, params: object = {}): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++this.#id, method, params });
    return fetch(this.url, { method: "POST", headers: this.headers, body });
  }

  /** The answer, with the text that came. */
  async request(method: string, params: object = {}) {
    const response = await this.post(method, params);
    const session = response.headers.get("mcp-session-id");
    if (session !== null) this.headers.set("mcp-session-id", session);
    const text = await response.text();
    const isStream = response.headers.get("content-type")?.includes("event-stream") ?? false;
    const last = text.split("\n").findLast((line) => line.startsWith("data: {"))?.slice(6);
    const answer = isStream ? last ?? "{}" : text;
    return { ...Answer.parse(JSON.parse(answer)), text: answer, status: response.status };
  }

  async tools(): Promise<string[]> {
    const { result } = await this.request("tools/list");
    return Listed.parse(result).tools.map(({ name }) => name).sort();
  }

  /** The answer as text. */
  async call(name: string, args: object = {}, meta?: object): Promise<string> {
    const params = { name, arguments: args, ...(meta ? { _meta: meta } : {}) };
    return (await this.request("tools/call", params)).text;
  }

  /** Listens to what belongs to no request. */
  listen(): Promise<Listening> {
    return Listening.open(this.url, this.headers);
  }
}

/** A stream of server-sent events that is read as it comes. */
export class Listening implements AsyncDisposable {
  readonly status: number;
  text = "";
  isOver = false;
  readonly #stop: AbortController;
  readonly #reading: Promise<void>;

  private constructor(response: Response, stop: AbortController) {
    this.status = response.status;
    this.#stop = stop;
    this.#reading = this.#read(response);
  }

  static async open(url: string | URL, headers: HeadersInit): Promise<Listening> {
    const stop = new AbortController();
    const wanted = new Headers(headers);
    wanted.set("accept", "text/event-stream");
    return new Listening(await fetch(url, { headers: wanted, signal: stop.signal }), stop);
  }

  /** Waits until the other side has ended it. */
  over(): Promise<true> {
    return until(() => this.isOver || undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read(response: Response): Promise<void> {
    try {
      const body = response.body?.pipeThrough(new TextDecoderStream());
      if (body) { for await (const chunk of body) this.text += chunk; }
    } catch { /* we have left, or the gateway has gone */ }
    this.isOver = true;
  }
}

function adminOf(store: Store): AccessAdmin {
  return new AccessAdmin({
    tokens: new AccessTokensRepository(store),
    projects: new ProjectsRepository(store),
  });
}
