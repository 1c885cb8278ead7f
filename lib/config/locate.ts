import { join, resolve } from "node:path";
import { configError } from "./problem.ts";
import { findTextFile } from "./text_file.ts";

export interface LocateInput {
  /** What --config names; then nothing else is looked at. */
  path?: string | undefined;
  cwd: string;
  configDir?: string | undefined;
}

/** The files that may name the servers, first come first served. */
export function candidateFiles({ path, cwd, configDir }: LocateInput): string[] {
  if (path !== undefined) return [resolve(cwd, path)];
  const files = [join(cwd, ".mcp.json")];
  if (configDir !== undefined) {
    files.push(join(configDir, "mcp.json"), join(configDir, ".mcp.json"));
  }
  return files;
}

/** The first of the candidates that is there; a file that was asked for by name has to be. */
export async function locateServersFile(
  input: LocateInput,
): Promise<{ file: string; text: string } | undefined> {
  for (const file of candidateFiles(input)) {
    const text = await findTextFile(file);
    if (text !== undefined) return { file, text };
  }
  if (input.path === undefined) return undefined;
  throw configError(
    `Cannot read ${resolve(input.cwd, input.path)}: there is no such file`,
    "Correct --config, or leave it out",
  );
}
