/** A server of 2026-07-28, made with SDK v2. As a program it speaks stdio. */
import {
  acceptedContent,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  McpServer,
  type ServerContext,
  type ServerNotifier,
} from "npm:@modelcontextprotocol/server@~2.4.0";
import { serveStdio } from "npm:@modelcontextprotocol/server@~2.4.0/stdio";
import * as z from "zod";

type Changes = Pick<ServerNotifier, "toolsChanged" | "resourceUpdated">;

/** What all requests share: over HTTP each has a server of its own. */
class State {
  readonly extra: string[] = [];
  readonly seen: { method: string; headers: Headers | undefined }[] = [];
  cancelled = 0;
}

const URI = "test://notes";
const ECHO = {
  type: "object" as const,
  properties: {
    text: { type: "string" as const },
    region: { type: "string" as const, "x-mcp-header": "Region" },
  },
};
const text = (text: string) => ({ content: [{ type: "text" as const, text }] });

function createServer(state: State, changes?: Changes): McpServer {
  const mcp = new McpServer({ name: "stateless", version: "1.0.0" }, {
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      logging: {},
    },
    instructions: "Say please.",
  });
  const announce = changes ?? {
    toolsChanged: () => mcp.sendToolListChanged(),
    resourceUpdated: (uri: string) => void mcp.server.sendResourceUpdated({ uri }),
  };
  const inputSchema = fromJsonSchema(ECHO);
  mcp.registerTool("echo", { inputSchema }, (args: unknown, ctx) => {
    state.seen.push({ method: "tools/call", headers: ctx.http?.req?.headers });
    return text(JSON.stringify(args));
  });
  const numbers = fromJsonSchema({ type: "array", items: { type: "number" } });
  mcp.registerTool("numbers", { outputSchema: numbers }, () => ({
    ...text("one and two"),
    structuredContent: [1, 2],
  }));
  mcp.registerTool("whoami", {}, (ctx: ServerContext) => text(JSON.stringify(ctx.mcpReq)));
  mcp.registerTool("grow", { inputSchema: z.object({ name: z.string() }) }, ({ name }) => {
    state.extra.push(name);
    // Over stdio this server serves the next request too.
    if (!changes) mcp.registerTool(name, {}, () => text(name));
    announce.toolsChanged();
    return text("grown");
  });
  mcp.registerTool("touch", {}, () => {
    announce.resourceUpdated(URI);
    return text("touched");
  });
  for (const name of state.extra) mcp.registerTool(name, {}, () => text(name));
  registerQuestions(mcp);
  registerWork(mcp, state);
  mcp.registerResource("notes", URI, {}, () => ({ contents: [{ uri: URI, text: "a note" }] }));
  mcp.registerPrompt("hello", {}, () => ({
    messages: [{ role: "user", content: { type: "text", text: "Hello" } }],
  }));
  return mcp;
}

const Color = z.object({ color: z.string() });

function registerQuestions(mcp: McpServer): void {
  mcp.registerTool("ask", {}, (ctx: ServerContext) => {
    const { inputResponses } = ctx.mcpReq;
    const answer = acceptedContent(inputResponses, "color", Color);
    if (answer) return text(`${answer.color}, ${ctx.mcpReq.requestState()}`);
    if (inputResponses?.color !== undefined) return text(JSON.stringify(inputResponses.color));
    const question = inputRequired.elicit({ message: "Which color?", requestedSchema: Color });
    return inputRequired({ inputRequests: { color: question }, requestState: 'state "1"' });
  });
  mcp.registerTool("ask-all", {}, (ctx: ServerContext) => {
    const { inputResponses } = ctx.mcpReq;
    if (inputResponses) return text(JSON.stringify(inputResponses));
    return inputRequired({
      inputRequests: {
        roots: inputRequired.listRoots(),
        page: inputRequired.elicitUrl({ message: "Log in", url: "https://example.com/" }),
        model: inputRequired.createMessage({
          messages: [{ role: "user", content: { type: "text", text: "Hi" } }],
          maxTokens: 10,
        }),
      },
    });
  });
  mcp.registerTool("ask-forever", {}, () => inputRequired({ requestState: "again" }));
}

function registerWork(mcp: McpServer, state: State): void {
  mcp.registerTool("count", {}, async (ctx: ServerContext) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let progress = 1; progressToken !== undefined && progress <= 3; progress++) {
      await ctx.mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken, progress, total: 3 },
      });
    }
    await ctx.mcpReq.log("info", "counted");
    return text("counted");
  });
  mcp.registerTool("wait", {}, async (ctx: ServerContext) => {
    const { signal } = ctx.mcpReq;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    state.cancelled++;
    return text("cancelled");
  });
  mcp.registerTool("cancelled", {}, () => text(String(state.cancelled)));
}

/** Serves it over HTTP on this machine, as only the newer revision, or both. */
export function serveStateless(legacy: "reject" | "stateless" = "reject") {
  const state = new State();
  const handler = createMcpHandler(() => createServer(state, handler.notify), { legacy });
  const methods: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const body = await request.clone().text();
    methods.push(body === "" ? request.method : JSON.parse(body).method);
    return await handler.fetch(request);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    state,
    /** The methods of the messages that came, in order. */
    methods,
    async [Symbol.asyncDispose]() {
      await handler.close();
      await server.shutdown();
    },
  };
}

if (import.meta.main) {
  const state = new State();
  serveStdio(() => createServer(state), {
    legacy: Deno.args.includes("--both") ? "serve" : "reject",
  });
}
