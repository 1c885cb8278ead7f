import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { findMarked } from "../lib/servers/processes/process_group.ts";
import { fixtureCommand } from "./fixtures/start_fixture.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

const Status = z.looseObject({
  name: z.string(),
  state: z.string(),
  reason: z.string(),
  lastError: z.string().optional(),
  since: z.number(),
  toolCount: z.number(),
});
export type Status = z.infer<typeof Status>;

export const Answer = z.looseObject({
  result: z.looseObject({
    isError: z.boolean().optional(),
    content: z.array(z.looseObject({ text: z.string().optional() })).optional(),
    structuredContent: z.looseObject({ errorType: z.string().optional() }).optional(),
    tools: z.array(z.looseObject({ name: z.string() })).optional(),
  }).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});
export type Answer = z.infer<typeof Answer>;

/** Servers as a config file names them. */
export type Entries = Record<string, Record<string, unknown>>;

/** A gateway with its config file; all programs behind it carry a marker by which they are found. */
export class FaultyGateway implements AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly folder: string;
  readonly marker: string;
  readonly #ownsFolder: boolean;

  private constructor(
    gateway: RunningGateway,
    folder: string,
    marker: string,
    ownsFolder: boolean,
  ) {
    this.gateway = gateway;
    this.folder = folder;
    this.marker = marker;
    this.#ownsFolder = ownsFolder;
  }

  static async start(
    servers: Entries,
    { flags = [], folder, dataDir, env = {} }: {
      flags?: string[];
      folder?: string;
      dataDir?: string;
      env?: Record<string, string>;
    } = {},
  ): Promise<FaultyGateway> {
    const marker = `FAULTS_MARKER=${crypto.randomUUID()}`;
    const cwd = folder ?? await Deno.makeTempDir({ prefix: "quartermaster_faults_" });
    await writeConfig(cwd, servers, marker);
    const gateway = await startGateway(flags, { cwd, env, ...(dataDir ? { dataDir } : {}) });
    return new FaultyGateway(gateway, cwd, marker, folder === undefined);
  }

  get url(): string {
    return this.gateway.url;
  }

  configure(servers: Entries): Promise<void> {
    return writeConfig(this.folder, servers, this.marker);
  }

  async writeRaw(text: string): Promise<void> {
    await Deno.writeTextFile(join(this.folder, ".mcp.json"), text);
  }

  open(server: string, capabilities?: Record<string, unknown>): Promise<EndpointClient> {
    return EndpointClient.open(`${this.url}/servers/${server}/mcp?names=original`, capabilities);
  }

  async statuses(): Promise<Map<string, Status>> {
    const client = await EndpointClient.open(`${this.url}/gateway/mcp`);
    const { result } = await client.call("list_servers");
    const { servers } = z.looseObject({ servers: z.array(Status) })
      .parse(result?.structuredContent);
    return new Map(servers.map((status) => [status.name, status]));
  }

  /** Waits until a server is in one of these states. */
  reaches(server: string, ...states: string[]): Promise<Status> {
    return until(async () => {
      const status = (await this.statuses()).get(server);
      return status && states.includes(status.state) ? status : undefined;
    });
  }

  processes(): Promise<number[]> {
    return findMarked(this.marker);
  }

  /** Stops it, and makes sure that no program outlives it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]();
    if (this.#ownsFolder) await Deno.remove(this.folder, { recursive: true });
    assert.deepEqual(await this.processes(), [], "Processes were left behind");
  }
}

/** An entry for the chaos server over stdio. */
export function chaos(flags: string[] = [], more: Record<string, unknown> = {}) {
  return { ...fixtureCommand("chaos_server", flags), ...more };
}

async function writeConfig(folder: string, servers: Entries, marker: string): Promise<void> {
  const [name = "", value = ""] = marker.split("=");
  const marked = Object.entries(servers).map(([key, entry]) => [
    key,
    "command" in entry ? { ...entry, env: { [name]: value } } : entry,
  ]);
  const text = JSON.stringify({ mcpServers: Object.fromEntries(marked) });
  await Deno.writeTextFile(join(folder, ".mcp.json"), text);
}

/** A client by hand: nothing in it retries, so that every failure is seen. */
export class EndpointClient {
  readonly #url: string;
  readonly #headers = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  });
  #id = 0;

  private constructor(url: string) {
    this.#url = url;
  }

  static async open(
    url: string,
    capabilities: Record<string, unknown> = {},
  ): Promise<EndpointClient> {
    const client = new EndpointClient(url);
    const { error } = await client.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities,
      clientInfo: { name: "faults", version: "1" },
    });
    if (error) throw new Error(error.message);
    return client;
  }

  async request(method: string, params: object, signal?: AbortSignal): Promise<Answer> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify({ jsonrpc: "2.0", id: ++this.#id, method, params }),
      ...(signal ? { signal } : {}),
    });
    const session = response.headers.get("mcp-session-id");
    if (session !== null) this.#headers.set("mcp-session-id", session);
    const text = await response.text();
    const isStream = response.headers.get("content-type")?.includes("event-stream");
    const lines = isStream ? text.split("\n").filter((line) => line.startsWith("data: {")) : [text];
    return Answer.parse(JSON.parse(lines.at(-1)?.replace(/^data: /, "") ?? "null"));
  }

  call(
    name: string,
    args: Record<string, unknown> = {},
    more: Record<string, unknown> = {},
  ): Promise<Answer> {
    return this.request("tools/call", { name, arguments: args, ...more });
  }

  /** Calls and wants it to go well; gives the text of the result. */
  async must(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const answer = await this.call(name, args);
    assert.ok(answer.result && !answer.result.isError, JSON.stringify(answer).slice(0, 500));
    return answer.result.content?.[0]?.text ?? "";
  }

  async toolNames(): Promise<string[]> {
    const { result } = await this.request("tools/list", {});
    return result?.tools?.map(({ name }) => name) ?? [];
  }
}

/** The code of a failed call, which must come with steps to recover. */
export function errorType(answer: Answer): string | undefined {
  assert.equal(answer.result?.isError, true, JSON.stringify(answer).slice(0, 500));
  assert.match(answer.result.content?.[0]?.text ?? "", /What to do:\n1\. /);
  return answer.result.structuredContent?.errorType;
}

/** Resident memory of a process, in MB. */
export async function memoryOf(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "rss=", "-p", String(pid)] })
    .output();
  return Number(new TextDecoder().decode(stdout)) / 1024;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
