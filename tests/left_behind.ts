/** Time for processes that were told to end, on a machine with much to do. */
const LIMIT_MS = 10_000;
const POLL_MS = 100;

/**
 * The processes that have this folder, or one inside, as TMPDIR. Whatever a test starts inherits that,
 * through the gateway too, which passes few other variables on. Those that got no variables are found
 * by their process group. Only Linux shows them.
 */
export async function processesOf(folder: string, group?: number): Promise<number[]> {
  if (Deno.build.os !== "linux") return [];
  const pids: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    // Of a process that has ended meanwhile, or of another user, there is nothing to read.
    const environment = await Deno.readTextFile(`/proc/${name}/environ`).catch(() => "");
    const isOf = (text: string) => `${text}/`.startsWith(`TMPDIR=${folder}/`);
    if (environment.split("\0").some(isOf) || await groupOf(name) === group) {
      pids.push(Number(name));
    }
  }
  return pids;
}

/** The process group of a process; none of one that has ended. */
async function groupOf(pid: string): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "");
  // After the name, which may hold anything: state, parent, group.
  const [state = "Z", , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" ? NaN : Number(group);
}

/** The command lines that have the text in them. A process that has ended has none. */
export async function processesWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (/^\d+$/.test(name)) found.push(await commandLine(name));
  }
  return found.filter((line) => line.includes(text));
}

async function commandLine(pid: string | number): Promise<string> {
  const line = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
  return line.replaceAll("\0", " ").trim();
}

/** Kills a process, or with a negative number a process group. */
export function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch { /* it has ended */ }
}

/** Waits for those processes to end, kills those that do not, and names them. */
export async function endLeftBehind(folder: string, group: number): Promise<string[]> {
  const until = Date.now() + LIMIT_MS;
  let left = await processesOf(folder, group);
  while (left.length > 0 && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    left = await processesOf(folder, group);
  }
  return await Promise.all(left.map(async (pid) => {
    const command = await commandLine(pid);
    kill(pid);
    return `${pid} ${command}`;
  }));
}
