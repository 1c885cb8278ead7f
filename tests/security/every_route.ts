import { fromFileUrl, join, toFileUrl } from "@std/path";
import * as z from "zod";
import { STATIC_FOLDERS } from "../../lib/cli/bundle.ts";
import { parseEndpoint } from "../../lib/http/endpoint_path.ts";
import { METADATA_PATH } from "../../lib/http/resource_metadata.ts";
import { OPERATIONS } from "../../lib/operations/all.ts";
import { OLD_PATHS } from "../../lib/operations/old_paths.ts";

const root = fromFileUrl(new URL("../..", import.meta.url));

/** All that a route which takes any method is tried with. */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** What stands for a parameter: by the folder before it ("tokens/[id]"), or by its name alone. */
export type Things = Record<string, string>;

export interface Route {
  /** The file that it was found in. */
  from: string;
  path: string;
  methods: string[];
}

const NO_ROUTE = /^_(app|layout|middleware|error|404)$/;
const RouteModule = z.looseObject({
  handler: z.unknown().optional(),
  handlers: z.unknown().optional(),
  default: z.unknown().optional(),
  config: z.looseObject({ routeOverride: z.undefined().optional() }).optional(),
});

/** Everything that the gateway answers at its port, read from the files that say so. */
export async function everyRoute(things: Things): Promise<Route[]> {
  const endpoints = endpointsIn(await sourceOf("lib/http/endpoint_path.ts"), things);
  const direct = ["lib/http/direct_answer.ts", "lib/cli/serve.ts"].map(async (file) =>
    directIn(file, await sourceOf(file), endpoints)
  );
  return [
    ...await fileRoutes(things),
    ...operationRoutes(things),
    ...endpoints,
    ...(await Promise.all(direct)).flat(),
    ...chainIn(await sourceOf("app.ts")),
    ...(await Promise.all(STATIC_FOLDERS.map(staticRoutes))).flat(),
    ...builtIn(await filesBelow("_fresh/static")),
  ];
}

async function fileRoutes(things: Things): Promise<Route[]> {
  const files = (await filesBelow("routes")).map((file) => ({ file, path: pathOf(file, things) }));
  return await Promise.all(files.flatMap(({ file, path }) =>
    path === undefined ? [] : [
      import(toFileUrl(join(root, file)).href).then((module) => ({
        from: file,
        path,
        methods: methodsOf(file, { ...module }),
      })),
    ]
  ));
}

/** Operations by their names, and at the paths that they had before. */
function operationRoutes(things: Things): Route[] {
  const from = "lib/operations/all.ts";
  const named = Array.from(OPERATIONS.values(), ({ name, effect }) => ({
    from,
    path: `/api/${name}`,
    methods: effect === "read" ? ["GET", "HEAD", "POST"] : ["POST"],
  }));
  const old = Object.keys(OLD_PATHS).map((path) => {
    const [method = "", pathname = ""] = path.split(" ");
    const segments = pathname.slice(1).split("/").map((part) => part.replace(/^:(\w+)$/, "[$1]"));
    const methods = method === "GET" ? ["GET", "HEAD"] : [method];
    return { from, path: filled(segments, things, from), methods };
  });
  return [...named, ...old];
}

/** `routes/(console)/tools/[server]/index.tsx` -> `/tools/box`; undefined for what is no route. */
export function pathOf(file: string, things: Things): string | undefined {
  const parts = file.replace(/^routes\//, "").split("/");
  const [name, extension] = parts.pop()!.split(/\.(?=tsx?$)/);
  if (extension === undefined) throw unmapped(file, "it is no .ts or .tsx file");
  if (parts.some((part) => /^\(_\w+\)$/.test(part)) || NO_ROUTE.test(name!)) return undefined;
  const segments = parts.filter((part) => !/^\(\w+\)$/.test(part));
  if (name !== "index") segments.push(name!);
  return filled(segments, things, file);
}

/** The methods that a route's module answers. */
export function methodsOf(file: string, module: Record<string, unknown>): string[] {
  const parsed = RouteModule.safeParse(module);
  if (!parsed.success) throw unmapped(file, "its config gives it another path");
  const { handler = parsed.data.handlers, default: component } = parsed.data;
  if (typeof handler === "function") return METHODS;
  const methods = new Set(Object.keys(Object(handler)));
  if (component !== undefined) methods.add("GET");
  if (methods.has("GET")) methods.add("HEAD");
  if (methods.size === 0) throw unmapped(file, "it exports neither a handler nor a page");
  for (const method of methods) {
    if (!METHODS.includes(method)) throw unmapped(file, `"${method}" is no method`);
  }
  return [...methods];
}

/** The MCP endpoints, of the patterns that tell them from other paths. */
export function endpointsIn(source: string, things: Things): Route[] {
  const from = "lib/http/endpoint_path.ts";
  const patterns = Array.from(source.matchAll(/= \/\^https\?:\\\/\\\/\[\^\/\?#\]\+(.*)\/;$/gm));
  if (patterns.length !== source.split("/^http").length - 1) {
    throw unmapped(from, "a pattern is written in another way");
  }
  const paths = patterns.flatMap(([, pattern]) => {
    const plain = pattern!.replaceAll("\\/", "/").replace("(\\?[^#]*)?$", "")
      .replace("([A-Za-z0-9_-]{1,64})", "[name]");
    const [, before, either, after] = /^(.*?)\(\?:([\w|]+)\)(.*)$/.exec(plain) ?? ["", plain];
    return (either ?? "").split("|").map((word) =>
      filled(`${before}${word}${after ?? ""}`.split("/").slice(1), things, from)
    );
  });
  const kinds = new Set<string | undefined>(
    paths.map((path) => parseEndpoint(`http://localhost${path}`)?.kind),
  );
  for (const [, kind] of source.matchAll(/\| \{ kind: "(\w+)"/g)) {
    if (!kinds.has(kind)) throw unmapped(from, `no path of the kind "${kind}" was found`);
  }
  if (kinds.has(undefined)) throw unmapped(from, `not all of ${paths.join(" ")} are endpoints`);
  return paths.map((path) => ({ from, path, methods: METHODS }));
}

/** How a path is looked up, in the files that answer without a page; any other way is unknown. */
const LOOKUPS = [
  "const { pathname } = new URL(request.url);",
  "pathname === METADATA_PATH",
  "pathname.startsWith(`${METADATA_PATH}/`)",
  "host.resourceMetadata.answer(pathname)",
  "Object.hasOwn(ANSWERS, pathname)",
  "ANSWERS[pathname]",
  // Only makes a path readable for the pages.
  "decodeURI(url.pathname);",
  'url.pathname = url.pathname.replaceAll("%", "%25");',
];

/** What is answered without a page: paths of a table, and all below the one for metadata. */
export function directIn(from: string, source: string, endpoints: readonly Route[]): Route[] {
  const rest = LOOKUPS.reduce((text, lookup) => text.replaceAll(lookup, ""), source);
  const unknown = rest.split("\n").find((line) => /pathname/i.test(line));
  if (unknown !== undefined) throw unmapped(from, `it looks up a path by \`${unknown.trim()}\``);
  const listed = Array.from(source.matchAll(/^ +"(\/[^"]*)": /gm), ([, path]) => path!);
  const below = source.includes("METADATA_PATH")
    ? ["", ...endpoints.map(({ path }) => path)].map((path) => METADATA_PATH + path)
    : [];
  return [...listed, ...below].map((path) => ({ from, path, methods: ["GET", "HEAD"] }));
}

/** What the app's chain answers beside the files. */
export function chainIn(source: string): Route[] {
  const from = "app.ts";
  const calls = Array.from(source.matchAll(/^ {2}\.(\w+)\((?:"([^"]*)")?/gm));
  if (calls.length === 0) throw unmapped(from, "no chain was found");
  return calls.flatMap(([text, step, path]) => {
    if (path === undefined && (step === "use" || step === "fsRoutes")) return [];
    const methods = METHODS.filter((method) => method.toLowerCase() === step);
    if (step === "get") methods.push("HEAD");
    if (step === "use" || step === "all" || step === "route") methods.push(...METHODS);
    if (methods.length === 0 || !/^(\/[\w.~-]+)+$/.test(path ?? "")) throw unmapped(from, text);
    return [{ from, path: path!, methods }];
  });
}

/** One of each folder's scripts: the build makes many, and one line answers for all. */
function builtIn(files: string[]): Route[] {
  const scripts = files.filter((file) => file.includes("/_fresh/js/"));
  const folders = Map.groupBy(scripts, (file) => file.slice(0, file.lastIndexOf("/")));
  return Array.from(
    folders.values(),
    ([file]) => staticRoute(file!, file!.replace(/^.*(?=\/_fresh\/js\/)/, "")),
  );
}

async function staticRoutes(folder: string): Promise<Route[]> {
  return (await filesBelow(folder)).map((file) => staticRoute(file, file.slice(folder.length)));
}

function staticRoute(from: string, path: string): Route {
  return { from, path, methods: ["GET", "HEAD"] };
}

function filled(segments: string[], things: Things, file: string): string {
  const path = segments.map((segment, index) => {
    const parameter = /^\[(?:\[(\w+)\]|(?:\.\.\.)?(\w+))\]$/.exec(segment);
    if (parameter) {
      const name = `[${parameter[1] ?? parameter[2]}]`;
      return things[`${segments[index - 1]}/${name}`] ?? things[name] ?? "any";
    }
    if (!/^[\w.~-]+$/.test(segment)) throw unmapped(file, `"${segment}" cannot be read`);
    return segment;
  });
  return `/${path.join("/")}`;
}

async function filesBelow(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(root, folder))) {
    files.push(...isDirectory ? await filesBelow(`${folder}/${name}`) : [`${folder}/${name}`]);
  }
  return files.sort();
}

function sourceOf(file: string): Promise<string> {
  return Deno.readTextFile(join(root, file));
}

function unmapped(file: string, reason: string): Error {
  return new Error(
    `Cannot tell which paths ${file} answers: ${reason}. Teach tests/security/every_route.ts`,
  );
}
