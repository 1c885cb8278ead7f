/**
 * `deno task test [FILE or FOLDER ...] [--filter TEXT]` runs test files in parallel and shows how far
 * they are. The last line is `N passed, N failed`. Nothing is retried: a test that fails now and then
 * is a bug.
 */
import { parseArgs } from "node:util";
import { fromFileUrl, join, relative, resolve } from "@std/path";
import { endLeftBehind, kill, processesOf } from "./left_behind.ts";
import { fetchPrograms, TEST_LOCK } from "./packages.ts";

const root = fromFileUrl(new URL("..", import.meta.url));

/** These need the machine for themselves, or take all of it: they run last, one after another. */
const ALONE = /^tests\/(conformance|conformance_client|faults_\w+|package)_test\.ts$/;
/** These take longest, much of it waiting, so that they begin first. */
const FIRST = /^tests\/(installs|optimization_faults|console)_test\.ts$/;
/** A process takes longer to start than most of these to run, so that many share one. */
const UNIT = /^(lib|routes)\//;
const UNITS_A_PROCESS = 20;
/** Far more than any file takes: a process that runs longer is stuck. */
const LIMIT_MS = String(15 * 60_000);
/** More than the number of cores: tests spend much of their time waiting. */
const AT_ONCE = Math.ceil(navigator.hardwareConcurrency * 1.5);
/** How much output to show for a process that ended without a list of failures. */
const LAST_LINES = 60;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { filter: { type: "string" }, "limit-ms": { type: "string", default: LIMIT_MS } },
});
const limitMs = Number(flags["limit-ms"]);
const isTerminal = Deno.stdout.isTerminal();
const startedAt = Date.now();
const jobs = new Set<Job>();
const durations = new Map<string, number>();
const ignored: string[] = [];
let isStopping = false;
const total = { files: 0, done: 0, passed: 0, failed: 0 };

const write = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text));
const print = (line: string) => write(`${isTerminal ? "\r\x1b[K" : ""}${line}\n`);
const since = (time: number) => {
  const seconds = Math.round((Date.now() - time) / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
};
const progress = () => `${total.done} of ${total.files} files`;

/** A process and its files. */
class Job {
  readonly #files: string[];
  readonly #folder = join(temp, crypto.randomUUID().slice(0, 8));
  readonly #lines: string[] = [];
  readonly #startedAt = Date.now();
  readonly #child: Deno.ChildProcess;
  #file: string;
  #fileStartedAt = Date.now();

  constructor(files: string[]) {
    this.#files = files;
    this.#file = files[0]!;
    Deno.mkdirSync(this.#folder);
    const filter = flags.filter === undefined ? [] : ["--filter", flags.filter];
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["test", "-A", "-q", "--no-check", "--lock", TEST_LOCK, ...filter, ...files],
      cwd: root,
      env: { TMPDIR: this.#folder },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      detached: true,
    }).spawn();
  }

  toString(): string {
    return `${this.#file} ${since(this.#fileStartedAt)}`;
  }

  async end(): Promise<void> {
    kill(-this.#child.pid);
    for (const pid of await processesOf(this.#folder)) kill(pid);
  }

  async run(): Promise<void> {
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      void this.end();
    }, limitMs);
    const reading = [this.#child.stdout, this.#child.stderr].map((stream) => this.#read(stream));
    const { success } = await this.#child.status;
    const left = await endLeftBehind(this.#folder, this.#child.pid);
    // Only now: a process that was left may have had them open.
    await Promise.all(reading);
    clearTimeout(limit);
    await Deno.remove(this.#folder, { recursive: true }).catch(() => {});
    durations.set(this.#file, Date.now() - this.#fileStartedAt);

    const counts = this.#lines.findLast((line) => /^(ok|FAILED) \| \d+ passed/.test(line));
    const [, passed = "0", failed = "0"] = counts?.match(/(\d+) passed.*? \| (\d+) failed/) ?? [];
    const isGood = success && counts !== undefined && left.length === 0;
    total.passed += Number(passed);
    total.failed += Number(failed) || (isGood ? 0 : 1);
    total.done += this.#files.length;
    const { length } = this.#files;
    const name = length === 1 ? this.#file : `${length} files from ${this.#files[0]}`;
    if (!isGood) {
      const errors = this.#lines.indexOf(" ERRORS ");
      const shown = this.#lines.slice(errors === -1 ? -LAST_LINES : errors);
      const why = isLate ? `did not end within ${limitMs} ms` : "failed";
      print([`\n--- ${name} ${why}`, ...shown, "---\n"].join("\n"));
      for (const text of left) print(`LEFT BEHIND by ${name}: ${text}`);
    }
    if (!isGood || !isTerminal) {
      const counted = `${passed} passed, ${since(this.#startedAt)}`;
      print(`${isGood ? "ok" : "FAILED"} ${name}: ${counted} (${progress()})`);
    }
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    let rest = "";
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.#take(line);
    }
    if (rest !== "") this.#take(rest);
  }

  #take(colored: string): void {
    // deno-lint-ignore no-control-regex -- colors
    const line = colored.replaceAll(/\x1b\[[\d;]*m/g, "");
    this.#lines.push(line);
    const next = line.match(/^running \d+ tests? from (?:\.\/)?(.+)$/)?.[1];
    if (next !== undefined && next !== this.#file) {
      durations.set(this.#file, Date.now() - this.#fileStartedAt);
      this.#file = next;
      this.#fileStartedAt = Date.now();
    }
    if (/ \.\.\. FAILED\b/.test(line)) print(`FAILED ${this.#file}: ${line.trim()}`);
    if (/ \.\.\. ignored\b/.test(line)) ignored.push(`${this.#file}: ${line.trim()}`);
  }
}

async function* findTests(path: string): AsyncGenerator<string> {
  if ((await Deno.stat(path)).isFile) return yield relative(root, path);
  for await (const { name, isDirectory } of Deno.readDir(path)) {
    if (isDirectory || /_test\.tsx?$/.test(name)) yield* findTests(join(path, name));
  }
}

async function runAll(groups: string[][], atOnce: number): Promise<void> {
  const queue = groups.values();
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (const files of queue) {
      if (isStopping) return;
      const job = new Job(files);
      jobs.add(job);
      await job.run();
      jobs.delete(job);
    }
  }));
}

function showStatus(): void {
  const counts = `${total.passed} passed, ${total.failed} failed, ${since(startedAt)}`;
  const line = `${progress()}, ${counts}: ${[...jobs].join(", ")}`;
  write(`\r\x1b[K${line.slice(0, Deno.consoleSize().columns - 1)}`);
}

const paths = positionals.length > 0
  ? positionals
  : [join(root, "lib"), join(root, "routes"), join(root, "tests")];
const found = await Promise.all(paths.map((path) => Array.fromAsync(findTests(resolve(path)))))
  .catch((error: Error): never => (print(error.message), Deno.exit(1)));
const files = [...new Set(found.flat())].sort();
await fetchPrograms().catch((error: Error) =>
  print(`Cannot download the test programs: ${error.message}`)
);
const temp = await Deno.makeTempDir({ prefix: "qm" });
// Some tests start programs as another user.
await Deno.chmod(temp, 0o755);
total.files = files.length;
const units = files.filter((file) => UNIT.test(file));
const batches: string[][] = [];
while (units.length > 0) batches.push(units.splice(0, UNITS_A_PROCESS));
const others = files.filter((file) => !UNIT.test(file)).map((file) => [file]);
const isAlone = ([file]: string[]) => ALONE.test(file!);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  Deno.addSignalListener(signal, async () => {
    isStopping = true;
    await Promise.all([...jobs].map((job) => job.end()));
    await Deno.remove(temp, { recursive: true }).catch(() => {});
    Deno.exit(130);
  });
}
const drawing = isTerminal ? setInterval(showStatus, 1000) : undefined;
// The short ones come last of those side by side, so that all cores are busy to the end.
const isFirst = ([file]: string[]) => FIRST.test(file!);
const sideBySide = [
  ...others.filter(isFirst),
  ...others.filter((group) => !isAlone(group) && !isFirst(group)),
  ...batches,
];
await runAll(sideBySide, Number(Deno.env.get("DENO_JOBS")) || AT_ONCE);
await runAll(others.filter(isAlone), 1);
clearInterval(drawing);
await Deno.remove(temp, { recursive: true });

if (ignored.length > 0) print(["\nIgnored:", ...ignored].join("\n  "));
const slowest = [...durations].sort(([, a], [, b]) => b - a).slice(0, 10)
  .map(([file, ms]) => `${Math.round(ms / 1000)}s ${file}`);
print(["\nSlowest files:", ...slowest].join("\n  "));
// A filter that matches nothing is an error.
if (total.passed === 0) total.failed ||= 1;
print(`\n${progress()} in ${since(startedAt)}`);
print(`${total.passed} passed, ${total.failed} failed`);
Deno.exit(total.failed === 0 ? 0 : 1);
