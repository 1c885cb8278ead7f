import { dirname, join, relative } from "node:path";
import type { BuildParts, BuildPaths } from "./build_parts.ts";

/**
 * Writes a build. Its files go into a folder of their own and server.js is put in place last, in
 * one step: whoever stops in the middle leaves the build that was there before.
 */
export async function writeBuild(paths: BuildPaths, build: BuildParts): Promise<void> {
  const staticOut = join(paths.outDir, "static");
  for (const [pathname, { contents }] of build.files) {
    const path = join(staticOut, build.id, pathname);
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeFile(path, contents);
  }
  const next = join(paths.outDir, "server.js.next");
  await Deno.mkdir(paths.outDir, { recursive: true });
  await Deno.writeTextFile(next, serverModule(paths, build));
  await Deno.rename(next, join(paths.outDir, "server.js"));
  for await (const { name } of Deno.readDir(staticOut)) {
    if (name !== build.id) await Deno.remove(join(staticOut, name), { recursive: true });
  }
}

function serverModule(paths: BuildPaths, { id, runtime, islands, routes, files }: BuildParts) {
  const text = (value: unknown) => JSON.stringify(value);
  const from = (path: string) => text(`./${relative(paths.outDir, path).replaceAll("\\", "/")}`);
  const eager = routes.filter((route) => route.eager);
  const table = Array.from(
    files,
    ([path, { contents: _, ...file }]) => `${text(path)}: ${text(file)},`,
  );
  return [
    "// Written by the build: changes are lost with the next one.",
    'import { applyWrittenBuild } from "fresh/internal";',
    `import { app } from ${from(paths.serverEntry)};`,
    ...eager.map(({ path }, index) => `import * as route${index} from ${from(path)};`),
    "applyWrittenBuild(app, {",
    `id: ${text(id)},`,
    `root: new URL(${from(paths.root)} + "/", import.meta.url),`,
    `folder: new URL(${text(`./static/${id}/`)}, import.meta.url),`,
    `runtime: ${text(runtime)},`,
    "islands: [",
    ...islands.map(({ name, chunk, path }) =>
      `{ name: ${text(name)}, chunk: ${text(chunk)}, load: () => import(${from(path)}) },`
    ),
    "],",
    "routes: [",
    ...routes.map((route) => {
      const module = route.eager
        ? `route${eager.indexOf(route)}`
        : `() => import(${from(route.path)})`;
      return `{ id: ${text(route.id)}, module: ${module} },`;
    }),
    "],",
    "files: {",
    ...table,
    "},",
    "});",
    "export default { fetch: app.handler() };",
    "",
  ].join("\n");
}
