/** The cheapest MCP client there can be, so that what is measured is what is behind it. */
export class BenchClient {
  readonly #url: string;
  readonly #headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  #id = 0;

  constructor(url: string, token?: string) {
    this.#url = url;
    if (token !== undefined) this.#headers.authorization = `Bearer ${token}`;
  }

  async connect(): Promise<this> {
    const client = { name: "bench", version: "1" };
    const response = await this.#post("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: client,
    });
    await response.text();
    const session = response.headers.get("mcp-session-id");
    if (session) this.#headers["mcp-session-id"] = session;
    this.#headers["mcp-protocol-version"] = "2025-11-25";
    const body = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    await (await fetch(this.#url, { method: "POST", headers: this.#headers, body })).text();
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
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++this.#id, method, params });
    return fetch(this.#url, { method: "POST", headers: this.#headers, body });
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
