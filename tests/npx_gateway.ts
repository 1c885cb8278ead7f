import { join } from "@std/path";
import { cliCommand } from "./cli.ts";
import { EndpointClient } from "./faults.ts";
import { NpmRegistry, serverProgram } from "./fixtures/npm_registry.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

export const NOTES = "@acme/notes";

/** Whether npx is there, and a shell that runs what it installs. */
export const hasNpx = Deno.build.os !== "windows" &&
  await new Deno.Command("npx", { args: ["--version"], stdout: "null", stderr: "null" }).output()
    .then(({ success }) => success, () => false);

/** A gateway with a server that npx starts from a registry of the test's own. */
export class NpxGateway implements AsyncDisposable {
  readonly folder: string;
  readonly registry = new NpmRegistry();
  readonly env: Record<string, string>;
  #gateway: RunningGateway | undefined;

  private constructor(folder: string) {
    this.folder = folder;
    this.env = {
      npm_config_cache: join(folder, "cache"),
      npm_config_registry: this.registry.url,
      npm_config_audit: "false",
      npm_config_fund: "false",
      npm_config_update_notifier: "false",
    };
  }

  static async open(entry: Record<string, unknown> = {}): Promise<NpxGateway> {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "quartermaster_npx_" }));
    const opened = new NpxGateway(folder);
    opened.publish("1.0.0");
    const notes = { command: "npx", args: ["-y", NOTES], env: opened.env, ...entry };
    const servers = entry.command === null ? {} : { notes };
    await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers: servers }));
    await Deno.mkdir(opened.dataDir);
    await opened.start();
    return opened;
  }

  get url(): string {
    return this.#gateway!.url;
  }

  get dataDir(): string {
    return join(this.folder, "data");
  }

  async start(...flags: string[]): Promise<void> {
    await this.#gateway?.[Symbol.asyncDispose]();
    this.#gateway = await startGateway(flags, { cwd: this.folder, dataDir: this.dataDir });
  }

  /** Publishes the server as `latest`; its tool says in its description which release it is. */
  publish(version: string, description = `Notes of ${version}`, more = ""): void {
    const files = { "index.js": serverProgram([{ name: "note", description }]) + more };
    this.registry.publish({ name: NOTES, version, bin: "index.js", files });
  }

  async api<T>(operation: string, input: object = {}): Promise<T> {
    const response = await fetch(`${this.url}/api/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(input),
    });
    return await response.json();
  }

  /** The reason that the server is in this state for. */
  reach(state: string, name = "notes"): Promise<string> {
    return until(async () => {
      const { servers } = await this.api<
        { servers: { name: string; state: string; reason: string }[] }
      >(
        "server.list",
      );
      const found = servers.find((server) => server.name === name);
      return found?.state === state ? found.reason : undefined;
    });
  }

  async restart(): Promise<void> {
    await this.api("server.restart", { name: "notes" });
  }

  /** What a client is told that the server's tool is, and what that answers. */
  async seen(name = "notes"): Promise<{ description: string; answer: string }> {
    const client = await EndpointClient.open(`${this.url}/servers/${name}/mcp?names=original`);
    const { result } = await client.request("tools/list", {});
    const description = String(result?.tools?.[0]?.description);
    return { description, answer: await client.must("note") };
  }

  async cli(...args: string[]): Promise<{ code: number; text: string }> {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...cliCommand(), ...args],
      cwd: this.folder,
      env: { QUARTERMASTER_DATA_DIR: this.dataDir, NO_COLOR: "1", XDG_CONFIG_HOME: this.dataDir },
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
  }

  async audited(): Promise<string[]> {
    const { entries } = await (await fetch(`${this.url}/api/audit?limit=100`)).json();
    return entries.map(({ action }: { action: string }) => action).reverse();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway?.[Symbol.asyncDispose]();
    await this.registry[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }
}
