import { join } from "@std/path";
import { TestCli } from "../cli.ts";
import { type RunningGateway, startGateway, until } from "../gateway.ts";

/** The API of a gateway that has servers behind authorization servers. */
export class Console {
  readonly gateway: RunningGateway;

  constructor(gateway: RunningGateway) {
    this.gateway = gateway;
  }

  async ask(method: string, path: string, body?: unknown) {
    const response = await fetch(`${this.gateway.url}/api/${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(method === "GET" ? {} : { body: JSON.stringify(body ?? {}) }),
    });
    return { status: response.status, ...await response.json() };
  }

  /** The server once it is in a state. */
  async reaches(state: string, name = "files"): Promise<{ reason: string; toolCount: number }> {
    return await until(async () => {
      const { server } = await this.ask("GET", `servers/${name}`);
      return server?.state === state ? server : undefined;
    }).catch(async (error) => {
      const { server } = await this.ask("GET", `servers/${name}`);
      throw new Error(`${error.message}: ${JSON.stringify(server)}, not ${state}`);
    });
  }

  call(name = "files") {
    return this.ask("POST", `tools/${name}/read/call`, { confirmed: true });
  }

  /** Goes through a login as a person with a browser would. */
  async logIn(name = "files"): Promise<{ status: number; text: string }> {
    const { login } = await this.ask("POST", `servers/${name}/login`);
    return await visit(login.url);
  }
}

export async function visit(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
}

/** A gateway whose config file names servers, each behind an authorization server of its own. */
export async function withServers(
  servers: Record<string, string>,
  work: (console: Console, cli: TestCli) => Promise<void>,
): Promise<void> {
  await TestCli.use(async (cli) => {
    const mcpServers = Object.fromEntries(
      Object.entries(servers).map(([name, url]) => [name, { url }]),
    );
    await cli.write(join(cli.project, ".mcp.json"), { mcpServers });
    await using gateway = await startGateway([], cli.gateway);
    await work(new Console(gateway), cli);
  });
}
