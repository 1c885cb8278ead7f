import { createHash } from "node:crypto";
import { join, relative } from "@std/path";
import { sh } from "./checkout_copy.ts";

interface Package {
  /** As on JSR: `@fresh/core`. */
  name: string;
  version: string;
  exports: string | Record<string, string>;
  /** Its files, by path from its root. */
  files: Map<string, string>;
}

/** A JSR registry on loopback that has a few packages; without any, all requests fail. */
export interface JsrRegistry extends AsyncDisposable {
  url: string;
}

/** Serves packages in the form that Deno expects of `JSR_URL`. */
export function openJsrRegistry(packages: readonly Package[]): JsrRegistry {
  const answers = new Map(packages.flatMap(answersOf));
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const answer = answers.get(new URL(request.url).pathname);
    if (answer === undefined) return new Response("Not Found", { status: 404 });
    const type = answer.startsWith("{") ? "application/json" : "application/typescript";
    return new Response(answer, { headers: { "content-type": type } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      const { denoDir } = JSON.parse(await sh(Deno.execPath(), ["info", "--json", "--no-config"]));
      // What Deno has kept of it, which nobody asks for again.
      const cached = join(denoDir, "remote/http", `127.0.0.1_PORT${server.addr.port}`);
      await Deno.remove(cached, { recursive: true }).catch(() => {});
    },
  };
}

function answersOf({ name, version, exports, files }: Package): [string, string][] {
  const manifest = Object.fromEntries(Array.from(files, ([path, text]) => {
    const checksum = `sha256-${createHash("sha256").update(text).digest("hex")}`;
    return [path, { size: new TextEncoder().encode(text).length, checksum }];
  }));
  const [scope, short] = name.slice(1).split("/");
  const meta = { scope, name: short, latest: version, versions: { [version]: {} } };
  return [
    [`/${name}/meta.json`, JSON.stringify(meta)],
    [`/${name}/${version}_meta.json`, JSON.stringify({ manifest, exports })],
    ...Array.from(
      files,
      ([path, text]) => [`/${name}/${version}${path}`, text] as [string, string],
    ),
  ];
}

/** A package of a folder, its bare imports replaced by what the import maps say, as publishing does. */
export async function packageIn(folder: string, imports: Record<string, string>): Promise<Package> {
  const manifest = JSON.parse(await Deno.readTextFile(join(folder, "deno.json")));
  const known = { ...imports, ...manifest.imports };
  const files = new Map<string, string>();
  for (const path of await sourcesBelow(folder)) {
    const text = (await Deno.readTextFile(path)).replaceAll(
      /(\bfrom |\bimport\()"([^."][^"]*)"/g,
      (whole, before, specifier) => {
        const name = Object.keys(known).find((name) =>
          specifier === name || specifier.startsWith(`${name}/`)
        );
        if (name === undefined) return whole;
        return `${before}"${known[name]}${specifier.slice(name.length)}"`;
      },
    );
    files.set(`/${relative(folder, path)}`, text);
  }
  const { name, version, exports } = manifest;
  return { name, version, exports, files };
}

async function sourcesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory && name !== "fixture") found.push(...await sourcesBelow(path));
    else if (/(?<!_test)\.ts$/.test(name)) found.push(path);
  }
  return found;
}
