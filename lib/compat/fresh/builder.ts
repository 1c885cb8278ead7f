import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { App, type Handler, type ListenOptions, serve } from "./app.ts";
import { applyBuild, type Build, islandLoader } from "./build.ts";
import { type BuildPaths, makeBuild } from "./build_parts.ts";
import { log } from "./log.ts";
import { ALIVE_PATH } from "./page_renderer.ts";
import { writeBuild } from "./write_build.ts";

/** Paths may be file URLs, and are relative to `root`, which is the current folder by default. */
export interface BuildOptions {
  /** For the real package: here the bundler always writes for current browsers. */
  target?: string | string[];
  root?: string;
  serverEntry?: string;
  outDir?: string;
  staticDir?: string | string[];
  islandDir?: string;
  routeDir?: string;
  /** Files that are neither routes nor islands. Default: tests. */
  ignore?: RegExp[];
}

type Mode = "development" | "production";

/** Finds routes and islands, bundles what the browser needs, and serves or writes it. */
export class Builder<_State = unknown> {
  config: BuildPaths;

  constructor(options: BuildOptions = {}) {
    const root = toPath(".", options.root ?? ".");
    this.config = {
      root,
      serverEntry: toPath(root, options.serverEntry ?? "main.ts"),
      outDir: toPath(root, options.outDir ?? "_fresh"),
      staticDir: [options.staticDir ?? "static"].flat().map((dir) => toPath(root, dir)),
      islandDir: toPath(root, options.islandDir ?? "islands"),
      routeDir: toPath(root, options.routeDir ?? "routes"),
      ignore: options.ignore ?? [/[._]test\.[cm]?[jt]sx?$/],
    };
  }

  /** Builds for production. With `snapshot: "memory"` nothing is written: for tests. */
  async build(
    { mode = "production", snapshot = "disk" }: { mode?: Mode; snapshot?: "disk" | "memory" } = {},
  ): Promise<<State>(app: App<State>) => void> {
    if (snapshot === "memory") {
      const build = await this.#inMemory(mode);
      return (app) => applyBuild(app, build, mode);
    }
    await writeBuild(this.config, await makeBuild(this.config, { minify: true }));
    log(`Assets written to: ${this.config.outDir}`);
    return () => {};
  }

  /**
   * Serves for development; resolves once the port is open, as on the real package. Each process
   * has its own build, by which browsers notice a restart.
   */
  async listen<State>(
    importApp: () => Promise<{ app: App<State> } | App<State>>,
    options: ListenOptions = {},
  ): Promise<void> {
    const [imported, build] = await Promise.all([importApp(), this.#inMemory("development")]);
    const app = imported instanceof App ? imported : imported.app;
    applyBuild(app, build, "development");
    const { basePath } = app.config;
    serve(withAlive(app.handler(), basePath + ALIVE_PATH, build.id), options, basePath);
  }

  async #inMemory(mode: Mode): Promise<Build> {
    const load = (path: string) => import(pathToFileURL(path).href);
    const { id, runtime, islands, routes, files } = await makeBuild(
      this.config,
      mode === "production" ? { minify: true } : { minify: false, salt: crypto.randomUUID() },
    );
    return {
      id,
      runtime,
      root: this.config.root,
      islands: islandLoader(
        islands.map(({ path, ...rest }) => ({ ...rest, load: () => load(path) })),
      ),
      routes: await Promise.all(routes.map(async ({ id, path, eager }) => {
        return { id, module: eager ? await load(path) : () => load(path) };
      })),
      find: (pathname) => {
        const file = files.get(pathname);
        return file && { ...file, open: () => Promise.resolve(file.contents) };
      },
    };
  }
}

function toPath(root: string, path: string): string {
  return path.startsWith("file:") ? fileURLToPath(path) : resolve(root, path);
}

/** Adds the stream by which open pages learn that another process has taken over. */
function withAlive(handler: Handler, path: string, id: string): Handler {
  return async (req, info) => {
    if (new URL(req.url).pathname !== path) return await handler(req, info);
    const hello = new TextEncoder().encode(`retry: 300\ndata: ${id}\n\n`);
    // Never closed here: it ends with the process, and that is the message.
    const body = new ReadableStream({ start: (controller) => controller.enqueue(hello) });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  };
}
