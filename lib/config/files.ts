import { dirname } from "node:path";
import { GatewayError } from "../core/errors.ts";
import { nearest } from "../core/text.ts";

export interface ConfigProblem {
  severity: "warning" | "error";
  file: string;
  line: number;
  /** Counted from 1, in UTF-16 units as editors do. */
  column: number;
  message: string;
  fix: string;
  /** The server it concerns, by the name the gateway gives it. */
  server?: string;
}

/** `file:line:column: what`, the form editors and terminals turn into a link. */
export function located(
  place: Pick<ConfigProblem, "file" | "line" | "column">,
  message: string,
): string {
  return `${place.file}:${place.line}:${place.column}: ${message}`;
}

export function formatProblem(problem: ConfigProblem): string {
  return withFix(located(problem, problem.message), problem.fix);
}

/** An error that makes the configuration unusable; the message alone tells what and how to mend it. */
export function configError(message: string, fix: string, cause?: unknown): GatewayError {
  return new GatewayError("CONFIG_INVALID", {
    message: withFix(message, fix),
    recoveryAction: fix,
    ...(cause === undefined ? {} : { cause }),
  });
}

// One sentence, as a terminal shows it; a question stays one of its own.
function withFix(message: string, fix: string): string {
  if (fix.endsWith("?")) return `${message}. ${fix}`;
  return `${message}; ${fix.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase())}`;
}

/** What to do about a name that nothing has. */
export function unknownFix(name: string, known: Iterable<string>): string {
  const guess = nearest(name, known);
  return guess === undefined ? "Remove it" : `Did you mean "${guess}"?`;
}

/** Larger than any real configuration; keeps a wrong path from filling the memory. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

const FAILURES = [
  {
    type: Deno.errors.NotCapable,
    why: "Deno has no permission to read it",
    fix: "Start with --allow-read, or use a file in an allowed folder",
  },
  {
    type: Deno.errors.PermissionDenied,
    why: "permission denied",
    fix: "Give your user read permission",
  },
  {
    type: Deno.errors.FilesystemLoop,
    why: "its symbolic links form a loop",
    fix: "Fix the link",
  },
];

export async function findTextFile(path: string): Promise<string | undefined> {
  const unreadable = (why: string, fix: string, cause?: unknown) =>
    configError(`Cannot read ${path}: ${why}`, fix, cause);
  try {
    const info = await Deno.stat(path);
    if (info.isDirectory) throw unreadable("it is a folder", "Choose a file inside it");
    if (!info.isFile) throw unreadable("it is not a regular file", "Choose a regular file");
    if (info.size > MAX_FILE_BYTES) {
      const fix = "Check the path; this does not look like a configuration file";
      throw unreadable("it is larger than 4 MiB", fix);
    }
    const bytes = await Deno.readFile(path);
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch (error) {
      throw unreadable("it is not UTF-8 text", "Save it as UTF-8", error);
    }
  } catch (error) {
    // A parent that is a file means the same to the reader as a parent that is missing.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return undefined;
    }
    const known = FAILURES.find(({ type }) => error instanceof type);
    throw known ? unreadable(known.why, known.fix, error) : error;
  }
}

export interface FileEdit {
  changed: boolean;
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
      "Give your user write permission",
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
    message: `Another program just changed ${path}; nothing was written`,
    recoverySteps: ["Close the client that uses this file, then try again"],
  });
}
