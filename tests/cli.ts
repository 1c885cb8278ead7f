import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { programCommand } from "../lib/config/platform.ts";
import { fixtureCommand } from "./fixtures/start_fixture.ts";

const root = fromFileUrl(new URL("..", import.meta.url));

/** What `quartermaster` runs, as arguments of deno. */
export function cliCommand(): string[] {
  return programCommand("cli").slice(1);
}

/** Deno's packages stay where they are when HOME is another one. */
function denoDir(): Record<string, string> {
  const info = new Deno.Command(Deno.execPath(), { args: ["info", "--json"], cwd: root })
    .outputSync();
  return { DENO_DIR: JSON.parse(new TextDecoder().decode(info.stdout)).denoDir };
}

/** A command line of somebody who has nothing but these folders. */
export class TestCli {
  readonly home: string;
  readonly dataDir: string;
  readonly settings: { cwd: string; env: Record<string, string> };

  private constructor(folder: string) {
    this.home = join(folder, "home");
    this.dataDir = join(folder, "data");
    const cwd = join(folder, "project");
    for (const path of [this.home, this.dataDir, cwd]) Deno.mkdirSync(path);
    this.settings = {
      cwd,
      env: {
        ...denoDir(),
        HOME: this.home,
        USERPROFILE: this.home,
        XDG_CONFIG_HOME: join(this.home, ".config"),
        APPDATA: join(this.home, "AppData"),
        CLAUDE_CONFIG_DIR: "",
        NO_COLOR: "",
        QUARTERMASTER_DATA_DIR: this.dataDir,
      },
    };
  }

  /** Works in folders that are gone after. */
  static async use(work: (cli: TestCli) => Promise<void>): Promise<void> {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "quartermaster_" }));
    try {
      await work(new TestCli(folder));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }

  get project(): string {
    return this.settings.cwd;
  }

  /** Starts a gateway as `startGateway` does, on this data folder and with this home. */
  get gateway() {
    return { dataDir: this.dataDir, cwd: this.settings.cwd, env: this.settings.env };
  }

  async run(args: string[], input?: string) {
    const child = new Deno.Command(Deno.execPath(), {
      ...this.settings,
      args: [...cliCommand(), ...args],
      stdin: input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    if (input !== undefined) {
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(input));
      await writer.close();
    }
    const { code, stdout, stderr } = await child.output();
    const decoder = new TextDecoder();
    return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
  }

  /** The output of a command that has to succeed. */
  async ok(...args: string[]): Promise<string> {
    const { code, out, err } = await this.run(args);
    assert.equal(code, 0, `${args.join(" ")}: ${out}${err}`);
    return out;
  }

  async json(...args: string[]) {
    return JSON.parse(await this.ok(...args, "--json"));
  }

  async fails(code: number, message: RegExp, ...args: string[]): Promise<void> {
    const result = await this.run(args);
    assert.equal(result.code, code, `${args.join(" ")}: ${result.out}${result.err}`);
    assert.match(result.err, message, args.join(" "));
    assert.doesNotMatch(result.err, /\n\s+at /, "a stack trace");
  }

  /** A server that is a program, as a config names it. */
  program(flags: string[] = [], env: Record<string, string> = {}) {
    // Servers inherit HOME, but not where Deno keeps its packages.
    const { DENO_DIR = "" } = this.settings.env;
    return { ...fixtureCommand("chaos_server", flags), env: { DENO_DIR, ...env } };
  }

  /** The same as arguments of `server add`. */
  programWords(): string[] {
    const { command, args, env } = this.program();
    return ["--env", `DENO_DIR=${env.DENO_DIR}`, "--", command, ...args];
  }

  /** Writes a file in the home or the project folder. */
  async write(path: string, content: unknown): Promise<void> {
    await Deno.mkdir(join(path, ".."), { recursive: true });
    const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
    await Deno.writeTextFile(path, text);
  }
}
