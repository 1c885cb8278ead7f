import { resolve } from "@std/path";
import * as z from "zod";
import { configError } from "../config/files.ts";
import { GatewayError } from "../core/errors.ts";
import {
  Isolation,
  isProgram,
  isRemote,
  type ProgramSpec,
  RemoteServer,
  type RemoteSpec,
  type ServerSpec,
} from "../core/server.ts";
import { nearestOr } from "../core/text.ts";
import { flagName } from "../operations/cli.ts";
import { choicesOf, fieldsOf, type InputField } from "../operations/fields.ts";
import { SERVER_LIMITS } from "../operations/server_entry.ts";
import { isSamePlace, MASK } from "../servers/spec.ts";
import { defined } from "../core/defined.ts";
import type { CommandInput } from "./command.ts";
import { oneOf, type OptionValue, Switch, timeSpan, wholeNumber } from "../config/option_values.ts";

const ADD = "server add NAME --url URL, or server add NAME -- COMMAND ARGS";
const UPDATE = "server update NAME with a change, such as --url URL or -- COMMAND ARGS";

type ServerLimits = Pick<ServerSpec, keyof typeof SERVER_LIMITS>;
type Flags = CommandInput["flags"];
type ServerInput = Pick<CommandInput, "positionals" | "afterDashes" | "flags" | "values">;
const LIMIT_FIELDS = fieldsOf(z.strictObject(SERVER_LIMITS));

/** The entry on the command line of `server add`; whether the server works is found out later. */
export function readServer(input: ServerInput): { name: string; spec: ServerSpec } {
  const reach = readReach("server add", ADD, input);
  const { name, url, type = "http", headers, program, env, cwd, lazy, pin, isolation } = reach;
  const { flags } = input;
  refuseMisplaced(program !== undefined, flags);
  const limits = readLimits(flags);
  if (program) {
    const common = { ...defined({ cwd, lazy, pin, isolation }), ...limits };
    return { name, spec: { type: "stdio", ...program, env, ...common } };
  }
  if (url !== undefined) return { name, spec: { type, url, headers, ...limits } };
  throw configError("server add requires a URL or a command", `Usage: ${ADD}`);
}

export interface ServerChange extends ServerReach {
  unset: string[];
  disabled?: boolean;
  allowPrivate?: true;
  limits: ServerLimits;
  flags: Flags;
}

/** Reads the command line; whether it fits the server is found out when its entry is known. */
export function readChange(
  input: ServerInput & Pick<CommandInput, "options" | "origins">,
): ServerChange {
  const { flags, values, options, origins } = input;
  const reach = readReach("server update", UPDATE, input);
  // Given for all servers, it is about a new address and not about one that is there.
  const isAllowed = options.allowPrivate &&
    (reach.url !== undefined || origins.allowPrivate === "flag");
  const named = [...flags.keys()].filter((flag) => flag !== "json");
  if (named.length === 0 && reach.program === undefined && !isAllowed) {
    throw configError("server update requires a change", `Usage: ${UPDATE}`);
  }
  return {
    ...reach,
    unset: values.get("unset") ?? [],
    ...defined({
      disabled: valueOf(flags, "disabled", Switch),
      allowPrivate: isAllowed ? true as const : undefined,
    }),
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
  return { ...reached, ...defined({ disabled }), ...limits };
}

function changedProgram(before: ServerSpec, change: ServerChange): ProgramSpec {
  const { name, program, env, cwd, lazy, pin, isolation, unset } = change;
  const known = isProgram(before) ? before : undefined;
  const kept = without(name, "variable", known?.env ?? {}, unset, (variable) => variable);
  return {
    ...(known ?? { type: "stdio", command: "", args: [] }),
    ...program,
    env: { ...kept, ...env },
    ...defined({ cwd, lazy, pin, isolation }),
  };
}

function changedRemote(before: ServerSpec, change: ServerChange): RemoteSpec {
  const { name, url, type, headers, unset, allowPrivate } = change;
  const known = isRemote(before) ? before : undefined;
  if (known === undefined && url === undefined) {
    throw new GatewayError("INVALID_ARGUMENTS", { message: `Server "${name}" has no URL` });
  }
  const lower = (header: string) => header.toLowerCase();
  const kept = without(name, "header", known?.headers ?? {}, unset, lower);
  const isSet = new Set(Object.keys(headers).map(lower));
  const others = Object.entries(kept).filter(([header]) => !isSet.has(lower(header)));
  const changed: RemoteSpec = {
    type: "http",
    ...known,
    url: url ?? known?.url ?? "",
    ...defined({ type }),
    headers: { ...Object.fromEntries(others), ...headers },
  };
  // Allowed for the host that was named, and no other.
  if (known && !isSamePlace(changed, known)) delete changed.allowPrivate;
  return { ...changed, ...defined({ allowPrivate }) };
}

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
    throw configError(
      `Cannot remove ${noun} "${name}": server "${server}" does not have it`,
      nearestOr(name, names.values(), "Check the name"),
    );
  }
  const gone = new Set(unset.map(same));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !gone.has(same(name))));
}

/** Throws if a hidden value would go to another place than it was given for. */
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
    `Cannot send the stored value of ${left.join(", ")} to another host, program or folder`,
    `Enter it again (${written}), or remove it (--unset ${first})`,
  );
}

function readLimits(flags: Flags): ServerLimits {
  return defined(
    Object.fromEntries(LIMIT_FIELDS.map((field) => [field.name, limitOf(field, flags)])),
  );
}

function limitOf(field: InputField, flags: Flags): string | number | undefined {
  const flag = flagName(field);
  const choices = choicesOf(field);
  if (choices) return valueOf(flags, flag, oneOf(choices));
  const { minValue, maxValue } = field.type as z.ZodNumber;
  const [least, most] = [minValue ?? 0, maxValue ?? Infinity];
  const must = `a time such as 500ms, 90s or 5m, from ${least} ms to ${most / 3_600_000} h`;
  const isTime = field.name.endsWith("Ms");
  return valueOf(flags, flag, isTime ? timeSpan(least, most, must) : wholeNumber(least, most));
}

/** The limits of a change; `none` removes a number or a time. */
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
  pin?: boolean;
  isolation?: Isolation;
}

/** Reads how a server is reached; `usage` is how the command is written. */
function readReach(
  command: "server add" | "server update",
  usage: string,
  { positionals, afterDashes, flags, values }: ServerInput,
): ServerReach {
  const [name, ...extra] = positionals.slice(0, positionals.length - afterDashes.length);
  if (name === undefined) throw configError(`${command} requires a name`, `Usage: ${usage}`);
  if (extra.length > 0) {
    throw configError(
      `${command} does not take "${extra[0]}"`,
      "Put -- before the program and its arguments",
    );
  }
  const [program, ...args] = afterDashes;
  const text = (flag: string) => values.get(flag)?.at(-1);
  const [url, cwd] = [text("url"), text("cwd")];
  if (url !== undefined && program !== undefined) {
    throw configError(`${command} takes either a URL or a command`, `Usage: ${usage}`);
  }
  if (url !== undefined && !RemoteServer.shape.url.safeParse(url).success) {
    throw configError(
      `Cannot use --url "${url}": it is not a valid http or https URL`,
      "Use a full URL, such as https://example.com/mcp",
    );
  }
  return {
    name,
    headers: pairs("header", values.get("header"), /^([^:\s]+):\s*(.*)$/s, '"K: V"'),
    env: pairs("env", values.get("env"), /^([^=]+)=(.*)$/s, "K=V"),
    ...defined({
      url,
      type: valueOf(flags, "type", oneOf(RemoteServer.shape.type.options)),
      program: program === undefined ? undefined : { command: program, args },
      cwd: cwd === undefined ? undefined : resolve(cwd),
      lazy: valueOf(flags, "lazy", Switch),
      pin: valueOf(flags, "pin", Switch),
      isolation: readIsolation(flags, values),
    }),
  };
}

/** The isolation on a command line replaces the one before as a whole. */
export const ISOLATION_FLAGS = [
  {
    flag: "isolation",
    placeholder: "KIND",
    meaning: "Keep the program apart: sandbox, container or none",
  },
  {
    flag: "read",
    placeholder: "FOLDER",
    meaning: "With --isolation: a folder or file it can read; can be repeated",
  },
  {
    flag: "write",
    placeholder: "FOLDER",
    meaning: "With --isolation: a folder it can read and write; can be repeated",
  },
  {
    flag: "net",
    placeholder: "HOST",
    meaning: "With --isolation: a host it can reach, such as api.example.com; can be repeated",
  },
  {
    flag: "image",
    placeholder: "IMAGE",
    meaning: "With --isolation container: the image to run it in",
  },
];

function readIsolation(flags: Flags, values: CommandInput["values"]): Isolation | undefined {
  const { kind: kinds } = Isolation.shape;
  const kind = valueOf(flags, "isolation", oneOf(kinds.options));
  const [first] = ISOLATION_FLAGS.filter(({ flag }) => flags.has(flag));
  if (kind === undefined) {
    if (first === undefined) return undefined;
    throw configError(`--${first.flag} requires --isolation`, "Add --isolation sandbox");
  }
  const paths = (flag: string) => values.get(flag)?.map((path) => resolve(path));
  const given = { read: paths("read"), write: paths("write"), net: values.get("net") };
  const parsed = Isolation.safeParse({
    kind,
    ...defined({ ...given, image: values.get("image")?.at(-1) }),
  });
  if (parsed.success) return parsed.data;
  const { path: [flag], message } = parsed.error.issues[0]!;
  throw configError(`Cannot use --${String(flag)}: ${message}`, "Correct it");
}

function refuseMisplaced(isProgram: boolean, flags: CommandInput["flags"]): void {
  const wrong = isProgram
    ? ["type", "header"]
    : ["env", "cwd", "lazy", "pin", ...ISOLATION_FLAGS.map(({ flag }) => flag)];
  for (const flag of wrong.filter((flag) => flags.has(flag))) {
    const kind = isProgram ? "a server that runs as a program" : "a server with a URL";
    throw configError(`--${flag} has no effect for ${kind}`, "Remove it");
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
      throw configError(`Cannot read a value of --${flag}`, `Write it as --${flag} ${written}`);
    }
    return [name, value];
  }));
}

/** A flag's value; undefined if the flag is not given. */
export function valueOf<T>(
  flags: Flags,
  flag: string,
  { schema, must }: OptionValue<T>,
): T | undefined {
  const given = flags.get(flag);
  if (given === undefined) return undefined;
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw configError(`Cannot use --${flag} "${String(given).slice(0, 40)}"`, `It must be ${must}`);
}
