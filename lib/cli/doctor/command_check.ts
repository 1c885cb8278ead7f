import { delimiter, isAbsolute, join, resolve } from "node:path";
import { type Env, nonEmpty } from "../../config/platform.ts";
import type { ProgramSpec } from "../../core/server.ts";

/** Why a server's program cannot be started from here; undefined where nothing speaks against it. */
export async function missingProgram(
  { command, cwd, env: own }: Pick<ProgramSpec, "command" | "cwd" | "env">,
  env: Env,
  os: typeof Deno.build.os = Deno.build.os,
): Promise<string | undefined> {
  if (cwd !== undefined && !(await find(cwd))?.isDirectory) {
    return `its folder "${cwd}" does not exist`;
  }
  const ends = os === "windows"
    ? ["", ...(nonEmpty(env, "PATHEXT") ?? ".EXE;.CMD;.BAT").split(";")]
    : [""];
  const isPath = /[/\\]/.test(command);
  const folders = isPath
    ? [isAbsolute(command) ? "" : resolve(cwd ?? ".")]
    : (own.PATH ?? nonEmpty(env, "PATH") ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of folders) {
    for (const end of ends) {
      const info = await find((folder === "" ? command : join(folder, command)) + end);
      if (!info?.isFile) continue;
      if (os === "windows" || info.mode === null || (info.mode & 0o111) !== 0) return undefined;
      if (isPath) return `"${command}" is not executable`;
    }
  }
  return isPath ? `there is no file "${command}"` : `command "${command}" is not on PATH`;
}

async function find(path: string): Promise<Deno.FileInfo | undefined> {
  return await Deno.stat(path).catch(() => undefined);
}
