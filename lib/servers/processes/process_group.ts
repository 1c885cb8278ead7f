import process from "node:process";
import { systemErrorCode } from "../../core/errors.ts";

// The one file that knows operating systems. Only Linux was ever tried; macOS and Windows follow
// their manuals. On Windows a "group" is a process with its descendants, known by its own id and
// out of reach once that process has ended.

/** A process that runs; one that has ended and merely waits to be collected is not among them. */
interface RunningProcess {
  pid: number;
  groupId: number;
  /** Opaque; with the pid it names one process for good, on Linux across reboots too. */
  startTime: string;
}

export interface ProcessCommand {
  pid: number;
  parentId: number;
  groupId: number;
  words: string[];
  cpuMs?: number;
}

export interface GroupCommand {
  command: string;
  args: readonly string[];
  /** All of it: nothing is inherited. */
  env: Record<string, string>;
  cwd?: string | undefined;
}

const KILL_MS = 500;
const POLL_MS = { first: 5, most: 100 };

const UNIX_NAMES = "PATH HOME USER LOGNAME SHELL LANG TMPDIR TERM TZ";
const WINDOWS_NAMES = "PATH PATHEXT COMSPEC SYSTEMROOT SYSTEMDRIVE WINDIR TEMP TMP USERNAME " +
  "USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES " +
  "PROCESSOR_ARCHITECTURE TERM TZ";
/** Where deno, npx and uvx keep packages, and which certificates they trust: paths, never secrets. */
const PLACES = "DENO_DIR NPM_CONFIG_CACHE UV_CACHE_DIR XDG_CACHE_HOME XDG_CONFIG_HOME " +
  "XDG_DATA_HOME XDG_STATE_HOME SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS";

/** Whether a variable is one that any program needs and that carries no secret. */
export function isInherited(name: string, os = Deno.build.os): boolean {
  // npm reads its variables in any case.
  if (PLACES.split(" ").includes(name.toUpperCase())) return true;
  if (os === "windows") return WINDOWS_NAMES.split(" ").includes(name.toUpperCase());
  return UNIX_NAMES.split(" ").includes(name) || name.startsWith("LC_");
}

/**
 * Whether a program is started as the leader of a group. Not on Windows: it would give each program a
 * console of its own, and taskkill walks the tree.
 */
export const LEADS_GROUP = Deno.build.os !== "windows";

export function spawnGroup({ command, args, env, cwd }: GroupCommand): Deno.ChildProcess {
  return new Deno.Command(command, {
    args: [...args],
    env,
    clearEnv: true,
    ...(cwd === undefined ? {} : { cwd }),
    detached: LEADS_GROUP,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Ends whole groups: a polite signal, and after `graceMs` the other one. Returns what survived. */
export async function endGroups(groupIds: Iterable<number>, graceMs: number): Promise<number[]> {
  let alive = [...groupIds].filter(mayExist);
  for (const [signal, limitMs] of [["SIGTERM", graceMs], ["SIGKILL", KILL_MS]] as const) {
    if (alive.length === 0) break;
    await Promise.all(alive.map((groupId) => signalGroup(groupId, signal)));
    alive = await waitForEnd(alive, limitMs);
  }
  return alive;
}

export async function isGroupAlive(groupId: number): Promise<boolean> {
  return (await aliveAmong([groupId])).length > 0;
}

/** Every process of this machine that can be seen; undefined where nothing can be. */
export async function listProcesses(): Promise<RunningProcess[] | undefined> {
  const processes = Deno.build.os === "linux"
    ? readStats(await output("sh", ["-c", `cat ${BOOT_ID} /proc/[0-9]*/stat`]))
    : Deno.build.os === "windows"
    ? readWindowsTable(await output("powershell", ["-NoProfile", "-Command", WINDOWS_TABLE]))
    : readPsTable(await output("ps", ["-axo", "pid=,pgid=,stat=,lstart="]));
  return processes.length === 0 ? undefined : processes;
}

/** Every process with its command line; empty on Windows, or if processes cannot be listed. */
export async function listCommands(): Promise<ProcessCommand[]> {
  switch (Deno.build.os) {
    case "windows":
      return [];
    case "linux":
      return readCommands(await output("sh", ["-c", COMMANDS]));
    default:
      return readPsCommands(await output("ps", ["-axo", "pid=,ppid=,pgid=,time=,command="]));
  }
}

/** When a process started; undefined where it does not run, or nobody can tell. */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  const processes = Deno.build.os === "linux"
    ? readStats(await output("cat", [BOOT_ID, `/proc/${pid}/stat`]))
    : await listProcesses();
  return processes?.find((running) => running.pid === pid)?.startTime;
}

/**
 * The processes that have exactly this `NAME=value` in their environment, inherited or not. Only
 * Linux shows the environment of others: elsewhere there are none.
 */
export async function findMarked(marker: string): Promise<number[]> {
  if (Deno.build.os !== "linux") return [];
  // Through a child, because reading /proc oneself takes every permission there is.
  const search = `grep -lzxF -e "$1" /proc/[0-9]*/environ`;
  const found = await output("sh", ["-c", search, "sh", marker]);
  return Array.from(found.matchAll(/^\/proc\/(\d+)\/environ$/gm), ([, pid]) => Number(pid));
}

/** Where a process runs; undefined if it is gone, another user's, or not on Linux. */
export async function surroundingsOf(
  pid: number,
): Promise<{ env: Record<string, string>; cwd: string } | undefined> {
  if (Deno.build.os !== "linux") return undefined;
  const read = `cat /proc/"$1"/environ && readlink /proc/"$1"/cwd`;
  const entries = (await output("sh", ["-c", read, "sh", String(pid)])).split("\0");
  const cwd = entries.pop()?.replace(/\n$/, "");
  if (!cwd) return undefined;
  const pairs = entries.map((entry) => /^([^=]*)=(.*)$/s.exec(entry)?.slice(1) ?? []);
  return { env: Object.fromEntries(pairs.filter(({ length }) => length === 2)), cwd };
}

async function signalGroup(groupId: number, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (Deno.build.os === "windows") {
    await output("taskkill", ["/T", "/F", "/PID", String(groupId)]);
    return;
  }
  try {
    Deno.kill(-groupId, signal);
  } catch {
    // Gone, or not ours to signal (macOS says that of ended ones too): the caller looks what is left.
  }
}

async function waitForEnd(groupIds: number[], limitMs: number): Promise<number[]> {
  const deadline = performance.now() + limitMs;
  let alive = groupIds;
  for (let pause = POLL_MS.first;; pause = Math.min(2 * pause, POLL_MS.most)) {
    alive = await aliveAmong(alive);
    const left = deadline - performance.now();
    if (alive.length === 0 || left <= 0) return alive;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left)));
  }
}

async function aliveAmong(groupIds: number[]): Promise<number[]> {
  const candidates = groupIds.filter(mayExist);
  if (candidates.length === 0) return [];
  // Ended processes that nobody collects (the init of most containers does not) keep a group.
  const running = await listProcesses();
  if (running === undefined) return candidates;
  const alive = new Set(running.map(({ groupId }) => groupId));
  return candidates.filter((groupId) => alive.has(groupId));
}

/** Cheap, and right when it says no. */
function mayExist(groupId: number): boolean {
  try {
    return process.kill(Deno.build.os === "windows" ? groupId : -groupId, 0);
  } catch (error) {
    return systemErrorCode(error) === "EPERM";
  }
}

const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/** Linux: start times count from the boot, so only together with the boot's id do they say when. */
function readStats(text: string) {
  const bootId = /^[0-9a-f-]{36}$/m.exec(text)?.[0] ?? "";
  const line = /^(\d+) \(.*\) [^ZX] (\d+) (\d+) (?:-?\d+ ){8}(\d+) (\d+) (?:-?\d+ ){6}(\d+) /gm;
  return Array.from(text.matchAll(line), ([, pid, parentId, groupId, user, system, ticks]) => ({
    pid: Number(pid),
    parentId: Number(parentId),
    groupId: Number(groupId),
    cpuMs: (Number(user) + Number(system)) * TICK_MS,
    startTime: `${bootId}:${ticks}`,
  }));
}

const COMMANDS = "cat /proc/[0-9]*/stat; printf '\\0'; grep -zH '' /proc/[0-9]*/cmdline";
/** The kernel counts in hundredths of a second on every platform that Deno runs on. */
const TICK_MS = 10;

function readCommands(text: string): ProcessCommand[] {
  const [stats = "", ...records] = text.split("\0");
  const words = new Map<number, string[]>();
  for (const record of records) {
    const [, pid, word = ""] = /^\/proc\/(\d+)\/cmdline:(.*)$/s.exec(record) ?? [];
    if (pid === undefined) continue;
    const known = words.get(Number(pid));
    if (known) known.push(word);
    else words.set(Number(pid), [word]);
  }
  return readStats(stats).map((process) => ({
    ...process,
    words: split(words.get(process.pid) ?? []),
  }));
}

/** A program that sets its title, as npm does, has it as a single argument. */
function split(words: string[]): string[] {
  const given = words.filter((word) => word !== "");
  return given.length === 1 ? given[0]!.trim().split(/\s+/) : given;
}

function readPsCommands(text: string): ProcessCommand[] {
  const line = /^ *(\d+) +(\d+) +(\d+) +(?:(\d+):)?(\d+):([\d.]+) (.*)$/gm;
  return Array.from(
    text.matchAll(line),
    ([, pid, parentId, groupId, hours = "0", minutes, seconds, command = ""]) => ({
      pid: Number(pid),
      parentId: Number(parentId),
      groupId: Number(groupId),
      words: command.trim().split(/\s+/),
      cpuMs: ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000,
    }),
  );
}

function readPsTable(text: string): RunningProcess[] {
  const line = /^ *(\d+) +(\d+) +[^Z\s]\S* +(\S.*\S) *$/gm;
  return Array.from(text.matchAll(line), ([, pid, groupId, startTime = ""]) => ({
    pid: Number(pid),
    groupId: Number(groupId),
    startTime,
  }));
}

const WINDOWS_TABLE =
  `Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId) $($_.CreationDate.Ticks)" }`;

function readWindowsTable(text: string): RunningProcess[] {
  return Array.from(text.matchAll(/^(\d+) (\d+)\r?$/gm), ([, pid, startTime = ""]) => ({
    pid: Number(pid),
    groupId: Number(pid),
    startTime,
  }));
}

/** What a helper program prints; nothing where it cannot run, which means that one cannot look. */
async function output(command: string, args: string[]): Promise<string> {
  try {
    const { stdout } = await new Deno.Command(command, {
      args,
      // So that dates always print the same way.
      env: { LC_ALL: "C", TZ: "UTC" },
      stdin: "null",
      stderr: "null",
    }).output();
    return new TextDecoder().decode(stdout);
  } catch {
    return "";
  }
}

/** A program's whole environment: what any program needs, what its entry declares, our marker. */
export function childEnv({ baseEnv, declared, markerEnv }: {
  baseEnv: Record<string, string>;
  declared: Record<string, string>;
  markerEnv: Record<string, string>;
}): Record<string, string> {
  const inherited = Object.entries(baseEnv).filter(([name]) => isInherited(name));
  return { ...Object.fromEntries(inherited), ...declared, ...markerEnv };
}
