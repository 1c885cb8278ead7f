import { createHash } from "node:crypto";
import { join } from "@std/path";
import { changeFolder } from "../core/change_folder.ts";

const INPUTS = [
  "routes",
  "islands",
  "components",
  "static",
  "styles",
  "lib",
  "app.ts",
  "host.ts",
  "start.ts",
  "cli.ts",
  "dev.ts",
  "deno.json",
  "deno.lock",
];
/** Folders and files of tests, which do not. */
const TESTS = /^(testing|fixture)$|_test\.tsx?$/;

interface SourceFile {
  path: string;
  size: number;
  /** In ms since the epoch; saves reading a file that has not changed. */
  changed: number;
}

type StampedFile = SourceFile & { hash: string };

/**
 * Notes the contents that a build begins with; what is returned records them when it is done. A build
 * that is broken off has no stamp, and one whose sources change meanwhile is stale.
 */
export function stampBuild(root: string): () => Promise<void> {
  const files = INPUTS.flatMap((input) => sourceFiles(root, input))
    .map((file) => ({ ...file, hash: hashOf(root, file) }));
  if (statOf(stampFile(root))) Deno.removeSync(stampFile(root));
  return () => writeStamp(root, files);
}

/**
 * Whether the build in `_fresh/` matches the current sources, whichever Deno made it.
 * Contents decide: image layers, rsync and restored caches change file times. Files are read synchronously,
 * because nothing else runs yet and a thousand promises would take three times as long.
 */
export async function isBuildCurrent(root: string): Promise<boolean> {
  const stamped = readStamp(root);
  if (!stamped) return false;
  const files = INPUTS.flatMap((input) => sourceFiles(root, input));
  // An installed package has a build but no sources.
  if (files.every(({ path }) => path !== "dev.ts")) return true;
  if (files.length !== stamped.size) return false;
  let isRetimed = false;
  const current: StampedFile[] = [];
  for (const file of files) {
    const known = stamped.get(file.path);
    if (!known || known.size !== file.size) return false;
    if (known.changed !== file.changed) {
      if (known.hash !== hashOf(root, file)) return false;
      isRetimed = true;
    }
    current.push({ ...file, hash: known.hash });
  }
  if (isRetimed) {
    // In a read-only checkout this fails at each start, and contents are compared each time.
    await writeStamp(root, current).catch(() => {});
  }
  return true;
}

function sourceFiles(root: string, path: string): SourceFile[] {
  const whole = `${root}/${path}`;
  const info = statOf(whole);
  if (!info) return [];
  if (!info.isDirectory) return [{ path, size: info.size, changed: info.mtime?.getTime() ?? 0 }];
  return [...Deno.readDirSync(whole)]
    .map(({ name }) => name)
    .filter((name) => !TESTS.test(name))
    .sort()
    .flatMap((name) => sourceFiles(root, `${path}/${name}`));
}

function statOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined;
  }
}

function hashOf(root: string, { path }: SourceFile): string {
  return createHash("sha256").update(Deno.readFileSync(`${root}/${path}`)).digest("base64url");
}

const stampFile = (root: string) => join(root, "_fresh", "stamp");

/** One line per file. */
async function writeStamp(root: string, files: readonly StampedFile[]): Promise<void> {
  const text = files.map(({ path, size, changed, hash }) => `${hash} ${size} ${changed} ${path}\n`);
  await changeFolder(join(root, "_fresh"), { stamp: text.join("") });
}

function readStamp(root: string): Map<string, StampedFile> | undefined {
  let text: string;
  try {
    text = Deno.readTextFileSync(stampFile(root));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  const files = new Map<string, StampedFile>();
  for (const line of text.split("\n")) {
    const [hash = "", size, changed, ...words] = line.split(" ");
    const path = words.join(" ");
    if (path) files.set(path, { path, size: Number(size), changed: Number(changed), hash });
  }
  return files;
}
