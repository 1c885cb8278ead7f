import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import type { ServerSpec } from "../core/server.ts";
import { isSamePlace, MASK } from "../surfaces/masked_spec.ts";
import type { CommandInput } from "./command.ts";
import { switchOf } from "./flag_values.ts";
import { readChangedLimits, type ServerLimits } from "./server_add_limits.ts";
import {
  readServerWords,
  refuseMisplaced,
  type ServerInput,
  type ServerWords,
} from "./server_words.ts";

type Program = Extract<ServerSpec, { type: "stdio" }>;
type Remote = Exclude<ServerSpec, Program | { type: "demo" }>;

const USAGE = "server update NAME with what is to change, such as --url URL or -- COMMAND ARGS";

/** What a command line wants changed of a server. */
export interface ServerChange extends ServerWords {
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
  const words = readServerWords("server update", USAGE, input);
  const disabled = switchOf(flags, "disabled");
  // Said for all servers, it speaks of a new address and not of one that is there.
  const isAllowed = options.allowPrivate &&
    (words.url !== undefined || origins.allowPrivate === "flag");
  const named = [...flags.keys()].filter((flag) => flag !== "json");
  if (named.length === 0 && words.program === undefined && !isAllowed) {
    throw configError("server update was given nothing to change", `Write it as: ${USAGE}`);
  }
  return {
    ...words,
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
  const isProgram = url === undefined && (program !== undefined || before.type === "stdio");
  refuseMisplaced(isProgram, flags);
  const reached = isProgram ? changedProgram(before, change) : changedRemote(before, change);
  refuseLeftBehind(reached, before);
  return { ...reached, ...(disabled === undefined ? {} : { disabled }), ...limits };
}

function changedProgram(before: ServerSpec, change: ServerChange): Program {
  const { name, program, env, cwd, lazy, unset } = change;
  const known = before.type === "stdio" ? before : undefined;
  const kept = without(name, "variable", known?.env ?? {}, unset, (variable) => variable);
  return {
    ...(known ?? { type: "stdio", command: "", args: [] }),
    ...program,
    env: { ...kept, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    ...(lazy === undefined ? {} : { lazy }),
  };
}

function changedRemote(before: ServerSpec, change: ServerChange): Remote {
  const { name, url, type, headers, unset, allowPrivate } = change;
  const known = "url" in before ? before : undefined;
  if (known === undefined && url === undefined) {
    throw new GatewayError("INVALID_ARGUMENTS", { message: `Server "${name}" has no address` });
  }
  const lower = (header: string) => header.toLowerCase();
  const kept = without(name, "header", known?.headers ?? {}, unset, lower);
  const isSet = new Set(Object.keys(headers).map(lower));
  const changed: Remote = {
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
function refuseLeftBehind(changed: Program | Remote, before: ServerSpec): void {
  if (isSamePlace(changed, before)) return;
  const [flag, values] = changed.type === "stdio"
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
