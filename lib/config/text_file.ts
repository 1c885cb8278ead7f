import { configError } from "./problem.ts";

/** Larger than any real configuration; keeps a wrong path from filling the memory. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** The file's text, or undefined where there is no such file. */
export async function findTextFile(path: string): Promise<string | undefined> {
  try {
    const info = await Deno.stat(path);
    if (info.isDirectory) {
      throw configError(`Cannot read ${path}: it is a folder`, "Name a file inside it");
    }
    if (!info.isFile) {
      throw configError(`Cannot read ${path}: it is not a regular file`, "Name a file");
    }
    if (info.size > MAX_FILE_BYTES) {
      throw configError(
        `Cannot read ${path}: it is larger than 4 MiB`,
        "Name a configuration file; this is probably another one",
      );
    }
    return decode(path, await Deno.readFile(path));
  } catch (error) {
    // A parent that is a file means the same to the reader as a parent that is missing.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return undefined;
    }
    if (error instanceof Deno.errors.NotCapable) {
      throw configError(
        `Cannot read ${path}: Deno was not allowed to`,
        `Start with --allow-read, or with a file in a folder that is allowed`,
        error,
      );
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      throw configError(
        `Cannot read ${path}: permission denied`,
        "Give your user the right to read it",
        error,
      );
    }
    if (error instanceof Deno.errors.FilesystemLoop) {
      throw configError(
        `Cannot read ${path}: its symbolic links form a circle`,
        "Correct the link",
        error,
      );
    }
    throw error;
  }
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw configError(`Cannot read ${path}: it is not UTF-8 text`, "Save it as UTF-8", error);
  }
}
