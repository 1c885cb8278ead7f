import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  CallToolResultSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { memberText } from "../lib/core/rpc.ts";
import { type Entries, FaultyGateway } from "./faults.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { until } from "./gateway.ts";

/** The gateway's own tools for toolsets. */
export const TOOLSET_TOOLS = [
  "build-toolset",
  "delete-toolset",
  "discover-all-tools",
  "equip-toolset",
  "get-active-toolset",
  "list-saved-toolsets",
  "unequip-toolset",
];
/** All of the gateway's own tools that the default endpoint may list. */
const BUILTINS = [...TOOLSET_TOOLS, "tool_capabilities", "tool_discovery", "tool_execute"];

export function tool(name: string, more: Record<string, unknown> = {}) {
  return { name, description: `Does ${name}`, inputSchema: { type: "object" }, ...more };
}

/** Where gateways keep their data, if not in a data folder that they share. */
export interface RemoteStore {
  flags: string[];
  env: Record<string, string>;
}

/** A gateway in front of servers, with a folder that goes with it. */
export class Endpoints implements AsyncDisposable {
  readonly folder: string;
  readonly #servers: Entries;
  readonly #store: RemoteStore | undefined;
  #faulty: FaultyGateway;

  private constructor(
    folder: string,
    servers: Entries,
    faulty: FaultyGateway,
    store: RemoteStore | undefined,
  ) {
    this.folder = folder;
    this.#servers = servers;
    this.#store = store;
    this.#faulty = faulty;
  }

  /** Waits until all of them are ready, unless told otherwise. */
  static async open(
    servers: Entries,
    awaited = Object.keys(servers),
    store?: RemoteStore,
  ): Promise<Endpoints> {
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
    const faulty = await FaultyGateway.start(servers, { folder, dataDir: folder, ...store });
    const endpoints = new Endpoints(folder, servers, faulty, store);
    await endpoints.ready(...awaited);
    return endpoints;
  }

  get faulty(): FaultyGateway {
    return this.#faulty;
  }

  get url(): string {
    return this.#faulty.url;
  }

  async ready(...servers: string[]): Promise<void> {
    await Promise.all(servers.map((name) => this.#faulty.reaches(name, "ready")));
  }

  /** Another gateway on the same data. */
  async sibling(): Promise<FaultyGateway> {
    const { folder } = this;
    if (!this.#store) return await FaultyGateway.start(this.#servers, { folder, dataDir: folder });
    const dataDir = await Deno.makeTempDir({ dir: folder });
    return await FaultyGateway.start(this.#servers, { folder, dataDir, ...this.#store });
  }

  /** Ends the gateway and starts another one on the same data. */
  async restart(signal: Deno.Signal): Promise<void> {
    await this.#faulty.gateway.stop(signal);
    this.#faulty = await this.sibling();
    await this.ready(...Object.keys(this.#servers));
  }

  async api(method: string, path: string, body?: unknown) {
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: { "content-type": "application/json", origin: this.url },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const value = z.looseObject({}).parse(await response.json());
    return { status: response.status, value };
  }

  /** Saves a toolset. */
  async build(name: string, tools: string[], replace = false): Promise<void> {
    // Not by building it: that counts tokens, for which each gateway has to load a tokenizer first.
    const path = `/api/exchange/toolsets?replace=${replace}`;
    const { value } = await this.api("POST", path, { name, tools });
    assert.deepEqual(value.saved, [name], JSON.stringify(value));
  }

  async logged(pattern: RegExp): Promise<string> {
    return await until(() => pattern.exec(this.#faulty.gateway.log())?.[0]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#faulty[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** An entry for a server over HTTP. */
export function at(server: { url: string }, path?: string) {
  return { type: "http", url: path === undefined ? server.url : server.url.replace("/mcp", path) };
}

/** The three servers of the usual example. */
export function devServers() {
  const git = new ScriptedServer([
    tool("status", {
      title: "Status",
      description: "Show git repository status",
      inputSchema: { type: "object", properties: { path: { type: "string" } }, $comment: "kept" },
      outputSchema: { type: "object", properties: { clean: { type: "boolean" } } },
      annotations: { title: "Git status", readOnlyHint: true },
      icons: [{ src: "data:image/png;base64,iVBORw0KGgo=", mimeType: "image/png" }],
      _meta: { "example.com/kept": { b: 1, a: [2] } },
      execution: { taskSupport: "optional" },
    }),
    tool("commit", { description: "Commit changes to git repository" }),
    tool("search-repositories"),
  ]);
  const clean = { content: [{ type: "text", text: "called status" }], structuredContent: {} };
  git.results.set("status", JSON.stringify(clean));
  const docker = new ScriptedServer([tool("ps"), tool("build_image")]);
  const linear = new ScriptedServer([tool("create_issue"), tool("list_issues")]);
  return {
    git,
    docker,
    linear,
    entries: { git: at(git), docker: at(docker), linear: at(linear) },
    async [Symbol.asyncDispose]() {
      for (const server of [git, docker, linear]) await server[Symbol.asyncDispose]();
    },
  };
}

export const DEV_TOOLS = ["git.status", "git.commit", "docker.ps", "linear.create_issue"];
export const DEV_NAMES = ["docker_ps", "git_commit", "git_status", "linear_create_issue"];

/** A client of the SDK's at an endpoint. */
export function connect(url: string, path: string, name?: string) {
  return connectOver(new StreamableHTTPClientTransport(new URL(path, url)) as never, name);
}

/** A client that keeps what it is told, and when. */
export async function connectOver(transport: Transport, name = "test") {
  const client = new Client({ name, version: "1" });
  const told = { tools: [] as number[], resources: [] as number[], prompts: [] as number[] };
  /** Runs on each notification of other tools. */
  const onTools = new Set<() => void>();
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    told.tools.push(Date.now());
    for (const listener of onTools) listener();
  });
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => {
    told.resources.push(Date.now());
  });
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => {
    told.prompts.push(Date.now());
  });
  await client.connect(transport);
  return {
    client,
    told,
    onTools,
    /** Sorted, without the gateway's own. */
    async tools(): Promise<string[]> {
      const { tools } = await client.listTools();
      return tools.map(({ name }) => name).filter((name) => !BUILTINS.includes(name)).sort();
    },
    async call(name: string, args: Record<string, unknown> = {}) {
      const result = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
      const [content] = result.content;
      return {
        text: content?.type === "text" ? content.text : "",
        isError: result.isError ?? false,
        data: z.looseObject({}).parse(result.structuredContent ?? {}),
      };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
export type EndpointClient = Awaited<ReturnType<typeof connect>>;

/** Calls that go well, for their text. */
export async function must(
  client: EndpointClient,
  name: string,
  args: Record<string, unknown> = {},
): Promise<string> {
  const { text, isError } = await client.call(name, args);
  assert.ok(!isError, text);
  return text;
}

/** Waits until a client lists exactly these besides the gateway's own. */
export function lists(client: EndpointClient, names: readonly string[]): Promise<true> {
  const wanted = [...names].sort().join(" ");
  return until(async () => (await client.tools()).join(" ") === wanted || undefined);
}

/** A client by hand, for what an SDK would not show: the text of answers, and failures. */
export async function openRaw(url: string, path: string) {
  const headers = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  });
  const send = (init: RequestInit) =>
    fetch(new URL(path, url), {
      ...init,
      headers: [...headers, ...new Headers(init.headers)],
    });
  async function post(body: string) {
    const response = await send({ method: "POST", body });
    const session = response.headers.get("mcp-session-id");
    if (session !== null) headers.set("mcp-session-id", session);
    const text = await response.text();
    const isStream = response.headers.get("content-type")?.includes("event-stream") ?? false;
    const messages = text.split("\n").filter((line) => line.startsWith("data: {"))
      .map((line) => line.slice("data: ".length));
    const answer = isStream ? messages.at(-1) ?? "" : text;
    return { status: response.status, text: answer, messages };
  }
  const request = (method: string, params: string) =>
    post(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
  const opened = await request(
    "initialize",
    '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}',
  );
  return {
    opened,
    fetch: send,
    post,
    request,
    /** The result of a call, as the text that came. */
    async result(params: string): Promise<string | undefined> {
      return memberText((await request("tools/call", params)).text, "result");
    },
  };
}
