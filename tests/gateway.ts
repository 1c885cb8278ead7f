import { PROCESS_ENV } from "../lib/config/folders.ts";
import { programCommand } from "../lib/config/platform.ts";

/** A gateway that is not gone by then is killed, and its status says so. */
const STOP_LIMIT_MS = 60_000;
/** A machine with much else to do is slow; a wait that is in vain takes all of this. */
const WAIT_LIMIT_MS = 120_000;

/** What `deno task start` runs in the end, as arguments of deno. */
export function startCommand(): string[] {
  return programCommand("serve").slice(1);
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
  /** The program that runs it; default: the one that runs the test. */
  deno?: string;
  /** Without the variables of the test. */
  clearEnv?: boolean;
  /** Another user to run it as. */
  uid?: number | undefined;
  /** As on a platform without disks: no data folder is named. */
  diskless?: boolean;
  /** How many files it may have open at once. */
  descriptors?: number;
}

/** Starts the built product as a user would, on a port of the system's choice. */
export async function startGateway(
  flags: string[] = [],
  options: StartOptions = {},
): Promise<RunningGateway> {
  const dataDir = options.dataDir ?? await Deno.makeTempDir({ prefix: "quartermaster_" });
  const command = options.command ?? startCommand();
  const args = [
    ...command,
    "--port",
    "0",
    ...options.diskless ? [] : ["--data-dir", dataDir],
    ...flags,
  ];
  const limited = `ulimit -n ${options.descriptors}; exec "$0" "$@"`;
  const deno = options.deno ?? Deno.execPath();
  const child = new Deno.Command(options.descriptors ? "sh" : deno, {
    args: options.descriptors ? ["-c", limited, deno, ...args] : args,
    cwd: options.cwd ?? dataDir,
    env: {
      ...PROCESS_ENV,
      QUARTERMASTER_LOG_FORMAT: "json",
      // Its model would be at work beside whatever is tested.
      QUARTERMASTER_EMBEDDINGS: "none",
      XDG_CONFIG_HOME: dataDir,
      ...options.env,
    },
    clearEnv: options.clearEnv ?? false,
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
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

/** Asks again and again until there is an answer. */
export async function until<T>(find: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const over = Date.now() + WAIT_LIMIT_MS; Date.now() < over;) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`It did not come about within ${WAIT_LIMIT_MS} ms`);
}

async function waitFor<T>(find: () => T | undefined, ended: Promise<unknown>): Promise<T> {
  let over = false;
  void ended.then(() => over = true);
  for (const limit = Date.now() + WAIT_LIMIT_MS; Date.now() < limit;) {
    const found = find();
    if (found !== undefined) return found;
    if (over) throw new Error("it ended");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no address after ${WAIT_LIMIT_MS} ms`);
}
