import { host } from "./host.ts";
import { type BuiltApp, runGateway } from "./lib/cli/serve.ts";

/** Starts the gateway; the build makes one program of this and all it needs. */
export function run(
  loadApp: () => Promise<BuiltApp> = () =>
    import(new URL("./_fresh/server.js", import.meta.url).href),
): void {
  // Not awaited: what is loaded later may wait for the modules that are loaded now.
  void runGateway(host, loadApp);
}
