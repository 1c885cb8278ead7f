export type Revision = "2025-11-25" | "2026-07-28";

const CLIENT_INFO = { name: "bench", version: "1" };
/** What every request of 2026-07-28 carries. */
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The cheapest MCP client there can be, so that what is measured is what is behind it. */
export class BenchClient {
  readonly #url: string;
  readonly #revision: Revision;
  readonly #headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  #id = 0;

  constructor(url: string, token?: string, revision: Revision = "2025-11-25") {
    this.#url = url;
    this.#revision = revision;
    if (token !== undefined) this.#headers.authorization = `Bearer ${token}`;
  }

  /** Opens a session, in the revision that has them. */
  async connect(): Promise<this> {
    if (this.#revision === "2025-11-25") {
      const response = await this.#post("initialize", {
        protocolVersion: this.#revision,
        capabilities: {},
        clientInfo: CLIENT_INFO,
      });
      await response.text();
      const session = response.headers.get("mcp-session-id");
      if (session) this.#headers["mcp-session-id"] = session;
    }
    this.#headers["mcp-protocol-version"] = this.#revision;
    if (this.#revision === "2025-11-25") {
      const body = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
      await (await fetch(this.#url, { method: "POST", headers: this.#headers, body })).text();
    }
    return this;
  }

  async request(method: string, params: Record<string, unknown>): Promise<string> {
    const response = await this.#post(method, params);
    const text = await response.text();
    if (!response.ok || !text.includes('"result"')) {
      throw new Error(`${method}: ${response.status} ${text.slice(0, 300)}`);
    }
    return text;
  }

  #post(method: string, params: Record<string, unknown>): Promise<Response> {
    const id = ++this.#id;
    if (this.#revision === "2025-11-25") {
      const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
      return fetch(this.#url, { method: "POST", headers: this.#headers, body });
    }
    const headers: Record<string, string> = { ...this.#headers, "mcp-method": method };
    if (typeof params.name === "string") headers["mcp-name"] = params.name;
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id,
      method,
      params: { ...params, _meta: ENVELOPE },
    });
    return fetch(this.#url, { method: "POST", headers, body });
  }
}

/** Runs `total` calls with `width` of them at a time; the duration of each in ms. */
export async function callMany(
  clients: BenchClient[],
  total: number,
  width: number,
  call: (client: BenchClient) => Promise<unknown>,
): Promise<{ durations: number[]; seconds: number }> {
  const durations: number[] = [];
  const started = performance.now();
  let left = total;
  await Promise.all(Array.from({ length: width }, async (_, index) => {
    const client = clients[index % clients.length]!;
    while (left-- > 0) {
      const before = performance.now();
      await call(client);
      durations.push(performance.now() - before);
    }
  }));
  return { durations, seconds: (performance.now() - started) / 1000 };
}
