import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { AesBox } from "../../lib/storage/secret_box.ts";
import { SecretsRepository } from "../../lib/storage/secrets_repository.ts";
import { Store } from "../../lib/storage/store.ts";
import { DoorClient } from "../faults.ts";
import { type RunningGateway, startGateway, until } from "../gateway.ts";
import { bytesIn, Canaries, crawl, readApi, serveLeaky } from "./canaries.ts";

const FIXTURE = fromFileUrl(new URL("../fixtures/leaky_server.ts", import.meta.url));
const MOST_PAGES = 90;

/** Nothing listens there. */
const CLOSED = "http://127.0.0.1:1";

class Setting implements AsyncDisposable {
  readonly canaries = new Canaries();
  readonly #stack = new AsyncDisposableStack();
  #folder = "";
  #remote: ReturnType<typeof serveLeaky> | undefined;
  #gateway: RunningGateway | undefined;

  static async start(): Promise<Setting> {
    const setting = new Setting();
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

async function reaches(setting: Setting, name: string, state: string): Promise<void> {
  await until(async () => {
    const text = await (await fetch(`${setting.url}/api/servers/${name}`)).text();
    return text.includes(`"state":"${state}"`) ? true : undefined;
  });
}

Deno.test("30 secrets go to the servers they are for, and to no log, store, export, page or error", async (test) => {
  await using setting = await Setting.start();
  const { canaries } = setting;

  await test.step("secrets that are set reach the servers that refer to them", async () => {
    const missing = await until(async () => {
      const text = await (await fetch(`${setting.url}/api/servers/local`)).text();
      return text.includes("is not set") ? text : undefined;
    });
    assert.match(missing, /the secret IN_ARGS is not set.*secrets set IN_ARGS/);
    const value = canaries.make("secret IN_ARGS");
    const answer = await setting.send("PUT", "/api/secrets/IN_ARGS", { value });
    assert.match(answer, /^200 /);
    setting.check("PUT /api/secrets", answer);
    const form = { change: "set", name: "IN_URL", value: canaries.make("secret IN_URL") };
    assert.match(await setting.submit("/security/secrets", form), /^303 /);
    await reaches(setting, "local", "ready");
    await reaches(setting, "web", "ready");
  });

  await test.step("entries that are added while it runs", async () => {
    const added = [
      ["POST", "api_web", {
        url: `${setting.remote}/mcp?token=${canaries.make("api url")}`,
        headers: { "X-Any": canaries.make("api header") },
      }],
      ["POST", "api_local", {
        ...setting.program({ LEAK_A: canaries.make("api env") }, [
          `--secret=${canaries.make("api args")}`,
        ]),
      }],
    ] as const;
    for (const [method, name, entry] of added) {
      assert.match(await setting.send(method, "/api/servers", { name, ...entry }), /^201 /);
    }
    const gateway = await DoorClient.open(`${setting.url}/gateway/mcp`);
    const byTool = await gateway.call("add_server", {
      name: "mcp_web",
      url: `${setting.remote}/mcp`,
      headers: { "X-Any": canaries.make("mcp header") },
    });
    assert.notEqual(byTool.result?.isError, true, JSON.stringify(byTool));
    const byForm = await setting.submit("/servers/~new", {
      entry: `${setting.remote}/mcp`,
      name: "form_web",
      settings: `X-Any: ${canaries.make("form header")}`,
    });
    assert.match(byForm, /^303 /);

    const refused = {
      name: "refused",
      url: `${setting.remote}/broken?token=${canaries.make("url of a refused entry")}`,
      headers: { "X-Any": canaries.make("header of a refused entry") },
    };
    const api = await setting.send("POST", "/api/servers", refused);
    assert.match(api, /^502 .*HTTP 500/s);
    setting.check("a refused entry, by API", api);
    const mcp = JSON.stringify(await gateway.call("add_server", refused));
    assert.match(mcp, /HTTP 500/);
    setting.check("a refused entry, by MCP", mcp);
  });
  assert.ok(canaries.size >= 30, String(canaries.size));

  const servers = ["local", "web", "api_web", "api_local", "mcp_web", "form_web"];
  const known = canaries.places.filter((place) =>
    /^(config|secret|env file|api|mcp|form)\b/.test(place)
  );

  await test.step("servers tell what they know in every way", async () => {
    let told = "";
    for (const server of servers) {
      const client = await DoorClient.open(`${setting.url}/servers/${server}/mcp?names=original`);
      for (const tool of ["tell", "fail", "refuse", "write"]) {
        told += JSON.stringify(await client.call(tool));
      }
      // What a caller sends is its own; what the gateway knows as a secret is kept nowhere else.
      for (const place of known.slice(0, 8)) {
        await client.call("echo", { text: canaries.textOf(place) });
      }
      await client.call("echo", { password: canaries.textOf("the admin token") });
    }
    // Else nothing that is looked for below could be anywhere.
    const missed = known.filter((place) => !canaries.in(told + setting.seen()).includes(place));
    assert.deepEqual(missed, []);
    for (const server of ["local", "api_local"]) {
      const client = await DoorClient.open(`${setting.url}/servers/${server}/mcp?names=original`);
      setting.check(`the end of ${server}`, JSON.stringify(await client.call("crash")));
    }
  });

  await test.step("what callers are told of servers", async () => {
    const gateway = await DoorClient.open(`${setting.url}/gateway/mcp`);
    const all = [...servers, "absent", "unreachable", "wants_login", "broken", "page"];
    const calls: [string, object][] = [
      ["list_servers", {}],
      ...all.map((name): [string, object] => ["get_server_logs", { name, lines: 1_000 }]),
      ...all.map((server): [string, object] => ["get_enabled_tools", { server }]),
      ...["absent", "broken", "wants_login"].map((name): [string, object] => [
        "restart_server",
        { name },
      ]),
    ];
    for (const [name, args] of calls) {
      const answer = await gateway.request("tools/call", { name, arguments: args });
      setting.check(`${name} ${JSON.stringify(args)}`, JSON.stringify(answer));
    }
    const combined = await DoorClient.open(`${setting.url}/mcp?expose=all`);
    setting.check("tools/list", JSON.stringify(await combined.request("tools/list", {})));
    for (const name of ["unreachable", "broken", "absent"]) {
      const error = await DoorClient.open(`${setting.url}/servers/${name}/mcp`).then(
        (client) => client.call("tell").then((answer) => JSON.stringify(answer)),
        (error) => String(error),
      );
      setting.check(`a call of ${name}`, error);
    }
  });

  await test.step("pages", async () => {
    let pages = 0;
    for await (const [path, html] of crawl(setting.url, MOST_PAGES)) {
      setting.check(path, html);
      pages++;
    }
    assert.ok(pages > 40, String(pages));
  });

  await test.step("the API, metrics and readiness", async () => {
    let answers = 0;
    for await (const [path, text] of readApi(setting.url, [...servers, "absent", "broken"])) {
      setting.check(path, text);
      answers++;
    }
    assert.ok(answers > 60, String(answers));
    for (const path of ["/metrics", "/readyz", "/healthz"]) {
      setting.check(path, await (await fetch(setting.url + path)).text());
    }
  });

  await test.step("the live channel", async () => {
    const response = await fetch(`${setting.url}/api/events?since=x`);
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    setting.check("/api/events", new TextDecoder().decode(value));
  });

  await test.step("a backup", async () => {
    const backup = await setting.submit("/settings/backup", {});
    assert.match(backup, /"quartermaster-backup"/);
    assert.match(backup, /"servers","api_web"/);
    assert.match(backup, /"secrets","IN_ENV"/);
    setting.check("a backup", backup);
  });

  await test.step("logs, and every byte of the data folder, running and stopped", async () => {
    assert.match(setting.log(), /"msg":"stderr"/);
    setting.check("the log on stderr", setting.log());
    const look = async () => {
      const files: string[] = [];
      for await (const [path, text] of bytesIn(setting.dataDir, new Set())) {
        setting.check(path, text);
        files.push(path);
      }
      return files;
    };
    const files = await look();
    assert.ok(files.some((file) => file.endsWith(".kv-wal")), files.join());
    assert.ok(files.some((file) => file.startsWith("logs")), files.join());
    await setting.stop();
    assert.ok((await look()).some((file) => file.endsWith(".kv")));
  });
});
