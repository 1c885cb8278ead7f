import { basename, dirname } from "@std/path";
import { configError } from "../config/files.ts";

/** Writes a file in one step, so that nobody ever reads half of it; over another one only by force. */
export async function writeNew(
  path: string,
  content: string | ReadableStream<Uint8Array>,
  { force, isPrivate = false }: { force: boolean; isPrivate?: boolean },
): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const mode = isPrivate ? { mode: 0o600 } : {};
    await Deno.writeFile(draft, bytes, { createNew: true, ...mode });
    if (!force && await isThere(path)) {
      throw configError(`${path} is there already`, "Overwrite it with --force");
    }
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    if (error instanceof Deno.errors.NotFound) {
      throw configError(
        `Cannot write ${basename(path)}: there is no folder ${dirname(path)}`,
        "Make the folder, or name another file",
        error,
      );
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      throw configError(
        `Cannot write ${path}: permission denied`,
        "Give your user the right to write there",
        error,
      );
    }
    throw error;
  }
}

function isThere(path: string): Promise<boolean> {
  return Deno.lstat(path).then(() => true, () => false);
}
