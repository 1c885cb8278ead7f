import { join, resolve } from "node:path";
import { getNodeValue } from "jsonc-parser";
import { members, parseJsonObject, type Position } from "./json_document.ts";
import {
  type AnyOption,
  forEachOption,
  type OptionName,
  optionRows,
  OPTIONS,
  type Options,
  settingsKeyOf,
  variableOf,
} from "./option_table.ts";
import { configError, type ConfigProblem, findTextFile, located, unknownFix } from "./files.ts";
import { GatewayError } from "../core/errors.ts";
import { type CommandFlag, parseCommandLine } from "./command_line.ts";
import { deployedUrl, detectPlatform, type Env, nonEmpty, type Platform } from "./platform.ts";
import { type PlatformDirs, platformDirs } from "./folders.ts";
import { isUrl } from "./option_values.ts";

export type OptionOrigin = "flag" | "environment" | "settings file" | "default" | "console";

/** What the machine tells, handed in so that tests can tell otherwise. */
export interface Host {
  os: typeof Deno.build.os;
  cwd: string;
  commandFlags?: readonly CommandFlag[];
}

export interface ReadOptions {
  options: Options;
  origins: Record<OptionName, OptionOrigin>;
  command: string | undefined;
  positionals: string[];
  flags: ReadonlyMap<string, string | boolean>;
  platform: Platform;
  dirs: PlatformDirs;
  problems: ConfigProblem[];
}

/** Reads all options; a flag wins over the environment, that over the settings file. */
export async function readOptions(
  args: readonly string[],
  env: Env,
  host: Host,
): Promise<ReadOptions> {
  const { command, positionals, given } = parseCommandLine(args, host.commandFlags);
  const platform = detectPlatform(env);
  const dirs = platformDirs(host.os, env);
  const settings = dirs.config === undefined
    ? undefined
    : await findSettings(join(dirs.config, SETTINGS_FILE));
  const origins = forEachOption((name): OptionOrigin => find(name)?.origin ?? "default");

  function find(name: OptionName): Found | undefined {
    const option = OPTIONS[name];
    const flag = given.get(option.flag);
    if (flag !== undefined) return { origin: "flag", value: flag, label: `--${option.flag}` };
    const variable = nonEmpty(env, variableOf(option));
    if (variable !== undefined) {
      return { origin: "environment", value: variable, label: variableOf(option) };
    }
    const setting = settings?.values.get(settingsKeyOf(option));
    if (!settings || !setting) return undefined;
    const label = `setting ${settingsKeyOf(option)}`;
    const place = { file: settings.file, ...setting.position };
    return { origin: "settings file", value: setting.value, label, place };
  }

  function read<Name extends OptionName>(name: Name): Options[Name] {
    const found = find(name);
    if (found === undefined) return OPTIONS[name].fallback;
    const parsed = OPTIONS[name].schema.safeParse(found.value);
    if (parsed.success) return parsed.data;
    throw wrongValue(found, OPTIONS[name]);
  }

  function readPath(name: "config" | "dataDir" | "kv"): string | undefined {
    const path = read(name);
    if (path === undefined || path === ":memory:" || (name === "kv" && isUrl(path))) return path;
    const base = origins[name] === "settings file" ? dirs.config : host.cwd;
    // Shells expand ~ only at the start of a word: not in --data-dir=~/x, and a file has no shell.
    const inHome = /^~[/\\]/.test(path) && dirs.home !== undefined;
    return inHome ? join(dirs.home ?? "", path.slice(2)) : resolve(base ?? host.cwd, path);
  }

  const dataDir = readPath("dataDir") ?? (platform.canWrite ? dirs.data : undefined);
  if (dataDir === undefined && platform.canWrite) {
    throw configError(
      "Cannot choose a data folder: HOME is not set",
      "Set HOME, or pass --data-dir",
    );
  }
  const options = {
    ...forEachOption<unknown>(read),
    config: readPath("config"),
    dataDir,
    publicUrl: read("publicUrl") ?? (platform.name === "deploy" ? deployedUrl(env) : undefined),
    kv: readPath("kv") ?? (dataDir === undefined ? undefined : join(dataDir, "quartermaster.kv")),
  } as Options;
  return {
    options,
    origins,
    command,
    positionals,
    flags: new Map([...given].filter(([name]) => host.commandFlags?.some((f) => f.flag === name))),
    platform,
    dirs,
    problems: settings?.problems ?? [],
  };
}

interface Found {
  origin: OptionOrigin;
  value: unknown;
  label: string;
  place?: { file: string; line: number; column: number };
}

function wrongValue(
  { value, label, place }: Found,
  { must, isSecret }: Pick<AnyOption, "must" | "isSecret">,
): Error {
  const shown = typeof value === "string" ? value : JSON.stringify(value);
  const cut = shown.length > 80 ? `${shown.slice(0, 80)}...` : shown;
  const sentence = `Cannot use ${label}${isSecret ? "" : ` "${cut}"`}: it must be ${must}`;
  return new GatewayError("CONFIG_INVALID", {
    message: place === undefined ? sentence : located(place, sentence),
    recoveryAction: `Set ${label} to ${must}, or omit it`,
  });
}

const SETTINGS_FILE = "settings.json";

interface Settings {
  file: string;
  values: Map<string, { value: unknown; position: Position }>;
  problems: ConfigProblem[];
}

/** What the settings file says, not yet checked; undefined if there is none. */
async function findSettings(file: string): Promise<Settings | undefined> {
  const text = await findTextFile(file);
  if (text === undefined) return undefined;
  const document = parseJsonObject(text, file, '{ "port": 3333 }');
  const known = optionRows().map(settingsKeyOf);
  const settings: Settings = { file, values: new Map(), problems: [] };
  const warn = (position: Position, message: string, fix: string) =>
    settings.problems.push({ severity: "warning", file, ...position, message, fix });

  for (const { name, key, value } of members(document.root)) {
    const position = document.position(key.offset);
    if (name === "$schema") continue;
    if (!known.includes(name)) {
      warn(position, `unknown setting "${name}"`, unknownFix(name, known));
      continue;
    }
    const earlier = settings.values.get(name);
    if (earlier) {
      warn(
        position,
        `"${name}" is set twice; this value is used, not the one on line ${earlier.position.line}`,
        "Remove one of them",
      );
    }
    settings.values.set(name, {
      value: getNodeValue(value),
      position: document.position(value.offset),
    });
  }
  return settings;
}
