import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { GatewayError } from "../core/errors.ts";
import manifest from "../../deno.json" with { type: "json" };
import { IS_PACKAGE, MAIN, ROOT } from "../core/product.ts";
import { type DataPlaces, dataPlaces, thisMachine, writeFlag, writtenFolders } from "./folders.ts";

/** Where variables come from; tests hand in their own. */
export interface Env {
  get(name: string): string | undefined;
  toObject?(): Record<string, string>;
}

/** The variables of this process, with HOME even if a service manager has not set it. */
export function systemEnv(): Env {
  return {
    get: (name) => Deno.env.get(name) ?? (name === "HOME" ? accountHome() : undefined),
    toObject: () => Deno.env.toObject(),
  };
}

/** This account's home folder according to the system, if it exists. */
function accountHome(): string | undefined {
  // Queried first: without the permission, Deno would prompt on the terminal.
  const { state } = Deno.permissions.querySync({ name: "sys", kind: "homedir" });
  if (Deno.build.os === "windows" || state !== "granted") return undefined;
  const home = homedir();
  try {
    return Deno.statSync(home).isDirectory ? home : undefined;
  } catch {
    return undefined;
  }
}

/** A variable that is set to something; an empty one counts as not set. */
export function nonEmpty(env: Env, name: string): string | undefined {
  return env.get(name) || undefined;
}

export function homeOf(env: Env): string | undefined {
  return nonEmpty(env, "HOME") ?? nonEmpty(env, "USERPROFILE");
}

/** A name, then a quoted value, which may span lines, or a bare value up to a comment. */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([^\r\n#]*))/gm;

/** The variables of a .env file, as Node reads one. Deno 2.5 and 2.6 lack that reader. */
export function parseEnvFile(text: string): [string, string][] {
  return Array.from(text.matchAll(ASSIGNMENT), ([, name = "", double, single, tick, bare = ""]) => [
    name,
    double?.replaceAll("\\n", "\n") ?? single ?? tick ?? bare.trim(),
  ]);
}

export interface Platform {
  name: "local" | "deploy";
  canSpawn: boolean;
  canWrite: boolean;
}

const LOCAL: Platform = { name: "local", canSpawn: true, canWrite: true };
const DEPLOY: Platform = { name: "deploy", canSpawn: false, canWrite: false };

/** Deno Deploy or a machine of one's own; QUARTERMASTER_PLATFORM decides where it is set. */
export function detectPlatform(env: Env): Platform {
  const forced = nonEmpty(env, "QUARTERMASTER_PLATFORM");
  if (forced === "deploy") return DEPLOY;
  if (forced === "local") return LOCAL;
  if (forced !== undefined) {
    throw new GatewayError("CONFIG_INVALID", {
      message: `Cannot use QUARTERMASTER_PLATFORM "${forced}": it must be "local" or "deploy"`,
      recoveryAction: "Remove QUARTERMASTER_PLATFORM, or set it to local or deploy",
    });
  }
  const deployed = nonEmpty(env, "DENO_DEPLOYMENT_ID") ?? nonEmpty(env, "DENO_DEPLOY");
  return deployed === undefined ? LOCAL : DEPLOY;
}

/** The address at which Deno Deploy serves this process's timeline, if the platform's variables tell. */
export function deployedUrl(env: Env): string | undefined {
  const variable = (...names: string[]) => names.map((name) => nonEmpty(env, name)).find(Boolean);
  const app = variable("DENO_DEPLOY_APP_SLUG", "DENO_DEPLOY_APPLICATION_SLUG");
  const org = variable("DENO_DEPLOY_ORG_SLUG", "DENO_DEPLOY_ORGANIZATION_SLUG");
  const timeline = nonEmpty(env, "DENO_TIMELINE");
  if (app === undefined || org === undefined || timeline === undefined) return undefined;
  const [kind, name = ""] = /^(git-branch|preview)\/([a-z0-9-]+)$/.exec(timeline)?.slice(1) ?? [];
  if (timeline === "production") return `https://${app}.${org}.deno.net`;
  // How Deno Deploy spells other branch names in addresses is not documented.
  if (kind === undefined) return undefined;
  return `https://${app}${kind === "preview" ? "-" : "--"}${name}.${org}.deno.net`;
}

/** Tells the program which Node its launcher ran on. */
const NODE_VARIABLE = "QUARTERMASTER_NODE";

/** The command line that runs this program from any folder, without a PATH. */
export function programCommand(task: "serve" | "cli", places?: DataPlaces): string[] {
  if (IS_PACKAGE) return [nonEmpty(systemEnv(), NODE_VARIABLE) ?? "node", fileURLToPath(MAIN)];
  const machine = thisMachine(systemEnv());
  const folders = writtenFolders(places ?? dataPlaces([], machine), machine);
  // What starts it later may have no variable for temporary files.
  if (machine.os !== "windows") folders.push("/tmp");
  const [, ...words] = manifest.tasks[task].command.split(" ");
  return [
    Deno.execPath(),
    ...words.map((word) => {
      if (word === "--allow-write") return writeFlag([...new Set(folders)]);
      return word.endsWith(".ts") ? fileURLToPath(new URL(word, ROOT)) : word;
    }),
  ];
}
