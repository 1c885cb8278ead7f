import { fromFileUrl, join } from "@std/path";

const root = fromFileUrl(new URL("..", import.meta.url));

/** A gateway that is not gone by then is killed, and its status says so. */
const STOP_LIMIT_MS = 10_000;

/** What `deno task start` runs, as arguments of deno. */
export function startCommand(): string[] {
  const manifest = JSON.parse(Deno.readTextFileSync(join(root, "deno.json")));
  const words: string[] = manifest.tasks.start.command.split(" ").slice(1);
  return words.map((word) => word === "main.ts" ? join(root, word) : word);
}

export interface RunningGateway extends AsyncDisposable {
  url: string;
  pid: number;
  dataDir: string;
  /** Everything it has written to stderr so far. */
  log(): string;
  stop(signal?: Deno.Signal): Promise<Deno.CommandStatus>;
}

export interface StartOptions {
  /** Kept after the stop; else a new one is made and removed. */
  dataDir?: string;
  cwd?: string;
  env?: Record<string, string>;
  /** The whole command line after `deno`, for a start that is not the usual one. */
  command?: string[];
  /** As on a platform without disks: no data folder is named. */
  diskless?: boolean;
}

/** Starts the built product as a user would, on a port of the system's choice. */
export async function startGateway(
  flags: string[] = [],
  options: StartOptions = {},
): Promise<RunningGateway> {
  const dataDir = options.dataDir ?? await Deno.makeTempDir({ prefix: "quartermaster_" });
  const command = options.command ?? startCommand();
  const child = new Deno.Command(Deno.execPath(), {
    args: [...command, "--port", "0", ...options.diskless ? [] : ["--data-dir", dataDir], ...flags],
    cwd: options.cwd ?? dataDir,
    env: {
      QUARTERMASTER_LOG_FORMAT: "json",
      // Its model would be at work beside whatever is tested.
      QUARTERMASTER_EMBEDDINGS: "none",
      XDG_CONFIG_HOME: dataDir,
      ...options.env,
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let text = "";
  const reading = (async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) text += chunk;
  })();
  const stop = async (signal: Deno.Signal = "SIGTERM") => {
    try {
      child.kill(signal);
    } catch { /* it has ended by itself */ }
    const limit = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    const status = await child.status;
    clearTimeout(limit);
    await reading;
    return status;
  };
  const url = await waitFor(() => text.match(/"address":"(http:[^"]+)"/)?.[1], child.status)
    .catch(async (error) => {
      await stop("SIGKILL");
      throw new Error(`The gateway did not start: ${error.message}\n${text}`);
    });
  return {
    url,
    pid: child.pid,
    dataDir,
    log: () => text,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      if (!options.dataDir) await Deno.remove(dataDir, { recursive: true });
    },
  };
}

/** Asks again and again until there is an answer, for at most ten seconds. */
export async function until<T>(find: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 200; tries++) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("It did not come about within 10 s");
}

async function waitFor<T>(find: () => T | undefined, ended: Promise<unknown>): Promise<T> {
  let over = false;
  void ended.then(() => over = true);
  for (let tries = 0; tries < 600; tries++) {
    const found = find();
    if (found !== undefined) return found;
    if (over) throw new Error("it ended");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("no address after 30 s");
}
