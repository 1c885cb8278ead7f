/**
 * The source files that one warm `tools/call` at `/servers/NAME/mcp` runs through, from the read of
 * the request until its response is written. The sources run unbundled in this process, so that V8
 * can tell the files apart.
 */
import { Session } from "node:inspector";
import { join } from "@std/path";
import { GatewayHost } from "../lib/cli/gateway_host.ts";
import { runGateway } from "../lib/cli/serve.ts";
import { until } from "../tests/gateway.ts";
import { BenchClient } from "./mcp_client.ts";
import { startServer } from "./processes.ts";
import { printTable } from "./report.ts";
import { serverProgram } from "./server_program.ts";

const ROOT = new URL("..", import.meta.url).href;
const WARM_CALLS = 50;
/** A file counts if every one of these calls ran through it: timers run now and then beside them. */
const MEASURED_CALLS = 10;

/** The last benchmark: the gateway's process ends with it. */
export async function benchCallPath(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_bench_" });
  const { command, args } = await serverProgram("deno", folder);
  const server = await startServer({ command, args: [...args, "--http", "--tools=20"] });
  const mcpServers = {
    http: { type: "http", url: server.url },
    stdio: { command, args: [...args, "--stdio", "--tools=20"] },
  };
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
  Deno.chdir(folder);
  const flags = ["--port", "0", "--data-dir", folder, "--log-level", "warn"];
  Deno.env.set("QUARTERMASTER_EMBEDDINGS", "none");
  Deno.env.set("XDG_CONFIG_HOME", folder);
  const host = new GatewayHost(() => Promise.resolve(() => undefined), flags);
  const coverage = new Coverage();
  void runGateway(host, () => Promise.reject(new Error("This benchmark has no console")));
  const gateway = await host.get();
  await until(() => gateway.readiness().servers.ready === 2 || undefined);
  for (const name of Object.keys(mcpServers)) {
    const url = `${gateway.localAddress}/servers/${name}/mcp?names=original`;
    const client = await new BenchClient(url).connect();
    const files = await coverage.filesOf(() =>
      client.request("tools/call", { name: "list_issues", arguments: { query: "bugs", limit: 5 } })
    );
    printTable(`call path to a server over ${name}`, [
      ...files.map(({ path, functions }) => [path, functions.join(" ")]),
      [`${files.length} files`, ""],
    ]);
  }
  await server[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
  Deno.exit(0);
}

interface RunFile {
  path: string;
  functions: string[];
}

interface ScriptCoverage {
  url: string;
  functions: { functionName: string; ranges: { count: number }[] }[];
}

class Coverage {
  readonly #session = new Session();
  #take: ((files: Promise<RunFile[]>) => void) | undefined;

  /** Before the gateway listens. */
  constructor() {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    const listen = Deno.listen;
    Deno.listen = ((options: Deno.TcpListenOptions) => {
      const listener = listen(options);
      const accept = listener.accept.bind(listener);
      listener.accept = async () => {
        const conn = await accept();
        const write = conn.write.bind(conn);
        conn.write = (bytes) => {
          this.#take?.(this.#taken());
          return write(bytes);
        };
        return conn;
      };
      return listener;
    }) as typeof Deno.listen;
  }

  async filesOf(call: () => Promise<unknown>): Promise<RunFile[]> {
    for (let nth = 0; nth < WARM_CALLS; nth++) await call();
    let common: RunFile[] | undefined;
    for (let nth = 0; nth < MEASURED_CALLS; nth++) {
      const { promise, resolve } = Promise.withResolvers<RunFile[]>();
      // The rest of the call before: records are made after the response.
      await new Promise((done) => setTimeout(done, 100));
      await this.#taken();
      this.#take = resolve;
      await call();
      this.#take = undefined;
      const files = await promise;
      const paths = new Set(files.map(({ path }) => path));
      common = (common ?? files).filter(({ path }) => paths.has(path));
    }
    return common!.sort((one, other) => one.path < other.path ? -1 : 1);
  }

  /** What ran since the last time. */
  #taken(): Promise<RunFile[]> {
    const { promise, resolve, reject } = Promise.withResolvers<RunFile[]>();
    this.#session.post("Profiler.takePreciseCoverage", (error, taken) => {
      if (error) return reject(error);
      const { result } = taken as { result: ScriptCoverage[] };
      resolve(
        result.filter(({ url }) => url.startsWith(ROOT)).map(({ url, functions }) => ({
          path: decodeURI(url.slice(ROOT.length)),
          functions: functions.filter(({ ranges }) => ranges[0]!.count > 0)
            .map(({ functionName }) => functionName || "(anonymous)"),
        })).filter(({ path, functions }) => functions.length > 0 && !path.startsWith("bench/")),
      );
    });
    return promise;
  }
}
