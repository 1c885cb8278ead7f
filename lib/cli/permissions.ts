import { fromFileUrl } from "@std/path";
import manifest from "../../deno.json" with { type: "json" };
import {
  dataFolders,
  PROCESS_ENV,
  processEnv,
  thisMachine,
  writeFlag,
  writtenFolders,
} from "../config/folders.ts";
import type { ReadOptions } from "../config/options.ts";
import type { Env } from "../config/platform.ts";
import { GatewayError } from "../core/errors.ts";
import { ROOT } from "../core/product.ts";
import { spawnForwarding } from "./forward_signals.ts";

/** Set for a program that was started again, which never starts itself once more. */
const STARTED_AGAIN = "QUARTERMASTER_STARTED_AGAIN";

/**
 * Starts the gateway again with permissions that fit its options, if it may not write its data: the
 * launcher that chose them does not know every option. Resolves with its exit code; with undefined if
 * they fit, or if the gateway may write everywhere and `--harden` is not set.
 */
export async function startAgain(read: ReadOptions, env: Env): Promise<number | undefined> {
  const isSecond = Deno.env.has(STARTED_AGAIN);
  // A gateway that is started from this process later is not the second one.
  Deno.env.delete(STARTED_AGAIN);
  if (isSecond) return undefined;
  const { harden, dataDir, kv } = read.options;
  const machine = thisMachine(env);
  for (const [name, value] of Object.entries(processEnv(machine))) {
    // The others count at the start of a process only.
    if (name in PROCESS_ENV) continue;
    // A client that starts an entry may have another one than the terminal where the entry was written.
    const isOther = name === "TMPDIR" && !mayWrite(value);
    Deno.env.set(name, isOther ? "/tmp" : value);
  }
  const folders = writtenFolders({ dataDir, kv }, machine);
  const data = dataFolders({ dataDir, kv }, machine);
  const fits = mayWrite() || data.every((folder) => mayWrite(folder));
  if (fits && !harden) return undefined;
  const others = ["net", "read", "env", "run"] as const;
  const narrowed = others.find((name) => Deno.permissions.querySync({ name }).state !== "granted");
  if (narrowed !== undefined) {
    throw new GatewayError(
      "CONFIG_INVALID",
      fits
        ? {
          message: `Cannot start with --harden: it would widen Deno's permission "${narrowed}"`,
          recoveryAction: `Start it with --allow-${narrowed}, or without --harden`,
        }
        : {
          message: `Cannot start: Deno's permissions do not include writing to ${
            data.join(" and ")
          }`,
          recoveryAction: `Start it with --allow-write=${
            data.join(",")
          }, or with \`deno task start\``,
        },
    );
  }
  return harden
    ? await startHardened(folders, read, env)
    : await spawnAgain({ "--allow-write": writeFlag(folders) });
}

async function startHardened(
  folders: readonly string[],
  read: ReadOptions,
  env: Env,
): Promise<number> {
  const odd = folders.find((folder) => folder.includes(","));
  if (odd !== undefined) {
    throw new GatewayError("CONFIG_INVALID", {
      message:
        `Cannot start with --harden: the path of ${odd} has a comma, which separates folders`,
    });
  }
  const { SOCKETS_VARIABLE, socketsIn } = await import(
    "../servers/processes/isolation/egress_proxy.ts"
  );
  const { reachedHosts } = await import("./reached_hosts.ts");
  const hosts = await reachedHosts(read, env);
  // Deno permits sockets only by their whole path, so their places are chosen before.
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_proxy_" });
  const sockets = socketsIn(folder).map((socket) => `unix:${socket}`);
  const flags = {
    "--allow-write": writeFlag(folders),
    "--allow-net": `--allow-net=${[...hosts, ...sockets].join(",")}`,
  };
  try {
    return await spawnAgain(flags, { [SOCKETS_VARIABLE]: folder });
  } finally {
    // The system may have removed it already.
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }
}

/** Whether this process may write in a folder, or everywhere. */
export function mayWrite(path?: string): boolean {
  const name = "write";
  const wanted = path === undefined ? { name } as const : { name, path } as const;
  return Deno.permissions.querySync(wanted).state === "granted";
}

/**
 * Starts this program again with the flags of the task `serve`, some of them replaced, and passes on its
 * signals. Resolves with its exit code.
 */
export async function spawnAgain(
  flags: Record<string, string> = {},
  env: Record<string, string> = {},
): Promise<number> {
  const [, run = "run", ...words] = manifest.tasks.serve.command.split(" ").slice(0, -1);
  const command = new Deno.Command(Deno.execPath(), {
    args: [
      run,
      ...["--config", fromFileUrl(new URL("deno.json", ROOT))],
      ...words.map((word) => flags[word] ?? word),
      ...[Deno.mainModule, ...Deno.args],
    ],
    env: { ...PROCESS_ENV, ...env, [STARTED_AGAIN]: "1" },
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  });
  return (await spawnForwarding(command).status).code;
}
