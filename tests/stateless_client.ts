// @ts-types="@modelcontextprotocol/client"
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";

// @ts-types="@modelcontextprotocol/client/stdio"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { stdioCommand, type StdioStart } from "./fixtures/stdio_child.ts";

const REVISION = "2026-07-28";

/** What a client can be asked, and how these answer. */
const CAPABILITIES = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: {},
} satisfies ClientOptions["capabilities"];

/**
 * A fetch that keeps its responses. Deno forgets the signal of one that is garbage, and the SDK keeps
 * only the body: a call that it cancels later would go on.
 */
export function keepingFetch(): typeof fetch {
  const responses: Response[] = [];
  return async (input, init) => {
    const response = await fetch(input, init);
    responses.push(response);
    return response;
  };
}

/** A client of the SDK that speaks nothing but 2026-07-28, and notes what it hears. */
export class StatelessClient implements AsyncDisposable {
  readonly client: Client;
  readonly heard: string[] = [];
  /** The methods of the questions that it was asked. */
  readonly asked: string[] = [];

  private constructor(client: Client) {
    this.client = client;
  }

  static async connect(
    transport: Transport,
    { capabilities = CAPABILITIES, name = "stateless", marker = "marker" }: {
      capabilities?: ClientOptions["capabilities"];
      name?: string;
      marker?: string;
    } = {},
  ): Promise<StatelessClient> {
    const client = new Client({ name, version: "1" }, {
      capabilities,
      versionNegotiation: { mode: { pin: REVISION } },
    });
    const own = new StatelessClient(client);
    own.#answer(marker, capabilities);
    own.#listen();
    await client.connect(transport);
    return own;
  }

  static http(
    url: string | URL,
    options: Parameters<typeof StatelessClient.connect>[1] & { token?: string } = {},
  ): Promise<StatelessClient> {
    const { token, ...more } = options;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch: keepingFetch(),
    });
    return StatelessClient.connect(transport, more);
  }

  static stdio(flags: string[], start: StdioStart): Promise<StatelessClient> {
    const transport = new StdioClientTransport({ ...stdioCommand(flags, start), stderr: "ignore" });
    return StatelessClient.connect(transport);
  }

  /** The text of a tool's result. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { content, isError } = await this.client.callTool({ name, arguments: args });
    const text = content.flatMap((part) => part.type === "text" ? part.text : []).join("\n");
    return isError ? `ERROR ${text}` : text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }

  #answer(marker: string, capabilities: ClientOptions["capabilities"] = {}): void {
    const { client, asked } = this;
    if (capabilities.sampling) {
      client.setRequestHandler("sampling/createMessage", () => {
        asked.push("sampling/createMessage");
        const content = { type: "text" as const, text: marker };
        return { role: "assistant" as const, model: "stand-in", content };
      });
    }
    if (capabilities.elicitation) {
      client.setRequestHandler("elicitation/create", ({ params }) => {
        asked.push(`elicitation/create ${params.mode ?? "form"}`);
        if (params.mode === "url") return { action: "accept" as const };
        const [first = "answer"] = Object.keys(params.requestedSchema.properties);
        const isAgreement = first === "agree";
        return { action: "accept" as const, content: { [first]: isAgreement ? true : marker } };
      });
    }
    if (capabilities.roots) {
      client.setRequestHandler("roots/list", () => {
        asked.push("roots/list");
        return { roots: [{ uri: `file:///${marker}` }] };
      });
    }
  }

  #listen(): void {
    const { client, heard } = this;
    client.setNotificationHandler("notifications/message", ({ params }) => {
      heard.push(`${params.level}: ${JSON.stringify(params.data)}`);
    });
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      heard.push(`updated ${params.uri}`);
    });
    for (const kind of ["tools", "prompts", "resources"] as const) {
      client.setNotificationHandler(`notifications/${kind}/list_changed`, () => {
        heard.push(`${kind} changed`);
      });
    }
  }
}
