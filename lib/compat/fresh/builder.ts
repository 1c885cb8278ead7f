import { isAbsolute, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { App, type Handler, type ListenOptions, serve } from "./app.ts";
import { applyBuild, type Build, islandLoader } from "./build.ts";
import { type Bundle, bundleForBrowser } from "./bundle.ts";
import { crawl, type FoundRoute } from "./crawl.ts";
import { log } from "./log.ts";
import { ALIVE_PATH } from "./page_renderer.ts";
import { hashOf, staticFinder } from "./static_dir.ts";
import { chunkUrl, islandName, writeBuild } from "./write_build.ts";

export interface BuildOptions {
  /** Accepted for the real package's sake: the bundler always writes for current browsers. */
  target?: string | string[];
  /** What the other paths are relative to. Default: the current folder. */
  root?: string;
  /** Default: "main.ts" */
  serverEntry?: string;
  /** Default: "_fresh" */
  outDir?: string;
  /** Default: "static" */
  staticDir?: string | string[];
  /** Default: "islands" */
  islandDir?: string;
  /** Default: "routes" */
  routeDir?: string;
  /** Files that are neither routes nor islands. Default: tests. */
  ignore?: RegExp[];
  sourceMap?: {
    kind?: boolean | "linked" | "inline" | "external" | "both";
    sourceRoot?: string;
    sourcesContent?: boolean;
  };
}

export interface ResolvedBuildConfig
  extends Required<Omit<BuildOptions, "staticDir" | "sourceMap">> {
  staticDir: string[];
  sourceMap: boolean;
  mode: "development" | "production";
}

const TEST_FILES = /[._]test\.(?:[tj]sx?|[mc][tj]s)$/;

/** Finds routes and islands, bundles what the browser needs, and serves or writes it. */
export class Builder<_State = unknown> {
  config: ResolvedBuildConfig;

  constructor(options: BuildOptions = {}) {
    const root = toPath(options.root ?? ".", Deno.cwd());
    this.config = {
      target: options.target ?? [],
      root,
      serverEntry: toPath(options.serverEntry ?? "main.ts", root),
      outDir: toPath(options.outDir ?? "_fresh", root),
      staticDir: [options.staticDir ?? "static"].flat().map((dir) => toPath(dir, root)),
      islandDir: toPath(options.islandDir ?? "islands", root),
      routeDir: toPath(options.routeDir ?? "routes", root),
      ignore: options.ignore ?? [TEST_FILES],
      sourceMap: Boolean(options.sourceMap?.kind),
      mode: "production",
    };
  }

  /** Builds for production. With `snapshot: "memory"` nothing is written: for tests. */
  async build(
    options: { mode?: ResolvedBuildConfig["mode"]; snapshot?: "disk" | "memory" } = {},
  ): Promise<<State>(app: App<State>) => void> {
    const mode = this.config.mode = options.mode ?? "production";
    if (options.snapshot === "memory") {
      const build = await this.#inMemory();
      return (app) => applyBuild(app, build, mode);
    }
    const { islands, routes } = await crawl(this.config);
    const bundle = await this.#bundle(islands);
    await writeBuild(this.config, { islands, routes, bundle });
    log(`Assets written to: ${this.config.outDir}`);
    return () => {};
  }

  /** Serves for development. Each process has its own build, by which browsers notice a restart. */
  async listen<State>(
    importApp: () => Promise<{ app: App<State> } | App<State>>,
    options: ListenOptions = {},
  ): Promise<void> {
    this.config.mode = "development";
    const [imported, build] = await Promise.all([importApp(), this.#inMemory()]);
    const app = imported instanceof App ? imported : imported.app;
    applyBuild(app, build, "development");
    const { basePath } = app.config;
    await serve(withAlive(app.handler(), basePath, build.id), options, basePath);
  }

  async #bundle(islands: string[]): Promise<Bundle> {
    return await bundleForBrowser(islands, {
      minify: this.config.mode === "production",
      sourceMap: this.config.sourceMap || this.config.mode === "development",
    });
  }

  async #inMemory(): Promise<Build> {
    const { islands, routes } = await crawl(this.config);
    const bundle = await this.#bundle(islands);
    const id = this.config.mode === "development"
      ? crypto.randomUUID().slice(0, 8)
      : hashOf(...bundle.chunks.map(({ contents }) => contents));
    const chunks = new Map(
      bundle.chunks.map(({ path, contents }) => [chunkUrl(id, path), contents]),
    );
    const findStatic = staticFinder(this.config.staticDir);
    const url = (path: string) => pathToFileURL(path).href;
    return {
      id,
      root: this.config.root,
      runtime: chunkUrl(id, bundle.runtime),
      islands: islandLoader(islands.map((path, index) => ({
        name: islandName(path),
        chunk: chunkUrl(id, bundle.islands[index] ?? ""),
        load: () => import(url(path)),
      }))),
      routes: await Promise.all(routes.map(async ({ id, path, eager }: FoundRoute) => ({
        id,
        module: eager ? await import(url(path)) : () => import(url(path)),
      }))),
      find: (pathname) => {
        const contents = chunks.get(pathname);
        return contents === undefined ? findStatic(pathname) : {
          hash: hashOf(contents),
          size: contents.byteLength,
          contentType: "text/javascript; charset=utf-8",
          immutable: true,
          open: () => Promise.resolve(contents),
        };
      },
    };
  }
}

function toPath(path: string, root: string): string {
  if (path.startsWith("file://")) return fileURLToPath(path);
  return isAbsolute(path) ? path : join(root, path);
}

/** Adds the stream by which open pages learn that another process has taken over. */
function withAlive(handler: Handler, basePath: string, id: string): Handler {
  return async (req, info) => {
    if (new URL(req.url).pathname !== basePath + ALIVE_PATH) return await handler(req, info);
    const hello = new TextEncoder().encode(`retry: 300\ndata: ${id}\n\n`);
    // Never closed here: it ends with the process, and that is the message.
    const body = new ReadableStream({ start: (controller) => controller.enqueue(hello) });
    return new Response(body, {
      headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" },
    });
  };
}
