import { dirname } from "node:path";
import { GatewayError } from "../core/errors.ts";
import { configError } from "./problem.ts";
import { findTextFile } from "./text_file.ts";

export interface FileEdit {
  changed: boolean;
  /** Where the file is kept as it was before. */
  backup?: string;
}

/**
 * Changes a file of another program's: with a backup beside it, and in one step, so that nobody
 * ever reads half of it. A file that is not there is made.
 */
export async function editFile(
  path: string,
  edit: (text: string) => string,
  now = new Date(),
): Promise<FileEdit> {
  // Through a link to the file itself: a rename would put a file in the link's place.
  const file = await Deno.realPath(path).catch(() => path);
  const before = await findTextFile(file);
  const after = edit(before ?? "");
  if (after === (before ?? "")) return { changed: false };
  try {
    await Deno.mkdir(dirname(file), { recursive: true });
    const backup = before === undefined ? undefined : await backUp(file, now);
    const mode = before === undefined ? 0o600 : (await Deno.stat(file)).mode ?? 0o600;
    const draft = await Deno.makeTempFile({ dir: dirname(file), prefix: ".quartermaster_" });
    try {
      await Deno.writeTextFile(draft, after);
      if (Deno.build.os !== "windows") await Deno.chmod(draft, mode & 0o777);
      if (await findTextFile(file) !== before) throw changedMeanwhile(path);
      await Deno.rename(draft, file);
    } catch (error) {
      await Deno.remove(draft).catch(() => {});
      throw error;
    }
    return { changed: true, ...(backup === undefined ? {} : { backup }) };
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    throw configError(
      `Cannot write ${path}: permission denied`,
      "Give your user the right to write there",
      error,
    );
  }
}

/** `mcp.json.backup-20260131T120000Z`, and a number where that is taken. */
async function backUp(file: string, now: Date): Promise<string> {
  const stamp = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const info = await Deno.stat(file);
  const bytes = await Deno.readFile(file);
  for (let attempt = 1;; attempt++) {
    const backup = `${file}.backup-${stamp}${attempt === 1 ? "" : `-${attempt}`}`;
    try {
      const mode = info.mode === null ? {} : { mode: info.mode & 0o777 };
      await Deno.writeFile(backup, bytes, { createNew: true, ...mode });
      return backup;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists) || attempt >= 100) throw error;
    }
  }
}

function changedMeanwhile(path: string): GatewayError {
  return new GatewayError("CONFLICT", {
    message: `${path} was changed by another program just now; nothing was written`,
    recoverySteps: ["Close the client whose file it is, then try again"],
  });
}
