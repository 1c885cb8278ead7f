/** Starts child.ts on a store. */
export function spawnChild(path: string, job: string, argument = ""): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-lock",
      "--allow-all",
      import.meta.resolve("./child.ts"),
      path,
      job,
      argument,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}

/** Waits until the child is at its work, then kills it after a while. */
export async function killAtWork(child: Deno.ChildProcess, afterMs: number): Promise<void> {
  const reader = child.stdout.getReader();
  const ready = await reader.read();
  if (!ready.done) {
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
  await reader.cancel();
  await child.status;
  if (ready.done) throw new Error("The child ended before it began its work");
}
