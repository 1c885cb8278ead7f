import { basename, join, relative } from "node:path";

export interface FoundRoute {
  id: string;
  path: string;
  /** Whether the file has to be loaded before the first request. */
  eager: boolean;
}

const CODE = /\.(tsx|ts|jsx|js)$/;
const SPECIAL = /^_(app|layout|middleware|error|404|500)$/;

/** All files below a folder, sorted; none when there is no such folder. */
export async function findFiles(dir: string): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const { name, isDirectory, isFile } of Deno.readDir(dir)) {
      if (isDirectory) found.push(...await findFiles(join(dir, name)));
      else if (isFile) found.push(join(dir, name));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found.sort();
}

export async function crawl(
  { islandDir, routeDir, ignore }: { islandDir: string; routeDir: string; ignore: RegExp[] },
): Promise<{ islands: string[]; routes: FoundRoute[] }> {
  const isCode = (path: string) => CODE.test(path) && !ignore.some((one) => one.test(path));
  const islands = (await findFiles(islandDir)).filter(isCode);
  const routes: FoundRoute[] = [];
  for (const path of (await findFiles(routeDir)).filter(isCode)) {
    const id = `/${relative(routeDir, path).replaceAll("\\", "/").replace(CODE, "")}`;
    // `(_islands)`, `(_components)`: folders with an underscore are no routes.
    const hidden = /\/\((_[^/]+)\)\//.exec(id)?.[1];
    if (hidden === "_islands") islands.push(path);
    if (hidden !== undefined) continue;
    const code = await Deno.readTextFile(path);
    routes.push({ id, path, eager: SPECIAL.test(basename(id)) || code.includes("routeOverride") });
  }
  return { islands, routes };
}
