import { fromFileUrl, join } from "@std/path";
import { detectPlatform, systemEnv } from "../config/platform.ts";
import { changeFolder } from "../core/change_folder.ts";
import { GatewayError } from "../core/errors.ts";
import { IS_PACKAGE, oldDenoText, ROOT } from "../core/product.ts";
import { isBuildCurrent } from "./build_stamp.ts";
import { clearStatus, exitWith, printError, showStatus } from "./terminal.ts";

/** Starts the gateway: the built program, or the sources if the platform has no build. */
export async function startGateway(): Promise<void> {
  const tooOld = oldDenoText();
  if (tooOld !== undefined) {
    printError(`${tooOld}\n`);
    Deno.exit(2);
  }
  try {
    // An installed package has no sources, so its build is never stale.
    const program = IS_PACKAGE ? new URL("_fresh/start.js", ROOT).href : await findBuilt();
    const { run } = await import(program ?? new URL("start.ts", ROOT).href);
    run();
  } catch (error) {
    exitWith(error);
  }
}

/** The built program's URL, rebuilt if its sources have changed; undefined if there is none. */
async function findBuilt(): Promise<string | undefined> {
  const program = new URL("_fresh/start.js", ROOT);
  const isThere = await Deno.stat(program).then(() => true, () => false);
  const root = fromFileUrl(ROOT);
  const { canWrite } = detectPlatform(systemEnv());
  if (!canWrite || isThere && await isBuildCurrent(root)) return isThere ? program.href : undefined;
  if (isThere && !(await isWritable(root))) {
    printError(
      `quartermaster: the build in ${root} is older than its sources and cannot be replaced: ` +
        "no write access. Starting the existing build.\n",
    );
    return program.href;
  }
  await build(root);
  return program.href;
}

/** Whether an old build can be replaced: its stamp is not needed any more. */
async function isWritable(root: string): Promise<boolean> {
  return await changeFolder(join(root, "_fresh"), { stamp: "" }).then(() => true, () => false);
}

async function build(root: string): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-P=build", "dev.ts", "build"],
    cwd: root,
    // Piped, so that Deno prints a line for each package it fetches.
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  using progress = new Progress();
  let fetched = 0;
  let isBuilding = false;
  let said = "";
  const [{ success }] = await Promise.all([
    child.status,
    eachLine(child.stdout, (line) => {
      if (!/^Building /.test(line)) return;
      isBuilding = true;
      progress.step(`${line}...`);
    }),
    eachLine(child.stderr, (line) => {
      if (/^(Download|Initialize) /.test(line)) {
        fetched++;
        // The build fetches a few more as it goes; most of its time is spent building.
        if (!isBuilding) progress.step("Fetching packages (first start only)...", `${fetched}`);
      } else said += `${line}\n`;
    }),
  ]);
  if (success) return;
  throw new GatewayError("CONFIG_INVALID", { message: `Cannot build the console: ${said.trim()}` });
}

async function eachLine(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  take: (line: string) => void,
): Promise<void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  }
  if (rest) take(rest);
}

/** Progress of a long operation: one updated line on a terminal, otherwise one line per step. */
class Progress implements Disposable {
  readonly #begun = performance.now();
  readonly #timer = setInterval(() => this.#show(), 1_000);
  #text = "";
  #count: string[] = [];

  step(text: string, ...count: string[]): void {
    const isNew = text !== this.#text;
    this.#text = text;
    this.#count = count;
    if (!this.#show() && isNew) printError(`quartermaster: ${text}\n`);
  }

  #show(): boolean {
    const seconds = Math.floor((performance.now() - this.#begun) / 1_000);
    const details = seconds > 0 ? [...this.#count, `${seconds} s`] : this.#count;
    return this.#text !== "" && showStatus(`${this.#text} ${details.join(", ")}`.trimEnd());
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    clearStatus();
  }
}
