import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import * as z from "zod";
import { tryBubblewrap } from "../../lib/servers/processes/isolation/sandbox.ts";
import { isInstalled } from "../installed.ts";
import { findMarked } from "../../lib/servers/processes/process_group.ts";
import { OTHER_DENO } from "../../lib/servers/processes/testing/other_deno.ts";
import { npmPackage } from "../packages.ts";
import { type RunningGateway, startGateway, until } from "../gateway.ts";
import { Visitor } from "./guarded.ts";

const HOSTILE = fromFileUrl(new URL("../fixtures/hostile_program.js", import.meta.url));
const START_TIMEOUT_MS = 300_000;

function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

const found = await tryBubblewrap(Deno.env.get("PATH") ?? "");
const problem = "problem" in found ? found.problem : undefined;
if (problem !== undefined) {
  say(`Sandboxes cannot be made here (${problem}): testing what takes their place`);
}
const isLinux = Deno.build.os === "linux";
// CI installs bubblewrap; only a machine that refuses namespaces may go without it.
const isMissing = problem !== undefined && /not installed/.test(problem);
const ignore = !isLinux || (isMissing && !Deno.env.get("CI"));
if (ignore) say("Not tested: isolation (needs Linux and bubblewrap)");

const hasUvx = await isInstalled("uvx", "--version");
if (!hasUvx) say("Not tested: servers from uvx in a sandbox, because uvx is not installed");

const Answer = z.object({
  result: z.looseObject({
    content: z.array(z.object({ type: z.string(), text: z.string() })),
    isError: z.boolean().optional(),
  }),
});
const Status = z.looseObject({ servers: z.array(z.looseObject({ name: z.string() })) });

function hostile(more: Record<string, unknown> = {}) {
  const args = ["run", "-A", "--quiet", "--no-config", "--no-lock", HOSTILE];
  return { command: OTHER_DENO, args, ...more };
}

function sandbox(more: Record<string, unknown> = {}) {
  return { isolation: { kind: "sandbox", read: [HOSTILE], ...more } };
}

/** A gateway of a user with secrets in the home folder, in front of these servers. */
class Household implements AsyncDisposable {
  readonly folder: string;
  readonly home: string;
  readonly dataDir: string;
  readonly marker = `CANARY=${crypto.randomUUID()}`;
  gateway!: RunningGateway;

  private constructor(folder: string) {
    this.folder = folder;
    this.home = join(folder, "home");
    this.dataDir = join(folder, "data");
  }

  static async open(
    entries: (house: Household) => Record<string, Record<string, unknown>>,
    flags: string[] = [],
  ): Promise<Household> {
    const house = new Household(await Deno.makeTempDir({ prefix: "quartermaster_" }));
    for (const path of ["home/.ssh", "home/notes", "data", "project"]) {
      await Deno.mkdir(join(house.folder, path), { recursive: true });
    }
    await Deno.writeTextFile(join(house.home, ".ssh", "id"), "the key of the house");
    const [name = "", value = ""] = house.marker.split("=");
    const marked = Object.entries(entries(house)).map(([server, entry]) => [server, {
      startTimeoutMs: START_TIMEOUT_MS,
      ...entry,
      env: { [name]: value, ...entry.env as object },
    }]);
    await Deno.writeTextFile(
      house.config,
      JSON.stringify({ mcpServers: Object.fromEntries(marked) }),
    );
    const info = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
    const { denoDir } = z.looseObject({ denoDir: z.string() })
      .parse(JSON.parse(new TextDecoder().decode(info.stdout)));
    house.gateway = await startGateway(flags, {
      cwd: join(house.folder, "project"),
      dataDir: house.dataDir,
      env: {
        HOME: house.home,
        DENO_DIR: denoDir,
        XDG_CACHE_HOME: join(house.folder, "cache"),
        // What uv has downloaded before.
        UV_CACHE_DIR: join(Deno.env.get("HOME") ?? house.folder, ".cache", "uv"),
      },
    });
    return house;
  }

  get config(): string {
    return join(this.folder, "project", ".mcp.json");
  }

  /** Waits for a server's state, and returns the reason for it. */
  async state(server: string, state: string): Promise<string> {
    return await until(async () => {
      const { servers } = Status.parse(
        await (await fetch(`${this.gateway.url}/api/servers`)).json(),
      );
      const one = servers.find(({ name }) => name === server);
      return one?.state === state ? String(one.reason) : undefined;
    });
  }

  async visit(server: string) {
    await this.state(server, "ready");
    const path = `/servers/${server}/mcp?names=original`;
    const visitor = await Visitor.open(this.gateway.url, path);
    /** What a tool got; undefined where it was refused. */
    return async (tool: string, args: object = {}): Promise<string | undefined> => {
      const { result } = Answer.parse(JSON.parse(await visitor.call(tool, args)));
      return result.isError ? undefined : result.content[0]!.text;
    };
  }

  processes(): Promise<number[]> {
    return findMarked(this.marker);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]();
    await until(async () => (await this.processes()).length === 0 || undefined);
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** Answers everything with one word. */
function listen() {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("here"),
  );
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

Deno.test({
  name: "a hostile program in a sandbox gets at nothing that one without isolation gets at",
  ignore: ignore || problem !== undefined,
  async fn() {
    await using listener = listen();
    await using house = await Household.open(() => ({
      victim: hostile({ env: { TOKEN: "the secret of the victim" } }),
      free: hostile(),
      jailed: hostile(sandbox()),
    }));
    const free = await house.visit("free");
    const jailed = await house.visit("jailed");
    await house.state("victim", "ready");
    const { port } = new URL(house.gateway.url);
    const attempts: [tool: string, args: object, got: RegExp][] = [
      ["read", { path: join(house.home, ".ssh", "id") }, /the key of the house/],
      ["read", { path: house.config }, /the secret of the victim/],
      ["read", { path: join(house.dataDir, "quartermaster.kv") }, /^SQLite/],
      ["write", { path: join(house.home, ".profile") }, /written/],
      ["environments", {}, /the secret of the victim/],
      ["read", { path: `/proc/${house.gateway.pid}/cmdline` }, /deno/],
      ["connect", { port: listener.port }, /connected/],
      ["connect", { port: Number(port) }, /connected/],
      ["fetch", { url: `http://127.0.0.1:${listener.port}/` }, /200 here/],
    ];
    // Root may write there even without capabilities; what it writes runs outside as root.
    if (Deno.uid() === 0) {
      attempts.push(["open", { path: "/proc/sys/kernel/core_pattern" }, /opened/]);
      attempts.push(["read", { path: "/etc/shadow" }, /^root:/]);
    }
    for (const [tool, args, got] of attempts) {
      const what = `${tool} ${JSON.stringify(args)}`;
      assert.match(await free(tool, args) ?? "", got, `without isolation: ${what}`);
      assert.doesNotMatch(await jailed(tool, args) ?? "", got, `in a sandbox: ${what}`);
    }
    // Pipes are those of the program itself, or come from whoever started the gateway.
    const open = (await jailed("descriptors") ?? "none").split("\n");
    assert.deepEqual(open.filter((target) => !/^(?:pipe:|\/dev\/|\/proc\/)/.test(target)), []);
    assert.match(await jailed("home") ?? "", /^\/run\/quartermaster\/home $/);
    const status = await jailed("status") ?? "";
    assert.match(status, /^CapEff:\s+0+$/m);
    assert.match(status, /^CapBnd:\s+0+$/m);
    assert.match(status, /^NoNewPrivs:\s+1$/m);
  },
});

for (const flags of [[], ["--harden"]]) {
  const how = flags.length === 0 ? "" : ", also of a gateway that was started with --harden";
  Deno.test({
    name: `a program in a sandbox has the folders and hosts of its entry, and no others${how}`,
    ignore: ignore || problem !== undefined,
    async fn() {
      await using listed = listen();
      await using other = listen();
      await using house = await Household.open(({ folder }) => ({
        jailed: hostile({
          cwd: join(folder, "home", "notes"),
          ...sandbox({
            // The folder around them has the gateway's files too.
            read: [HOSTILE, folder],
            write: [join(folder, "home", "notes")],
            net: [`localhost:${listed.port}`],
          }),
        }),
      }), flags);
      const jailed = await house.visit("jailed");
      const notes = join(house.home, "notes");
      assert.equal(await jailed("write", { path: join(notes, "a.txt") }), "written");
      assert.equal(await Deno.readTextFile(join(notes, "a.txt")), "planted");
      assert.equal(
        await jailed("read", { path: join(house.home, ".ssh", "id") }),
        "the key of the house",
      );
      assert.equal(await jailed("write", { path: join(house.home, "b.txt") }), undefined);
      assert.equal(await jailed("read", { path: house.config }), undefined);
      assert.equal(
        await jailed("read", { path: join(house.dataDir, "quartermaster.kv") }),
        undefined,
      );
      assert.match(await jailed("home") ?? "", new RegExp(`^${notes} $`));

      assert.equal(await jailed("fetch", { url: `http://localhost:${listed.port}/` }), "200 here");
      const refused = await jailed("fetch", { url: `http://localhost:${other.port}/` });
      assert.match(refused ?? "", /^403 Quartermaster: localhost:\d+ is not among the hosts/);
      assert.match(
        await jailed("fetch", { url: `http://127.0.0.1:${listed.port}/` }) ?? "",
        /^403 /,
      );
      assert.equal(await jailed("connect", { port: listed.port }), undefined);
    },
  });
}

Deno.test({
  name: "no process of a sandbox outlives its server, nor a killed gateway",
  ignore: ignore || problem !== undefined,
  async fn() {
    await using listed = listen();
    await using house = await Household.open(() => ({
      // With the forwarder in between, too.
      jailed: hostile(sandbox({ net: [`localhost:${listed.port}`] })),
    }));
    const jailed = await house.visit("jailed");
    assert.equal(await jailed("linger"), "left");
    const before = await house.processes();
    await fetch(`${house.gateway.url}/api/server.restart`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "jailed" }),
    }).then((response) => response.text());
    const again = await house.visit("jailed");
    const after = await house.processes();
    assert.deepEqual(before.filter((pid) => after.includes(pid)), []);
    assert.equal(await again("linger"), "left");
    assert.ok((await house.processes()).length > 0);
    await house.gateway.stop("SIGKILL");
    await until(async () => (await house.processes()).length === 0 || undefined);
  },
});

Deno.test({
  name: "the filesystem server from npx has what its isolation names, whatever its arguments are",
  ignore,
  async fn() {
    await using house = await Household.open(({ home }) => ({
      files: {
        command: "npx",
        args: ["-y", npmPackage("filesystem"), join(home, "notes"), home],
        isolation: { kind: "sandbox", write: [join(home, "notes")] },
      },
    }));
    const files = await house.visit("files");
    const note = join(house.home, "notes", "a.txt");
    assert.match(await files("write_file", { path: note, content: "Mine" }) ?? "", /Success/);
    assert.equal(await Deno.readTextFile(note), "Mine");
    assert.match(await files("read_text_file", { path: note }) ?? "", /Mine/);
    const key = join(house.home, ".ssh", "id");
    assert.equal(await files("read_text_file", { path: key }), undefined);
    const isSandboxed = !/instead of in a sandbox/.test(await logOf(house, "files"));
    assert.equal(isSandboxed, problem === undefined);
    say(`The filesystem server ran ${isSandboxed ? "in a sandbox" : "with permissions"}`);
  },
});

Deno.test({
  name: "the git server from uvx works on its repository in a sandbox",
  ignore: ignore || problem !== undefined || !hasUvx,
  async fn() {
    await using house = await Household.open(({ home }) => ({
      git: {
        command: "uvx",
        args: ["mcp-server-git==2026.10.19"],
        isolation: { kind: "sandbox", write: [join(home, "notes")] },
      },
    }));
    const repository = join(house.home, "notes");
    await new Deno.Command("git", { args: ["init", "-q", repository] }).output();
    await Deno.writeTextFile(join(repository, "a.txt"), "Mine");
    const git = await house.visit("git");
    assert.match(
      await git("git_add", { repo_path: repository, files: ["a.txt"] }) ?? "",
      /staged/,
    );
    assert.match(await git("git_status", { repo_path: repository }) ?? "", /new file: +a\.txt/);
  },
});

Deno.test({
  name: "the fetch server from uvx reaches the hosts of its isolation, and no others",
  ignore: ignore || problem !== undefined || !hasUvx,
  async fn() {
    await using listed = listen();
    await using other = listen();
    await using house = await Household.open(() => ({
      fetch: {
        command: "uvx",
        args: ["mcp-server-fetch==2026.10.24", "--allow-private-ips"],
        isolation: { kind: "sandbox", net: [`localhost:${listed.port}`] },
      },
    }));
    const get = await house.visit("fetch");
    const [here, there] = [listed, other].map(({ port }) => ({ url: `http://localhost:${port}/` }));
    assert.match(await get("fetch", here) ?? "", /\bhere\b/);
    assert.equal(await get("fetch", there), undefined);
  },
});

Deno.test({
  name: "without namespaces a program that is no npm package says what to do",
  ignore: ignore || problem === undefined,
  async fn() {
    await using house = await Household.open(() => ({ jailed: hostile(sandbox()) }));
    assert.match(await house.state("jailed", "failed"), /install bubblewrap and allow user namesp/);
  },
});

async function logOf(house: Household, server: string): Promise<string> {
  return await (await fetch(`${house.gateway.url}/api/server.logs?name=${server}`)).text();
}
