import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { AesBox } from "../../lib/storage/sealing.ts";
import { SecretsRepository } from "../../lib/storage/secrets_repository.ts";
import { Store } from "../../lib/storage/store.ts";
import { type RunningGateway, startGateway } from "../gateway.ts";
import { Canaries, serveLeaky } from "./canaries.ts";

const FIXTURE = fromFileUrl(new URL("../fixtures/leaky_server.ts", import.meta.url));

/** Nothing listens there. */
const CLOSED = "http://127.0.0.1:1";

/** A gateway with servers that tell all they know, and secrets in every place an entry has. */
export class CanarySetting implements AsyncDisposable {
  readonly canaries = new Canaries();
  readonly #stack = new AsyncDisposableStack();
  #folder = "";
  #remote: ReturnType<typeof serveLeaky> | undefined;
  #gateway: RunningGateway | undefined;

  static async start(): Promise<CanarySetting> {
    const setting = new CanarySetting();
    const stack = setting.#stack;
    try {
      const folder = setting.#folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
      stack.defer(() => Deno.remove(folder, { recursive: true }));
      setting.#remote = stack.use(serveLeaky());
      for (const name of ["project", "data"]) await Deno.mkdir(join(folder, name));
      await setting.#configure();
      const { canaries } = setting;
      const key = crypto.getRandomValues(new Uint8Array(32));
      await setting.#setEarlier(key);
      setting.#gateway = stack.use(
        await startGateway(["--log-level", "debug", "--allow-private"], {
          dataDir: join(folder, "data"),
          cwd: join(folder, "project"),
          env: {
            FROM_VARIABLE: canaries.make("config env ${VAR}"),
            FOR_ARGUMENT: canaries.make("config args ${VAR}"),
            FOR_HEADER: canaries.make("config header ${VAR}"),
            FOR_ADDRESS: canaries.make("config url ${VAR}"),
            QUARTERMASTER_SECRET_KEY: canaries.add("the key itself", key.toHex()),
            QUARTERMASTER_ADMIN_TOKEN: canaries.make("the admin token"),
            QUARTERMASTER_EMBEDDINGS_KEY: canaries.make("the key for embeddings"),
          },
        }),
      );
      return setting;
    } catch (error) {
      await stack.disposeAsync();
      throw error;
    }
  }

  get url(): string {
    return this.#gateway?.url ?? "";
  }

  get remote(): string {
    return this.#remote?.url ?? "";
  }

  get dataDir(): string {
    return join(this.#folder, "data");
  }

  seen(): string {
    return this.#remote?.seen() ?? "";
  }

  log(): string {
    return this.#gateway?.log() ?? "";
  }

  async stop(): Promise<void> {
    await this.#gateway?.stop();
  }

  program(env: Record<string, string>, args: string[] = []) {
    const run = ["run", "-A", "-q", "--no-lock", FIXTURE];
    return { command: Deno.execPath(), args: [...run, ...args], env };
  }

  async #configure(): Promise<void> {
    const { canaries, remote } = this;
    const project = join(this.#folder, "project");
    await Deno.writeTextFile(join(project, ".env"), `LEAK_FILE=${canaries.make("env file")}\n`);
    const servers = {
      local: {
        ...this.program({
          LEAK_PLAIN: canaries.make("config env"),
          LEAK_VARIABLE: "${FROM_VARIABLE}",
          LEAK_DEFAULT: `\${NOT_SET:-${canaries.make("config env default")}}`,
          LEAK_SECRET: "${secret:IN_ENV}",
        }, [
          `--api-key=${canaries.make("config args")}`,
          "--token",
          "${FOR_ARGUMENT}",
          "--password=${secret:IN_ARGS}",
        ]),
        envFile: ".env",
      },
      web: {
        url: `${remote}/mcp?api_key=${canaries.make("config url")}&token=` +
          "${FOR_ADDRESS}&key=${secret:IN_URL}",
        headers: {
          Authorization: `Bearer ${canaries.make("config header")}`,
          "X-Team": canaries.make("config plain header"),
          "X-Variable": "${FOR_HEADER}",
          "X-Secret": "Bearer ${secret:IN_HEADER}",
        },
      },
      absent: {
        command: "no-such-program-here",
        args: [`--token=${canaries.make("args of what cannot start")}`],
        env: { LEAK: canaries.make("env of what cannot start") },
      },
      unreachable: {
        url: `${CLOSED}/mcp?token=${canaries.make("url of what cannot be reached")}`,
        headers: { "X-Key": canaries.make("header of what cannot be reached") },
      },
      wants_login: {
        url: `${remote}/login`,
        headers: { "X-Key": canaries.make("header that a 401 repeats") },
      },
      broken: {
        url: `${remote}/broken`,
        headers: { "X-Key": canaries.make("header that a 500 repeats") },
      },
      page: {
        url: `${remote}/page`,
        headers: { "X-Key": canaries.make("header that a page repeats") },
      },
    };
    const text = JSON.stringify({ mcpServers: servers });
    await Deno.writeTextFile(join(project, ".mcp.json"), text);
  }

  /** Secrets that the gateway finds in its store, and has never been told. */
  async #setEarlier(key: Uint8Array<ArrayBuffer>): Promise<void> {
    await using store = await Store.open({ location: join(this.dataDir, "quartermaster.kv") });
    const secrets = new SecretsRepository(store, () => AesBox.of(key));
    for (const name of ["IN_ENV", "IN_HEADER"]) {
      await secrets.set(name, this.canaries.make(`secret ${name}`));
    }
  }

  async send(method: string, path: string, body: unknown): Promise<string> {
    const response = await fetch(this.url + path, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return `${response.status} ${text}`;
  }

  async submit(path: string, fields: Record<string, string>): Promise<string> {
    const response = await fetch(this.url + path, {
      method: "POST",
      headers: { origin: this.url },
      body: new URLSearchParams(fields),
      redirect: "manual",
    });
    const text = await response.text();
    return `${response.status} ${text}`;
  }

  /** What must not be anywhere is nowhere in this text. */
  check(place: string, text: string): void {
    assert.deepEqual(this.canaries.in(text), [], `${place}: ${excerpt(text, this.canaries)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** The text around the first secret in it. */
function excerpt(text: string, canaries: Canaries): string {
  const at = Math.min(
    ...canaries.in(text).map((place) => text.indexOf(canaries.textOf(place))).filter((at) =>
      at >= 0
    ),
  );
  return Number.isFinite(at) ? text.slice(Math.max(0, at - 200), at + 80) : "";
}
