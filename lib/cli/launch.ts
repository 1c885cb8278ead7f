/** What `deno task start` runs: the task `serve`, with permission to write the gateway's own folders. */
import manifest from "../../deno.json" with { type: "json" };
import {
  dataPlaces,
  PROCESS_ENV,
  thisMachine,
  writeFlag,
  writtenFolders,
} from "../config/folders.ts";

// Not one of the program's modules more: each start waits for these, and this process stays.
if (import.meta.main) {
  const machine = thisMachine(Deno.env);
  const folders = writtenFolders(dataPlaces(Deno.args, machine), machine);
  const [, ...words] = manifest.tasks.serve.command.split(" ");
  const flags = words.map((word) => word === "--allow-write" ? writeFlag(folders) : word);
  const child = new Deno.Command(Deno.execPath(), {
    args: [...flags, ...Deno.args],
    env: PROCESS_ENV,
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  forwardSignals(child);
  Deno.exit((await child.status).code);
}

/** On Windows, and for Ctrl-C on a terminal, both processes get the signal; the gateway counts it once. */
function forwardSignals(child: Deno.ChildProcess): void {
  const isWindows = Deno.build.os === "windows";
  const signals: Deno.Signal[] = isWindows
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) {
    Deno.addSignalListener(signal, () => {
      // There, it would end the gateway without a clean stop.
      if (isWindows) return;
      try {
        child.kill(signal);
      } catch { /* It has just ended. */ }
    });
  }
}
