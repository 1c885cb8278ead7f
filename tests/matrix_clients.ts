/** Clients of both revisions, one interface: SDK 1.32 within a session, SDK 2.4 without. */
import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ProgressNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { keepingFetch } from "./stateless_client.ts";

export type Revision = "2025-11-25" | "2026-07-28";

export interface CallOptions {
  signal?: AbortSignal;
  progressToken?: string;
  /** Log messages of this level and above are wanted. */
  logLevel?: "info";
}

type Ref = { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };

/** What a cell of the matrix does, however the revision says it. */
export interface MatrixClient extends AsyncDisposable {
  /** `TOKEN 1/3`, `log: TEXT`, `updated URI`, `tools changed`. */
  readonly heard: string[];
  tools(): Promise<z.infer<typeof Tools>>;
  prompts(): Promise<z.infer<typeof Named>>;
  resources(): Promise<z.infer<typeof Resources>>;
  templates(): Promise<z.infer<typeof Templates>>;
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<string>;
  read(uri: string): Promise<string>;
  prompt(name: string, args: Record<string, string>): Promise<string>;
  complete(ref: Ref, argument: { name: string; value: string }): Promise<string[]>;
  /** Hears of updates from then on. */
  subscribe(uri: string): Promise<void>;
  /** Hears of list changes from then on. */
  listen(): Promise<void>;
  /** Makes a call that is answered with a task, for its id. */
  startTask(name: string, args: Record<string, unknown>): Promise<string>;
  taskStatus(id: string): Promise<string>;
  taskText(id: string): Promise<string>;
  cancelTask(id: string): Promise<void>;
}

const Tools = z.array(z.looseObject({
  name: z.string(),
  _meta: z.looseObject({ ui: z.looseObject({ resourceUri: z.string() }).optional() }).optional(),
}));
const Named = z.array(z.looseObject({ name: z.string(), description: z.string().optional() }));
const Resources = z.array(z.looseObject({ uri: z.string(), name: z.string() }));
const Templates = z.array(z.looseObject({ uriTemplate: z.string(), name: z.string() }));
const Text = z.looseObject({ text: z.string() });
const CallResult = z.looseObject({ content: z.tuple([Text], z.unknown()) });
const ReadResult = z.looseObject({ contents: z.tuple([Text]) });
const PromptResult = z.looseObject({ messages: z.tuple([z.looseObject({ content: Text })]) });

/** What every client answers its server's questions with. */
export const ANSWERS = {
  form: "a form",
  url: "accept",
  sampling: "a model",
  roots: "file:///root",
};
const CAPABILITIES = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
const INFO = { name: "matrix", version: "1.0.0" };

const sampled = () => ({
  role: "assistant" as const,
  model: "test",
  content: { type: "text" as const, text: ANSWERS.sampling },
});
const roots = () => ({ roots: [{ uri: ANSWERS.roots }] });
const elicited = (mode: string | undefined) =>
  mode === "url"
    ? { action: "accept" as const }
    : { action: "accept" as const, content: { answer: ANSWERS.form } };

export function connectMatrixClient(
  revision: Revision,
  url: string,
  fetch: typeof globalThis.fetch = keepingFetch(),
): Promise<MatrixClient> {
  return revision === "2025-11-25" ? connectSession(url, fetch) : connectStateless(url, fetch);
}

async function connectSession(
  url: string,
  fetch: typeof globalThis.fetch,
): Promise<MatrixClient> {
  const client = new Client(INFO, { capabilities: CAPABILITIES });
  const heard: string[] = [];
  client.setRequestHandler(CreateMessageRequestSchema, sampled);
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicited(params.mode));
  client.setRequestHandler(ListRootsRequestSchema, roots);
  // Not by `onprogress`: the SDK drops the last one when the result comes in the same read.
  client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => {
    heard.push(`${params.progressToken} ${params.progress}/${params.total}`);
  });
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    heard.push(`log: ${params.data}`);
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    heard.push(`updated ${params.uri}`);
  });
  const changes = {
    tools: ToolListChangedNotificationSchema,
    prompts: PromptListChangedNotificationSchema,
    resources: ResourceListChangedNotificationSchema,
  };
  for (const [list, schema] of Object.entries(changes)) {
    client.setNotificationHandler(schema, () => void heard.push(`${list} changed`));
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch }) as never);
  const { tasks } = client.experimental;
  return {
    heard,
    tools: async () => Tools.parse((await client.listTools()).tools),
    prompts: async () => (await client.listPrompts()).prompts,
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    async call(name, args, { signal, progressToken, logLevel } = {}) {
      if (logLevel) await client.setLoggingLevel(logLevel);
      const params = {
        name,
        arguments: args,
        ...(progressToken ? { _meta: { progressToken } } : {}),
      };
      const result = await client.callTool(params, CallToolResultSchema, signal ? { signal } : {});
      return CallResult.parse(result).content[0].text;
    },
    read: async (uri) => ReadResult.parse(await client.readResource({ uri })).contents[0].text,
    async prompt(name, args) {
      const prompt = await client.getPrompt({ name, arguments: args });
      return PromptResult.parse(prompt).messages[0].content.text;
    },
    complete: async (ref, argument) => (await client.complete({ ref, argument })).completion.values,
    subscribe: async (uri) => void await client.subscribeResource({ uri }),
    listen: () => Promise.resolve(),
    async startTask(name, args) {
      const params = { name, arguments: args, task: { ttl: 600_000 } };
      const request = { method: "tools/call" as const, params };
      return (await client.request(request, CreateTaskResultSchema)).task.taskId;
    },
    taskStatus: async (id) => (await tasks.getTask(id)).status,
    taskText: async (id) =>
      CallResult.parse(await tasks.getTaskResult(id, CallToolResultSchema)).content[0].text,
    cancelTask: async (id) => void await tasks.cancelTask(id),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function connectStateless(
  url: string,
  fetch: typeof globalThis.fetch,
): Promise<MatrixClient> {
  const client = new StatelessClient(INFO, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  const heard: string[] = [];
  client.setRequestHandler("sampling/createMessage", sampled);
  client.setRequestHandler("elicitation/create", ({ params }) => elicited(params.mode));
  client.setRequestHandler("roots/list", roots);
  client.setNotificationHandler("notifications/progress", ({ params }) => {
    heard.push(`${params.progressToken} ${params.progress}/${params.total}`);
  });
  client.setNotificationHandler("notifications/message", ({ params }) => {
    heard.push(`log: ${params.data}`);
  });
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    heard.push(`updated ${params.uri}`);
  });
  for (const list of ["tools", "prompts", "resources"] as const) {
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => {
      heard.push(`${list} changed`);
    });
  }
  await client.connect(new StatelessTransport(new URL(url), { fetch }));
  const fresh = { cacheMode: "bypass" } as const;
  const task = (method: string, taskId: string) =>
    requestTask([url, fetch], method, { taskId }, taskId);
  return {
    heard,
    tools: async () => Tools.parse((await client.listTools({}, fresh)).tools),
    prompts: async () => (await client.listPrompts({}, fresh)).prompts,
    resources: async () => (await client.listResources({}, fresh)).resources,
    templates: async () => (await client.listResourceTemplates({}, fresh)).resourceTemplates,
    async call(name, args, { signal, progressToken, logLevel } = {}) {
      const _meta = {
        ...(progressToken ? { progressToken } : {}),
        ...(logLevel ? { "io.modelcontextprotocol/logLevel": logLevel } : {}),
      };
      const params = { name, arguments: args, _meta };
      const result = await client.callTool(params, signal ? { signal } : {});
      return CallResult.parse(result).content[0].text;
    },
    read: async (uri) =>
      ReadResult.parse(await client.readResource({ uri }, fresh)).contents[0].text,
    async prompt(name, args) {
      const prompt = await client.getPrompt({ name, arguments: args });
      return PromptResult.parse(prompt).messages[0].content.text;
    },
    complete: async (ref, argument) => (await client.complete({ ref, argument })).completion.values,
    subscribe: async (uri) => void await client.listen({ resourceSubscriptions: [uri] }),
    async listen() {
      const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      await client.listen(all);
    },
    async startTask(name, args) {
      const result = await requestTask([url, fetch], "tools/call", { name, arguments: args }, name);
      return z.looseObject({ resultType: z.literal("task"), taskId: z.string() }).parse(result)
        .taskId;
    },
    taskStatus: async (id) =>
      z.looseObject({ status: z.string() }).parse(await task("tasks/get", id)).status,
    async taskText(id) {
      const { result } = z.looseObject({ result: CallResult }).parse(await task("tasks/get", id));
      return result.content[0].text;
    },
    cancelTask: async (id) => void await task("tasks/cancel", id),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** A request with the tasks extension, by hand: SDK v2's client refuses results that are tasks. */
async function requestTask(
  [url, fetch]: [string, typeof globalThis.fetch],
  method: string,
  params: Record<string, unknown>,
  name: string,
): Promise<unknown> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": {
      extensions: { "io.modelcontextprotocol/tasks": {} },
    },
  };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
  const text = await response.text();
  const last = text.split("\n").findLast((line) => line.startsWith("data: {"))?.slice(6);
  const { result, error } = z.looseObject({
    result: z.unknown().optional(),
    error: z.unknown().optional(),
  })
    .parse(JSON.parse(last ?? text));
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}
