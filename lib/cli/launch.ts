/** What `deno task start` runs: the task `serve`, with permission to write the gateway's own folders. */
import manifest from "../../deno.json" with { type: "json" };
import { dataPlaces, thisMachine, writeFlag, writtenFolders } from "../config/folders.ts";

// Not one of the program's modules more: each start waits for these, and this process stays.
if (import.meta.main) {
  const machine = thisMachine(Deno.env);
  const folders = writtenFolders(dataPlaces(Deno.args, machine), machine);
  const [, ...words] = manifest.tasks.serve.command.split(" ");
  const flags = words.map((word) => word === "--allow-write" ? writeFlag(folders) : word);
  const child = new Deno.Command(Deno.execPath(), {
    args: [...flags, ...Deno.args],
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  forwardSignals(child);
  Deno.exit((await child.status).code);
}

/** Ctrl-C on a terminal reaches both processes, `kill` only this one. On Windows a signal reaches both. */
function forwardSignals(child: Deno.ChildProcess): void {
  const isWindows = Deno.build.os === "windows";
  const onTerminal = [Deno.stdin, Deno.stdout, Deno.stderr].some((stream) => stream.isTerminal());
  const signals = ["SIGINT", ...isWindows ? ["SIGBREAK"] as const : ["SIGTERM", "SIGHUP"] as const];
  for (const signal of signals as Deno.Signal[]) {
    Deno.addSignalListener(signal, () => {
      if (isWindows || (signal === "SIGINT" && onTerminal)) return;
      try {
        child.kill(signal);
      } catch { /* It has just ended. */ }
    });
  }
}
