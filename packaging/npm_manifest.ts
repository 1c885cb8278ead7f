import source from "../deno.json" with { type: "json" };
import { TESTED_DENO } from "../lib/cli/doctor/checks.ts";

/**
 * UNPUBLISHED. The name is a placeholder that nobody has registered for this product: the package is
 * private, so that npm refuses to publish it, until somebody owns a name and sets it here.
 */
export const PACKAGE_NAME = "quartermaster";

/** UNPUBLISHED. The URL of the public repository; there is none yet. */
export const REPOSITORY_URL: string | undefined = undefined;

/** The program that the launcher runs, inside the package. */
const PROGRAM = "_fresh/quartermaster.js";

/** The package.json of the package: npm installs Deno, everything else is bundled. */
export function npmManifest() {
  return {
    name: PACKAGE_NAME,
    version: source.version,
    description: "An MCP gateway with a web console: one endpoint for all your MCP servers",
    license: source.license,
    private: true,
    ...(REPOSITORY_URL === undefined ? {} : { repository: REPOSITORY_URL }),
    type: "module",
    bin: { quartermaster: "bin/quartermaster.mjs" },
    files: ["_fresh/", "bin/", "docs/", "deno.json"],
    engines: { node: ">=18" },
    os: ["linux", "darwin", "win32"],
    cpu: ["x64", "arm64"],
    dependencies: { deno: TESTED_DENO },
  };
}

/** The deno.json of the package: what it is run with, and nothing that only a build needs. */
export function denoManifest() {
  const serve = source.tasks.serve.command.replace(/\S+\.ts$/, PROGRAM);
  return {
    version: source.version,
    unstable: source.unstable.filter((feature) => feature !== "bundle"),
    // npm has installed everything: Deno neither fetches packages nor writes a lock.
    nodeModulesDir: "manual",
    lock: false,
    tasks: { serve: { command: serve } },
  };
}
