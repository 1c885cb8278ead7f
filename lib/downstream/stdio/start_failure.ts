import { isAbsolute, join } from "node:path";
import { codeOf } from "../../core/code_of.ts";

/** Why a program could not be started, in words that say what to change. */
export async function startFailure(
  error: unknown,
  { command, cwd }: { command: string; cwd?: string | undefined },
): Promise<string> {
  if (cwd !== undefined) {
    const folder = await find(cwd);
    if (folder === undefined) return `its folder "${cwd}" does not exist`;
    if (!folder.isDirectory) return `its folder "${cwd}" is not a folder`;
  }
  const isPath = /[/\\]/.test(command);
  const code = codeOf(error);
  const isMissing = code === "ENOENT";
  if (isMissing && !isPath) return `command "${command}" is not on PATH`;
  const file = isPath
    ? await find(isAbsolute(command) ? command : join(cwd ?? ".", command))
    : undefined;
  if (isPath && file === undefined) return `there is no file "${command}"`;
  if (file?.isDirectory) return `"${command}" is a folder, not a program`;
  if (isMissing) return `the program that "${command}" names in its first line is missing`;
  if (code === "EACCES") return `"${command}" is not executable`;
  return error instanceof Error ? error.message : String(error);
}

async function find(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(path);
  } catch {
    return undefined;
  }
}
