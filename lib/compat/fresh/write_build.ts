import { basename, dirname, join, relative } from "node:path";
import type { Bundle } from "./bundle.ts";
import { findFiles, type FoundRoute } from "./crawl.ts";
import { hashOf, isServable } from "./static_dir.ts";

interface Found {
  islands: string[];
  routes: FoundRoute[];
  bundle: Bundle;
}

interface Paths {
  root: string;
  outDir: string;
  serverEntry: string;
  staticDir: string[];
}

export function chunkUrl(id: string, path: string): string {
  return `/_fresh/js/${id}/${path}`;
}

export function islandName(path: string): string {
  return basename(path).replace(/\.\w+$/, "");
}

/**
 * Writes a build. Its files go into a folder of their own and server.js is put in place last, in
 * one step: whoever stops in the middle leaves the build that was there before.
 */
export async function writeBuild(paths: Paths, { islands, routes, bundle }: Found): Promise<void> {
  const statics = await readStatics(paths.staticDir, paths.outDir);
  const id = hashOf(
    ...bundle.chunks.flatMap(({ path, contents }) => [path, contents]),
    ...[...statics].flatMap(([pathname, contents]) => [pathname, contents]),
  );

  const files = new Map(statics);
  for (const { path, contents } of bundle.chunks) files.set(chunkUrl(id, path), contents);
  const staticOut = join(paths.outDir, "static");
  for (const [pathname, contents] of files) {
    const path = join(staticOut, id, pathname);
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeFile(path, contents);
  }

  const table = Object.fromEntries(
    [...files].map(([pathname, contents]) => [pathname, {
      hash: hashOf(contents),
      size: contents.byteLength,
      ...(statics.has(pathname) ? {} : { immutable: true }),
    }]),
  );
  const next = join(paths.outDir, "server.js.next");
  await Deno.writeTextFile(next, serverModule(paths, { id, islands, routes, bundle, table }));
  await Deno.rename(next, join(paths.outDir, "server.js"));

  for await (const { name } of Deno.readDir(staticOut)) {
    if (name !== id) await Deno.remove(join(staticOut, name), { recursive: true });
  }
}

async function readStatics(
  dirs: string[],
  outDir: string,
): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const found = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const dir of dirs) {
    for (const path of await findFiles(dir)) {
      const pathname = `/${relative(dir, path).replaceAll("\\", "/")}`;
      const isOutput = !relative(outDir, path).startsWith("..");
      // The first folder that has a file wins.
      if (isOutput || found.has(pathname) || !isServable(pathname)) continue;
      found.set(pathname, await Deno.readFile(path));
    }
  }
  return found;
}

function serverModule(
  paths: Paths,
  build: Found & { id: string; table: Record<string, unknown> },
): string {
  const text = (value: unknown) => JSON.stringify(value);
  const specifier = (path: string) => {
    const result = relative(paths.outDir, path).replaceAll("\\", "/");
    return text(result.startsWith(".") ? result : `./${result}`);
  };
  const eager = build.routes.filter((route) => route.eager);
  const islands = build.islands.map((path, index) =>
    `    { name: ${text(islandName(path))}, chunk: ${
      text(chunkUrl(build.id, build.bundle.islands[index] ?? ""))
    }, load: () => import(${specifier(path)}) },`
  );
  const routes = build.routes.map((route) => {
    const index = eager.indexOf(route);
    const module = index === -1 ? `() => import(${specifier(route.path)})` : `route${index}`;
    return `    { id: ${text(route.id)}, module: ${module} },`;
  });
  const root = relative(paths.outDir, paths.root).replaceAll("\\", "/");

  return `// Written by the build: changes are lost with the next one.
import { applyWrittenBuild } from "fresh/internal";
import { app } from ${specifier(paths.serverEntry)};
${eager.map(({ path }, index) => `import * as route${index} from ${specifier(path)};`).join("\n")}

applyWrittenBuild(app, {
  id: ${text(build.id)},
  root: new URL(${text(`${root === "" ? "." : root}/`)}, import.meta.url),
  files: new URL(${text(`./static/${build.id}/`)}, import.meta.url),
  runtime: ${text(chunkUrl(build.id, build.bundle.runtime))},
  islands: [
${islands.join("\n")}
  ],
  routes: [
${routes.join("\n")}
  ],
  table: ${text(build.table)},
});

export default { fetch: app.handler() };
`;
}
