import { tmpdir } from "node:os";
import { dirname, fromFileUrl, isAbsolute, join } from "@std/path";
import manifest from "../../deno.json" with { type: "json" };
import type { Options } from "../config/option_table.ts";
import { GatewayError } from "../core/errors.ts";
import { ROOT } from "../core/product.ts";
import { packageCache } from "../servers/processes/installer.ts";
import { installEnv } from "../servers/processes/isolation/packages.ts";

/** The folders that a gateway writes: data with its logs, the store, npx's packages, and evaluation runs. */
async function writtenFolders({ dataDir, kv }: Pick<Options, "dataDir" | "kv">) {
  const npm = { family: "npm", env: {} } as const;
  const env = Deno.env.toObject();
  const caches = [env, installEnv(env)].map((each) => packageCache(npm, { env: each }));
  return [
    ...new Set([
      ...(dataDir === undefined ? [] : [dataDir]),
      ...(kv !== undefined && isAbsolute(kv) ? [dirname(kv)] : []),
      ...(await Promise.all(caches)).map((cache) => join(cache, "_npx")),
      tmpdir(),
    ]),
  ];
}

/**
 * The flags of the serve task, with permission to write in some folders only. Deno cannot narrow what
 * a process already may, only take all of it away, so this takes another process.
 */
function hardenedFlags(folders: readonly string[]): string[] {
  const [, run = "run", ...words] = manifest.tasks.serve.command.split(" ");
  const odd = folders.find((folder) => folder.includes(","));
  if (odd !== undefined) {
    throw new GatewayError("CONFIG_INVALID", {
      message:
        `Cannot start with --harden: the path of ${odd} has a comma, which separates folders`,
    });
  }
  return [
    run,
    "--no-prompt",
    ...["--config", fromFileUrl(new URL("deno.json", ROOT))],
    ...words.slice(0, -1).map((word) =>
      word === "--allow-write" ? `${word}=${folders.join(",")}` : word
    ),
  ];
}

/** Starts this program again with `--harden`'s permissions; undefined if it has them. */
export async function startHardened(
  options: Pick<Options, "dataDir" | "kv">,
): Promise<Deno.ChildProcess | undefined> {
  const { state } = await Deno.permissions.query({ name: "write" });
  if (state !== "granted") return undefined;
  const folders = await writtenFolders(options);
  return new Deno.Command(Deno.execPath(), {
    args: [...hardenedFlags(folders), Deno.mainModule, ...Deno.args],
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
}
