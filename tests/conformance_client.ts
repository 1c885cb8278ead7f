// @ts-types="@modelcontextprotocol/client"
import { Client, StreamableHTTPClientTransport, type Tool } from "@modelcontextprotocol/client";
import { fromFileUrl } from "@std/path";
import * as z from "zod";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

/** The first, and one for a scope or an authorization server that is new. */
const MAX_LOGINS = 2;
/** More at once would only wait for the processor. */
const AT_ONCE = 4;

/** Scenarios of extensions that the gateway does not have. */
export const EXTENSIONS = [
  "auth/client-credentials-jwt",
  "auth/client-credentials-basic",
  "auth/enterprise-managed-authorization",
  "auth/dpop",
  "auth/dpop-nonce",
  "auth/wif-jwt-bearer",
];

const Scenario = z.looseObject({
  scenario: z.string(),
  url: z.string(),
  context: z.looseObject({
    client_id: z.string().optional(),
    client_secret: z.string().optional(),
    toolCalls: z.array(z.looseObject({
      name: z.string(),
      arguments: z.record(z.string(), z.unknown()),
    })).optional(),
  }),
});
type Scenario = z.infer<typeof Scenario>;

/**
 * The gateway as the client that the conformance suite tests. Each scenario's server is added to one
 * gateway; an SDK client lists and calls everything through it, answers questions, and logs in as a
 * person would.
 */
export class GatewayAsClient implements AsyncDisposable {
  /** What kept the gateway from using the server of a scenario. */
  readonly problems = new Map<string, string>();
  readonly #gateway: RunningGateway;
  readonly #listener: Deno.HttpServer<Deno.NetAddr>;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  private constructor(gateway: RunningGateway) {
    this.#gateway = gateway;
    const where = { hostname: "127.0.0.1", port: 0, onListen() {} };
    this.#listener = Deno.serve(where, async (request) => {
      const scenario = Scenario.parse(await request.json());
      try {
        if (!EXTENSIONS.includes(scenario.scenario)) await this.#inTurn(() => this.#run(scenario));
        return new Response("Done");
      } catch (error) {
        this.problems.set(scenario.scenario, String(error));
        return new Response(String(error), { status: 500 });
      }
    });
  }

  static async start(): Promise<GatewayAsClient> {
    return new GatewayAsClient(await startGateway());
  }

  /** What the suite runs, with the address of its server after it. */
  get command(): string {
    const script = fromFileUrl(new URL("fixtures/conformance_client.ts", import.meta.url));
    const run = [Deno.execPath(), "run", "-A", "-q", "--no-config", "--no-lock", script];
    return [...run, `http://127.0.0.1:${this.#listener.addr.port}/`].join(" ");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.shutdown();
    await this.#gateway[Symbol.asyncDispose]();
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    if (this.#running >= AT_ONCE) await new Promise<void>((go) => this.#waiting.push(go));
    this.#running++;
    try {
      await work();
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  async #run({ scenario, url, context }: Scenario): Promise<void> {
    const name = scenario.replaceAll("/", "-");
    await this.#ask("server.add", { name, url });
    try {
      await this.#use(name, context);
    } finally {
      await this.#ask("server.remove", { name });
    }
  }

  async #use(name: string, context: Scenario["context"]): Promise<void> {
    let logins = 0;
    const logIn = async () => {
      if (logins++ >= MAX_LOGINS) throw new Error("The logins do not help");
      await this.#logIn(name, context);
    };
    while (await this.#settled(name) === "needs_login") await logIn();
    const client = new Client({ name: "conformance", version: "1" }, {
      capabilities: {
        sampling: {},
        roots: {},
        elicitation: { form: { applyDefaults: true } },
      },
      versionNegotiation: { mode: "auto" },
    });
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: {} }));
    const endpoint = new URL(`${this.#gateway.url}/servers/${name}/mcp?names=original`);
    await client.connect(new StreamableHTTPClientTransport(endpoint));
    try {
      const { tools } = await client.listTools();
      for (const call of context.toolCalls ?? tools.map((tool) => callOf(tool, tools[0]))) {
        for (;;) {
          const { isError, structuredContent } = await client.callTool(call);
          const problem = isError ? ToolProblem.safeParse(structuredContent).data : undefined;
          const state = await this.#settled(name);
          const wantsLogin = problem?.errorType === "LOGIN_SCOPE_REQUIRED" ||
            (problem && state === "needs_login");
          if (!wantsLogin) break;
          await logIn();
        }
      }
      const has = client.getServerCapabilities() ?? {};
      for (const { uri } of has.resources ? (await client.listResources()).resources : []) {
        await client.readResource({ uri });
      }
      for (const prompt of has.prompts ? (await client.listPrompts()).prompts : []) {
        await client.getPrompt({ name: prompt.name });
      }
    } finally {
      await client.close();
    }
  }

  /** Starts a login, and goes where a person with a browser would. */
  async #logIn(name: string, { client_id, client_secret }: Scenario["context"]): Promise<void> {
    const client = client_id === undefined
      ? {}
      : { clientId: client_id, clientSecret: client_secret };
    const { login } = Started.parse(await this.#ask("server.login", { name, ...client }));
    const response = await fetch(login.url);
    const page = await response.text();
    if (!response.ok) throw new Error(`The login failed: ${page.slice(0, 2_000)}`);
  }

  async #settled(name: string): Promise<string> {
    return await until(async () => {
      const response = await fetch(`${this.#gateway.url}/api/server.show?name=${name}`);
      const { server: { state } } = Described.parse(await response.json());
      return state === "starting" ? undefined : state;
    });
  }

  async #ask(operation: string, input: object): Promise<unknown> {
    const response = await fetch(`${this.#gateway.url}/api/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(input),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${operation} gave ${response.status}: ${text}`);
    return JSON.parse(text);
  }
}

const ToolProblem = z.looseObject({ errorType: z.string() });
const Started = z.looseObject({ login: z.looseObject({ url: z.string() }) });
const Described = z.looseObject({ server: z.looseObject({ state: z.string() }) });

const EXAMPLES: Record<string, unknown> = {
  string: "text",
  number: 1.5,
  integer: 2,
  boolean: true,
  array: [],
  object: {},
};

/** A call with a value for each argument that is required; a schema is that of another tool. */
function callOf({ name, inputSchema }: Tool, other: Tool | undefined) {
  const args = (inputSchema.required ?? []).map((key) => {
    if (key === "schema") return [key, other?.inputSchema];
    const { type } = z.looseObject({ type: z.string().catch("string") })
      .parse(inputSchema.properties?.[key] ?? {});
    return [key, EXAMPLES[type] ?? "text"];
  });
  return { name, arguments: Object.fromEntries(args) };
}
