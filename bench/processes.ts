/** What a process has used: CPU in seconds (own and of ended children), resident memory in MB. */
export async function usageOf(pid: number): Promise<{ cpuSeconds: number; rssMb: number }> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return { cpuSeconds: ticks / 100, rssMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024 };
}

/** Starts a program that prints `{"url": ...}` as its first line. */
export async function startServer(
  { command, args }: { command: string; args: string[] },
): Promise<{ url: string; pid: number } & AsyncDisposable> {
  const child = new Deno.Command(command, { args, stdin: "null", stdout: "piped" }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let line = "";
  while (!line.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`${command} ${args.join(" ")} did not start`);
    line += value;
  }
  return {
    url: JSON.parse(line).url,
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
    },
  };
}
