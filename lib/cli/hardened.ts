import { tmpdir } from "node:os";
import { dirname, fromFileUrl, isAbsolute } from "@std/path";
import manifest from "../../deno.json" with { type: "json" };
import type { Options } from "../config/option_table.ts";
import { GatewayError } from "../core/errors.ts";
import { ROOT } from "../core/product.ts";

/** The folders that a gateway writes: data with its logs, the store, and those of evaluation runs. */
export function writtenFolders({ dataDir, kv }: Pick<Options, "dataDir" | "kv">): string[] {
  const store = kv !== undefined && isAbsolute(kv) ? [dirname(kv)] : [];
  return [...new Set([...(dataDir === undefined ? [] : [dataDir]), ...store, tmpdir()])];
}

/**
 * The flags of the serve task, with permission to write in some folders only. Deno cannot narrow what
 * a process already may, only take all of it away, so this takes another process.
 */
export function hardenedFlags(folders: readonly string[]): string[] {
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
  const folders = writtenFolders(options);
  for (const folder of folders) await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  return new Deno.Command(Deno.execPath(), {
    args: [...hardenedFlags(folders), Deno.mainModule, ...Deno.args],
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
}
