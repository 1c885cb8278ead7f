/** What `deno task start` runs: the task `serve`, with permission to write the gateway's own folders. */
import manifest from "../../deno.json" with { type: "json" };
import {
  dataPlaces,
  processEnv,
  thisMachine,
  writeFlag,
  writtenFolders,
} from "../config/folders.ts";
import { spawnForwarding } from "./forward_signals.ts";

// Imports as little as possible: each start waits for it, and this process stays.
if (import.meta.main) {
  const machine = thisMachine(Deno.env);
  const folders = writtenFolders(dataPlaces(Deno.args, machine), machine);
  const [, ...words] = manifest.tasks.serve.command.split(" ");
  const flags = words.map((word) => word === "--allow-write" ? writeFlag(folders) : word);
  const command = new Deno.Command(Deno.execPath(), {
    args: [...flags, ...Deno.args],
    env: processEnv(machine),
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  });
  Deno.exit((await spawnForwarding(command).status).code);
}
