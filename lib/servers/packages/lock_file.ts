import { dirname, join } from "node:path";
import * as z from "zod";
import { errorMessage, GatewayError } from "../../core/errors.ts";
import { PACKAGE_CHANGED } from "../../core/failure_cause.ts";
import type { ServerSource } from "../../core/server.ts";
import { type PackagePin, PackageVersion } from "../../storage/packages_repository.ts";

const FILE_NAME = "mcp.lock";

const LockedServer = z.strictObject({
  wanted: z.array(z.string()),
  packages: z.array(PackageVersion).min(1),
  /** The content of a package-lock.json, or the text of a requirements.txt. */
  tree: z.record(z.string(), z.unknown()).or(z.string()).optional(),
});

/** `mcp.lock`: what servers of a config file run, to be kept and reviewed beside that file. */
export const LockFile = z.strictObject({
  version: z.literal(1),
  servers: z.record(z.string(), LockedServer),
});
export type LockFile = z.infer<typeof LockFile>;
export type LockedServer = z.infer<typeof LockedServer>;

/** What the lock file beside a server's config file says about it. Throws if that does not fit its entry. */
export async function findLocked(
  name: string,
  source: ServerSource,
  wanted: readonly string[],
): Promise<LockedServer | undefined> {
  if (source.kind !== "file") return undefined;
  const path = join(dirname(source.path), FILE_NAME);
  const text = await Deno.readTextFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw unreadable(path, error);
  });
  if (text === undefined) return undefined;
  let file: LockFile;
  try {
    file = LockFile.parse(JSON.parse(text));
  } catch (error) {
    throw unreadable(path, error);
  }
  const locked = Object.hasOwn(file.servers, name) ? file.servers[name] : undefined;
  if (locked && locked.wanted.join("\n") !== wanted.join("\n")) {
    throw new GatewayError("PACKAGE_CHANGED", {
      message: `The entry of server "${name}" ${PACKAGE_CHANGED}: it names ${wanted.join(", ")}, ` +
        `${path} names ${locked.wanted.join(", ")}`,
      recoverySteps: [`Change one of them, or remove "${name}" from ${path}`],
    });
  }
  return locked;
}

export function lockFileOf(
  pins: readonly { pin: PackagePin; tree: string | undefined }[],
): LockFile {
  const servers = pins.map(({ pin: { server, wanted, packages, installer }, tree }) =>
    [server, {
      wanted,
      packages,
      ...(tree === undefined ? {} : { tree: installer === "uvx" ? tree : JSON.parse(tree) }),
    }] as const
  );
  return { version: 1, servers: Object.fromEntries(servers) };
}

function unreadable(path: string, error: unknown): GatewayError {
  return new GatewayError("CONFIG_INVALID", {
    message: `Cannot read ${path}: ${errorMessage(error)}`,
    recoverySteps: ["Write it again with `quartermaster package lock`, or remove it"],
  });
}
