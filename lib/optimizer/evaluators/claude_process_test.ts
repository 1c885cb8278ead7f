import assert from "node:assert/strict";
import { basename, dirname, relative } from "@std/path";
import {
  isGroupAlive,
  listProcesses,
  surroundingsOf,
} from "../../servers/processes/process_group.ts";
import { ProcessOwner } from "../../servers/processes/process_owner.ts";
import type { ProcessRecord } from "../../storage/leases_repository.ts";
import { MemoryRecords } from "../../servers/processes/testing/memory_records.ts";
import { type ClaudeCommand, type ClaudeEnd, runClaude } from "./claude_process.ts";
import { fakeClaude } from "./testing/fake_claude.ts";

const PATH = Deno.env.get("PATH") ?? "";

interface Run {
  end: ClaudeEnd;
  lines: string[];
}

async function run(script: string, more: Partial<ClaudeCommand> = {}): Promise<Run> {
  await using fake = await fakeClaude(script);
  return await runAt(fake.path, more);
}

async function runAt(path: string, more: Partial<ClaudeCommand> = {}): Promise<Run> {
  const lines: string[] = [];
  const end = await runClaude({
    path,
    args: [],
    input: "",
    env: { PATH },
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    ...more,
    onLine(line, send) {
      lines.push(line);
      return more.onLine?.(line, send) ?? false;
    },
  });
  return { end, lines };
}

async function assertGone(pids: string[]): Promise<void> {
  assert.ok(pids.length > 0);
  const running = await listProcesses() ?? [];
  const left = running.filter(({ pid }) => pids.includes(String(pid)));
  assert.deepEqual(left, []);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/** Two processes in the group, neither of which can be asked to end. */
const STUBBORN = `trap '' TERM
(trap '' TERM; while :; do sleep 1; done) & echo $!
echo $$`;

Deno.test("runClaude() gives arguments, input and files to a process in folders of its own", async () => {
  const { end, lines } = await run(
    `echo "$@"; cat; echo; stat -c %a "$2"; cat "$2"; echo; pwd; echo "$HOME"; ls -A; env | grep OTHER`,
    {
      args: ["--config", "{folder}/mcp.json"],
      input: "naïve \u{1F30D}",
      files: { "mcp.json": '{"a":1}' },
      env: { PATH, HOME: "/nobody", OTHER: "x" },
    },
  );
  assert.equal(end.how, "exit");
  const [args = "", input, mode, file, cwd = "", home = "", ...rest] = lines;
  assert.deepEqual([input, mode, file], ["naïve \u{1F30D}", "600", '{"a":1}']);
  assert.match(args, /^--config .+\/mcp\.json$/);
  assert.deepEqual([basename(cwd), basename(home), rest], ["work", "home", []]);
  assert.equal(dirname(cwd), dirname(args.slice("--config ".length)));
  assert.equal(await exists(dirname(home)), false);
});

Deno.test("runClaude() starts one Deno.Command in a group of its own, without the gateway's environment", async () => {
  const { Command } = Deno;
  const started: string[] = [];
  class RecordedCommand extends Command {
    constructor(command: string | URL, options?: Deno.CommandOptions) {
      super(command, options);
      if (options?.clearEnv) started.push(String(command));
    }
  }
  Deno.env.set("NOT_FOR_CLAUDE", "secret");
  Deno.Command = RecordedCommand;
  try {
    await using fake = await fakeClaude(`sleep 300 & echo $!; echo $$; wait`);
    const stop = new AbortController();
    const pids: number[] = [];
    const listed = Promise.withResolvers<void>();
    const running = runAt(fake.path, {
      signal: stop.signal,
      onLine(line) {
        if (pids.push(Number(line)) === 2) listed.resolve();
        return false;
      },
    });
    await listed.promise;
    const groups = (await listProcesses())?.filter(({ pid }) => pids.includes(pid));
    assert.deepEqual(groups?.map(({ groupId }) => groupId), [pids[1], pids[1]]);
    const { env = {} } = await surroundingsOf(pids[1]!) ?? {};
    assert.equal(env.PATH, PATH);
    assert.ok(!("NOT_FOR_CLAUDE" in env), Object.keys(env).join());
    assert.deepEqual(started, [fake.path]);
    stop.abort(new Error("stopped"));
    await assert.rejects(running, /stopped/);
    await assertGone(pids.map(String));
  } finally {
    Deno.Command = Command;
    Deno.env.delete("NOT_FOR_CLAUDE");
  }
});

Deno.test("runClaude() tells the exit code and the last words", async () => {
  const { end } = await run(`for i in 1 2 3 4 5 6 7; do echo "line $i" >&2; done; exit 3`);
  const lastWords = "line 3\nline 4\nline 5\nline 6\nline 7";
  assert.deepEqual(end, { how: "exit", code: 3, lastWords });
});

Deno.test("runClaude() ends the whole group at the time limit, and removes its folder", async () => {
  const { end, lines } = await run(`${STUBBORN}\npwd\nwait`, { timeoutMs: 1_500 });
  assert.deepEqual(end, { how: "timeout", lastWords: "" });
  const folder = lines.pop() ?? "";
  assert.equal(lines.length, 2);
  await assertGone(lines);
  assert.equal(await exists(folder), false);
});

Deno.test("runClaude() ends the whole group when its signal aborts, and says why", async () => {
  const stop = new AbortController();
  const reason = new Error("cancelled");
  const pids: string[] = [];
  await using fake = await fakeClaude(`${STUBBORN}\nwait`);
  const running = runAt(fake.path, {
    signal: stop.signal,
    onLine(line) {
      if (pids.push(line) === 2) stop.abort(reason);
      return false;
    },
  });
  await assert.rejects(running, (error) => error === reason);
  await assertGone(pids);
});

Deno.test("runClaude() starts nothing where its signal has aborted before", async () => {
  await using fake = await fakeClaude(`touch "$FOLDER/ran"`);
  const signal = AbortSignal.abort(new Error("cancelled"));
  await assert.rejects(runAt(fake.path, { signal }), /cancelled/);
  assert.equal(await exists(`${fake.folder}/ran`), false);
});

Deno.test("runClaude() ends the process once a line was enough", async () => {
  const { end, lines } = await run(`echo $$; echo enough; while :; do sleep 1; done`, {
    onLine: (line) => line === "enough",
  });
  assert.deepEqual(end, { how: "enough" });
  await assertGone(lines.slice(0, 1));
});

Deno.test("runClaude() leaves no child of a program that has ended", async () => {
  const { end, lines } = await run(`sleep 300 & echo $!; exit 0`);
  assert.deepEqual(end, { how: "exit", code: 0, lastWords: "" });
  await assertGone(lines);
});

for (
  const [what, script] of [
    ["an endless line", "tr '\\0' 'x' < /dev/zero"],
    ["one line that is too long", "head -c 1100000 /dev/zero | tr '\\0' 'x'; echo; sleep 300"],
    ["endless lines", "yes"],
  ] as const
) {
  Deno.test(`runClaude() stops reading ${what}`, async () => {
    await using fake = await fakeClaude(`echo $$ > "$FOLDER/pid"\n${script}`);
    const { end, lines } = await runAt(fake.path);
    assert.equal(end.how, "too-large");
    assert.ok(lines.length <= 10_000);
    const pid = Number(await Deno.readTextFile(`${fake.folder}/pid`));
    assert.equal(await isGroupAlive(pid), false);
  });
}

Deno.test("runClaude() does not wait for a program that never reads its input", async () => {
  const { end } = await run("exit 0", { input: "x".repeat(1_000_000) });
  assert.equal(end.how, "exit");
});

Deno.test("runClaude() says why a program cannot be started", async () => {
  const missing = (await runAt("no-such-claude")).end;
  assert.ok(missing.how === "not-started" && missing.isMissing);
  assert.match(missing.reason, /"no-such-claude" is not on PATH/);
  await using fake = await fakeClaude("exit 0");
  await Deno.chmod(fake.path, 0o644);
  const locked = (await runAt(fake.path)).end;
  assert.ok(locked.how === "not-started" && !locked.isMissing);
  assert.match(locked.reason, /is not executable/);
});

Deno.test("runClaude() takes a relative path from where the gateway runs", async () => {
  await using fake = await fakeClaude("exit 7");
  const { end } = await runAt(`./${relative(Deno.cwd(), fake.path)}`);
  assert.equal(end.how === "exit" && end.code, 7);
});

Deno.test("runClaude() keeps account of its process while that runs", async () => {
  const records = new MemoryRecords();
  const onWarning = (message: string) => assert.fail(message);
  const owner = new ProcessOwner({ leaseId: "lease-1", host: "here", records, onWarning });
  let during: Promise<ProcessRecord[]> | undefined;
  const { lines } = await run(`echo "$QUARTERMASTER_OWNER"`, {
    owner,
    onLine() {
      during = records.values();
      return false;
    },
  });
  assert.deepEqual(lines, ["lease-1"]);
  assert.deepEqual((await during)?.map(({ leaseId }) => leaseId), ["lease-1"]);
  assert.deepEqual(await records.values(), []);
});
