import { fromFileUrl } from "@std/path";
import manifest from "../../deno.json" with { type: "json" };
import { thisMachine, writeFlag, writtenFolders } from "../config/folders.ts";
import type { Options } from "../config/option_table.ts";
import { systemEnv } from "../config/platform.ts";
import { GatewayError } from "../core/errors.ts";
import { ROOT } from "../core/product.ts";

/** Set for a program that was started again, which never starts itself once more. */
const STARTED_AGAIN = "QUARTERMASTER_STARTED_AGAIN";

/**
 * Starts the gateway again with permissions that fit its options, if these do not: the launcher
 * that chose them does not know every option. Undefined if they fit. Whoever starts it with
 * permission to write everywhere keeps that, except with `--harden`.
 */
export function startAgain(
  { harden, dataDir, kv }: Pick<Options, "harden" | "dataDir" | "kv">,
): Deno.ChildProcess | undefined {
  const isSecond = Deno.env.has(STARTED_AGAIN);
  // Programs that run as servers must not inherit it.
  Deno.env.delete(STARTED_AGAIN);
  if (isSecond) return undefined;
  const folders = writtenFolders({ dataDir, kv }, thisMachine(systemEnv()));
  const isWhole = mayWrite();
  const fits = isWhole ? !harden : folders.every((folder) => mayWrite(folder));
  if (fits) return undefined;
  const flag = writeFlag(folders);
  if (harden && flag === "--allow-write") {
    const odd = folders.find((folder) => folder.includes(","));
    throw new GatewayError("CONFIG_INVALID", {
      message:
        `Cannot start with --harden: the path of ${odd} has a comma, which separates folders`,
    });
  }
  return spawnAgain({ "--allow-write": flag });
}

/** Whether this process may write in a folder, or everywhere. */
export function mayWrite(path?: string): boolean {
  const name = "write";
  const wanted = path === undefined ? { name } as const : { name, path } as const;
  return Deno.permissions.querySync(wanted).state === "granted";
}

/** Starts this program again with the flags of the task `serve`, some of them replaced. */
export function spawnAgain(flags: Record<string, string> = {}): Deno.ChildProcess {
  const [, run = "run", ...words] = manifest.tasks.serve.command.split(" ").slice(0, -1);
  return new Deno.Command(Deno.execPath(), {
    args: [
      run,
      ...["--config", fromFileUrl(new URL("deno.json", ROOT))],
      ...words.map((word) => flags[word] ?? word),
      ...[Deno.mainModule, ...Deno.args],
    ],
    env: { [STARTED_AGAIN]: "1" },
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
}
