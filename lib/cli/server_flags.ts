import { resolve } from "@std/path";
import { z } from "zod";
import { configError } from "../config/files.ts";
import { GatewayError } from "../core/errors.ts";
import {
  isProgram,
  isRemote,
  type ProgramSpec,
  RemoteServer,
  type RemoteSpec,
  type ServerSpec,
} from "../core/server.ts";
import { nearest } from "../core/text.ts";
import { flagName } from "../operations/cli.ts";
import { choicesOf, fieldsOf, type InputField } from "../operations/fields.ts";
import { SERVER_LIMITS } from "../operations/server_entry.ts";
import { isSamePlace, MASK } from "../servers/spec.ts";
import type { CommandInput } from "./command.ts";
import { numberOf, switchOf, timeOf, wordOf } from "./flag_values.ts";

const ADD = "server add NAME --url URL, or server add NAME -- COMMAND ARGS";
const UPDATE = "server update NAME with what is to change, such as --url URL or -- COMMAND ARGS";

type ServerLimits = Pick<ServerSpec, keyof typeof SERVER_LIMITS>;
type Flags = CommandInput["flags"];
const LIMIT_FIELDS = fieldsOf(z.strictObject(SERVER_LIMITS));

/** The entry on the command line of `server add`; whether the server works is found out later. */
export function readServer(input: ServerInput): { name: string; spec: ServerSpec } {
  const { name, url, type = "http", headers, program, env, cwd, lazy } = readReach(
    "server add",
    ADD,
    input,
  );
  const { flags } = input;
  if (url === undefined && program === undefined) {
    throw configError("server add was given neither a URL nor a command", `Write it as: ${ADD}`);
  }
  refuseMisplaced(program !== undefined, flags);
  const limits = readLimits(flags);
  if (program === undefined) return { name, spec: { type, url: url!, headers, ...limits } };
  return {
    name,
    spec: {
      type: "stdio",
      ...program,
      env,
      ...(cwd === undefined ? {} : { cwd }),
      ...(lazy === undefined ? {} : { lazy }),
      ...limits,
    },
  };
}

/** What a command line wants changed of a server. */
export interface ServerChange extends ServerReach {
  /** Headers or variables that are to go. */
  unset: string[];
  disabled?: boolean;
  allowPrivate?: true;
  limits: ServerLimits;
  flags: CommandInput["flags"];
}

type ChangeInput = ServerInput & Pick<CommandInput, "options" | "origins">;

/** Reads the command line; whether it fits the server is found out when its entry is known. */
export function readChange(input: ChangeInput): ServerChange {
  const { flags, values, options, origins } = input;
  const reach = readReach("server update", UPDATE, input);
  const disabled = switchOf(flags, "disabled");
  // Said for all servers, it speaks of a new address and not of one that is there.
  const isAllowed = options.allowPrivate &&
    (reach.url !== undefined || origins.allowPrivate === "flag");
  const named = [...flags.keys()].filter((flag) => flag !== "json");
  if (named.length === 0 && reach.program === undefined && !isAllowed) {
    throw configError("server update was given nothing to change", `Write it as: ${UPDATE}`);
  }
  return {
    ...reach,
    unset: values.get("unset") ?? [],
    ...(disabled === undefined ? {} : { disabled }),
    ...(isAllowed ? { allowPrivate: true } : {}),
    limits: readChangedLimits(flags),
    flags,
  };
}

/** A server's entry, read masked, with what is wanted of it; what is masked still is kept. */
export function changedEntry(before: ServerSpec, change: ServerChange): ServerSpec {
  const { program, url, disabled, limits, flags } = change;
  const isStarted = url === undefined && (program !== undefined || isProgram(before));
  refuseMisplaced(isStarted, flags);
  const reached = isStarted ? changedProgram(before, change) : changedRemote(before, change);
  refuseLeftBehind(reached, before);
  return { ...reached, ...(disabled === undefined ? {} : { disabled }), ...limits };
}

function changedProgram(before: ServerSpec, change: ServerChange): ProgramSpec {
  const { name, program, env, cwd, lazy, unset } = change;
  const known = isProgram(before) ? before : undefined;
  const kept = without(name, "variable", known?.env ?? {}, unset, (variable) => variable);
  return {
    ...(known ?? { type: "stdio", command: "", args: [] }),
    ...program,
    env: { ...kept, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    ...(lazy === undefined ? {} : { lazy }),
  };
}

function changedRemote(before: ServerSpec, change: ServerChange): RemoteSpec {
  const { name, url, type, headers, unset, allowPrivate } = change;
  const known = isRemote(before) ? before : undefined;
  if (known === undefined && url === undefined) {
    throw new GatewayError("INVALID_ARGUMENTS", { message: `Server "${name}" has no address` });
  }
  const lower = (header: string) => header.toLowerCase();
  const kept = without(name, "header", known?.headers ?? {}, unset, lower);
  const isSet = new Set(Object.keys(headers).map(lower));
  const changed: RemoteSpec = {
    type: "http",
    ...known,
    url: url ?? known?.url ?? "",
    ...(type === undefined ? {} : { type }),
    headers: {
      ...Object.fromEntries(Object.entries(kept).filter(([header]) => !isSet.has(lower(header)))),
      ...headers,
    },
  };
  // Allowed for the host that was named, and no other.
  if (known && !isSamePlace(changed, known)) delete changed.allowPrivate;
  return allowPrivate ? { ...changed, allowPrivate } : changed;
}

/** What is kept of an entry's headers or variables. */
function without(
  server: string,
  noun: "header" | "variable",
  values: Record<string, string>,
  unset: readonly string[],
  same: (name: string) => string,
): Record<string, string> {
  const names = new Map(Object.keys(values).map((name) => [same(name), name]));
  for (const name of unset) {
    if (names.has(same(name))) continue;
    const guess = nearest(name, names.values());
    throw configError(
      `Cannot take ${noun} "${name}" out: server "${server}" has none of that name`,
      guess === undefined ? "Leave it out" : `Did you mean ${guess}?`,
    );
  }
  const gone = new Set(unset.map(same));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !gone.has(same(name))));
}

/** Throws where a value that is not shown would go to another place than it was given for. */
function refuseLeftBehind(changed: ProgramSpec | RemoteSpec, before: ServerSpec): void {
  if (isSamePlace(changed, before)) return;
  const [flag, values] = isProgram(changed)
    ? ["env", changed.env] as const
    : ["header", changed.headers] as const;
  const left = Object.keys(values).filter((name) => values[name] === MASK);
  const [first] = left;
  if (first === undefined) return;
  const written = flag === "env" ? `--env ${first}=VALUE` : `--header "${first}: VALUE"`;
  throw configError(
    `What is kept of ${left.join(", ")} goes to the place it was given for alone`,
    `Give it again (${written}), or take it out (--unset ${first})`,
  );
}

/** Reads what is given of the limits, each within what its field allows. */
function readLimits(flags: Flags): ServerLimits {
  const read = LIMIT_FIELDS.map((field) => [field.name, limitOf(field, flags)] as const);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

function limitOf(field: InputField, flags: Flags): string | number | undefined {
  const flag = flagName(field);
  const choices = choicesOf(field);
  if (choices) return wordOf(flags, flag, choices);
  const { minValue, maxValue } = field.type as z.ZodNumber;
  const read = field.name.endsWith("Ms") ? timeOf : numberOf;
  return read(flags, flag, minValue ?? 0, maxValue ?? Infinity);
}

/** The same of a change, where `none` takes a number or a time away. */
function readChangedLimits(flags: Flags): ServerLimits {
  const removed = LIMIT_FIELDS.filter((field) =>
    choicesOf(field) === undefined && flags.get(flagName(field)) === "none"
  );
  const gone = new Set(removed.map(flagName));
  return {
    ...readLimits(new Map([...flags].filter(([flag]) => !gone.has(flag)))),
    // Undefined and not left out: what a change leaves out is kept.
    ...Object.fromEntries(removed.map(({ name }) => [name, undefined])),
  };
}

/** What a command line says of how a server is reached; what it does not name is left out. */
interface ServerReach {
  name: string;
  url?: string;
  type?: RemoteSpec["type"];
  headers: Record<string, string>;
  program?: { command: string; args: string[] };
  env: Record<string, string>;
  cwd?: string;
  lazy?: boolean;
}

type ServerInput = Pick<CommandInput, "positionals" | "afterDashes" | "flags" | "values">;

/** Reads how a server is reached; `usage` is how the command is written. */
function readReach(
  command: "server add" | "server update",
  usage: string,
  { positionals, afterDashes, flags, values }: ServerInput,
): ServerReach {
  const [name, ...extra] = positionals.slice(0, positionals.length - afterDashes.length);
  if (name === undefined) throw configError(`${command} needs a name`, `Write it as: ${usage}`);
  if (extra.length > 0) {
    throw configError(
      `${command} does not take "${extra[0]}"`,
      "Put -- before the program and its arguments",
    );
  }
  const [program, ...args] = afterDashes;
  const url = flags.get("url");
  if (typeof url === "string") {
    if (program !== undefined) {
      throw configError(`${command} was given both a URL and a command`, `Write it as: ${usage}`);
    }
    if (!RemoteServer.shape.url.safeParse(url).success) {
      throw configError(
        `Cannot use --url "${url}"`,
        "Give a whole address, such as https://example.com/mcp",
      );
    }
  }
  const cwd = flags.get("cwd");
  const type = wordOf(flags, "type", RemoteServer.shape.type.options);
  const lazy = switchOf(flags, "lazy");
  return {
    name,
    ...(typeof url === "string" ? { url } : {}),
    ...(type === undefined ? {} : { type }),
    headers: pairs("header", values.get("header"), /^([^:\s]+):\s*(.*)$/s, '"K: V"'),
    ...(program === undefined ? {} : { program: { command: program, args } }),
    env: pairs("env", values.get("env"), /^([^=]+)=(.*)$/s, "K=V"),
    ...(typeof cwd === "string" ? { cwd: resolve(cwd) } : {}),
    ...(lazy === undefined ? {} : { lazy }),
  };
}

/** Throws where a flag is for the other kind of server. */
function refuseMisplaced(isProgram: boolean, flags: CommandInput["flags"]): void {
  const wrong = isProgram ? ["type", "header"] : ["env", "cwd", "lazy"];
  for (const flag of wrong.filter((flag) => flags.has(flag))) {
    const kind = isProgram ? "a server that is a program" : "a server with a URL";
    throw configError(`--${flag} means nothing for ${kind}`, "Leave it out");
  }
}

function pairs(
  flag: string,
  given: string[] = [],
  form: RegExp,
  written: string,
): Record<string, string> {
  return Object.fromEntries(given.map((text) => {
    const [, name, value] = form.exec(text) ?? [];
    // Not with the text itself: it may be a secret that is written wrongly.
    if (name === undefined || value === undefined) {
      throw configError(`A value of --${flag} cannot be read`, `Write it as --${flag} ${written}`);
    }
    return [name, value];
  }));
}
