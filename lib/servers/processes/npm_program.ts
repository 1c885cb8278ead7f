import { fileURLToPath } from "node:url";
import { isInherited } from "./process_group.ts";

interface NpmProgram {
  program: URL;
  /** `--allow-ffi`, ...: what the package needs and the gateway does not have. */
  permissions: readonly string[];
  args?: readonly string[];
  env?: Record<string, string>;
  /** Names of more of the gateway's variables to pass. */
  passed?: RegExp;
}

/** What fetching from npm depends on; nothing else of the gateway's environment is passed. */
const PASSED =
  /^(DENO_DIR|DENO_CERT|DENO_TLS_CA_STORE|NPM_CONFIG_REGISTRY|SSL_CERT_(FILE|DIR)|(HTTPS?|ALL|NO)_PROXY)$/i;

/** How to start a program of ours whose package is fetched from npm when it is first used. */
export function npmProgram(
  { program, permissions, args = [], env = {}, passed = /^$/ }: NpmProgram,
): { args: string[]; clearEnv: true; env: Record<string, string> } {
  const own = Object.entries(Deno.env.toObject());
  return {
    args: [
      ...["run", "-q", "--no-prompt"],
      // Neither the gateway's lock file nor a package that it may lie in.
      ...["--no-config", "--no-lock", "--node-modules-dir=none"],
      ...permissions,
      fileURLToPath(program),
      ...args,
    ],
    clearEnv: true,
    env: {
      ...Object.fromEntries(
        own.filter(([name]) => isInherited(name) || PASSED.test(name) || passed.test(name)),
      ),
      DENO_NO_PACKAGE_JSON: "1",
      DENO_NO_UPDATE_CHECK: "1",
      ...env,
    },
  };
}
