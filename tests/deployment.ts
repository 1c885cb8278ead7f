import { join } from "@std/path";
import { LeasesRepository, ProcessesRepository } from "../lib/storage/leases_repository.ts";
import { Store } from "../lib/storage/store.ts";
import { startKvConnect } from "../lib/storage/testing/kv_connect.ts";
import { type Copy, sh, withCopy } from "./checkout_copy.ts";
import { IS_FULL } from "./full.ts";
import { until } from "./gateway.ts";

export const FIRST_TOKEN = "the-first-token-of-this-app";
const NOBODY = 65_534;
/** As on the platform, where nothing else needs the machine at the same time. */
const KILLED_MS = IS_FULL ? 5_000 : 60_000;

export interface Isolate extends AsyncDisposable {
  url: string;
  log(): string;
  /** A signal, then the end of it as the platform makes it. */
  stop(): Promise<Deno.CommandStatus>;
}

export interface IsolateOptions {
  /** What runs: main.ts, or the build of the console under `deno serve`. */
  entry: "main.ts" | "_fresh/server.js";
  timeline?: string;
  deno?: string;
  env?: Record<string, string>;
}

/** What fetching from npm takes on this machine. */
function networkEnv(): Record<string, string> {
  const names = /^(DENO_TLS_CA_STORE|NPM_CONFIG_REGISTRY|SSL_CERT_(FILE|DIR)|(HTTPS?|NO)_PROXY)$/i;
  return Object.fromEntries(
    Object.entries(Deno.env.toObject()).filter(([name]) => names.test(name)),
  );
}

/**
 * The app as Deno Deploy runs it, as far as its documentation says: a folder that cannot be changed, no
 * home, no variables but its own and the platform's, a KV database for all isolates of a timeline, and
 * all permissions of Deno.
 */
export class Deployment {
  readonly #copy: Copy;
  readonly #deno: string;
  readonly #uid: number | undefined;
  readonly #kvUrl: string;

  private constructor(copy: Copy, deno: string, kvUrl: string) {
    this.#copy = copy;
    this.#deno = deno;
    this.#kvUrl = kvUrl;
    // The modes of files do not bind root.
    this.#uid = Deno.uid() === 0 ? NOBODY : undefined;
  }

  /** Has the files in the app's folder, and the packages where Deno finds them without a network. */
  static async run(
    { files = {}, packages = [] }: { files?: Record<string, string>; packages?: string[] },
    use: (deployment: Deployment, copy: Copy) => Promise<void>,
  ): Promise<void> {
    await using kv = startKvConnect();
    await withCopy(async (copy) => {
      const { root, folder } = copy;
      for (const [name, text] of Object.entries(files)) {
        await Deno.writeTextFile(join(root, name), text);
      }
      await sh("chmod", ["-R", "a-w,a+rX", root]);
      // Nobody else may get at the one that runs the test, if it is in somebody's home.
      const deno = join(folder, "deno");
      await Deno.copyFile(Deno.execPath(), deno);
      await Deno.chmod(deno, 0o755);
      await Deno.mkdir(denoDirIn(folder), { recursive: true });
      await Deno.chmod(tempIn(folder), 0o777);
      if (packages.length > 0) {
        const specifiers = packages.map((name) => `npm:${name}`);
        await sh(deno, ["cache", "-q", "--no-config", "--no-lock", ...specifiers]);
        const { npmCache } = JSON.parse(await sh(deno, ["info", "--json", "--no-config"]));
        const link = 'cp -al "$0" "$1" || cp -r "$0" "$1"';
        await sh("sh", ["-c", link, npmCache, join(denoDirIn(folder), "npm")]);
      }
      await use(new Deployment(copy, deno, kv.url), copy);
    });
  }

  /** How many processes say that they are alive, and how many programs are said to run. */
  async accounts(): Promise<{ leases: number; programs: number }> {
    await using store = await this.#open();
    const leases = await Array.fromAsync(store.list({ prefix: ["leases"] }));
    const programs = await new ProcessesRepository(store).values();
    return { leases: leases.length, programs: programs.length };
  }

  /** Leaves what an isolate does that was killed a minute ago. */
  async leaveBehind(): Promise<void> {
    await using store = await this.#open();
    const now = () => Date.now() - 60_000;
    const lease = { id: "killed", pid: 1, host: "gone", startedAt: now() };
    await new LeasesRepository(store, { now }).acquire(lease);
    const program = {
      id: "program",
      leaseId: lease.id,
      host: lease.host,
      marker: "A=b",
      command: "deno",
    };
    await new ProcessesRepository(store).replace(program);
  }

  #open(): Promise<Store> {
    Deno.env.set("DENO_KV_ACCESS_TOKEN", "token");
    return Store.open({ location: this.#kvUrl });
  }

  async start(
    { entry, timeline = "production", deno = this.#deno, env }: IsolateOptions,
  ): Promise<Isolate> {
    const { root, folder } = this.#copy;
    const { port } = freePort();
    const args = entry === "main.ts"
      ? ["run", "-A", "--no-prompt", entry]
      : ["serve", "-A", "--no-prompt", "--host", "127.0.0.1", "--port", `${port}`, entry];
    const child = new Deno.Command(deno, {
      args,
      cwd: root,
      clearEnv: true,
      env: {
        DENO_DEPLOY: "true",
        DENO_DEPLOYMENT_ID: "k3x9",
        DENO_DEPLOY_APPLICATION_SLUG: "tools",
        DENO_DEPLOY_ORGANIZATION_SLUG: "acme",
        DENO_TIMELINE: timeline,
        DENO_DIR: denoDirIn(folder),
        // The app's own database: Deno.openKv() without a path.
        DENO_KV_DEFAULT_PATH: this.#kvUrl,
        DENO_KV_ACCESS_TOKEN: "token",
        TMPDIR: tempIn(folder),
        QUARTERMASTER_PORT: `${port}`,
        QUARTERMASTER_ADMIN_TOKEN: FIRST_TOKEN,
        QUARTERMASTER_EMBEDDINGS: "none",
        ...networkEnv(),
        ...env,
      },
      ...(this.#uid === undefined ? {} : { uid: this.#uid, gid: this.#uid }),
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    let text = "";
    const reading = (async () => {
      for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) text += chunk;
    })();
    let isOver = false;
    const ended = child.status.then(async (status) => {
      isOver = true;
      await reading;
      return status;
    });
    const url = `http://127.0.0.1:${port}`;
    const stop = async () => {
      if (!isOver) child.kill("SIGINT");
      const limit = setTimeout(() => child.kill("SIGKILL"), KILLED_MS);
      const status = await ended;
      clearTimeout(limit);
      return status;
    };
    await until(async () => {
      if (isOver) throw new Error(`It did not start:\n${text}`);
      const answer = await fetch(`${url}/readyz`).catch(() => undefined);
      await answer?.body?.cancel();
      return answer?.status === 200 || undefined;
    }).catch(async (error) => {
      await stop();
      throw error;
    });
    return { url, log: () => text, stop, [Symbol.asyncDispose]: async () => void await stop() };
  }
}

/** Where the app's packages are, and those of npm servers as if they had just been fetched. */
function denoDirIn(folder: string): string {
  return join(tempIn(folder), ".cache/quartermaster/isolated/deno");
}

function tempIn(folder: string): string {
  return join(folder, "temp");
}

function freePort(): Deno.NetAddr {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr;
}
