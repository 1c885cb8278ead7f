import { resolve } from "@std/path";
import { configError } from "../config/problem.ts";
import { RemoteServer } from "../core/server.ts";
import type { CommandInput } from "./command.ts";
import { switchOf, wordOf } from "./flag_values.ts";

/** What a command line says of how a server is reached; what it does not name is left out. */
export interface ServerWords {
  name: string;
  url?: string;
  type?: "http" | "sse";
  headers: Record<string, string>;
  program?: { command: string; args: string[] };
  env: Record<string, string>;
  cwd?: string;
  lazy?: boolean;
}

export type ServerInput = Pick<CommandInput, "positionals" | "afterDashes" | "flags" | "values">;

/** Reads the words of `server add` and `server update`; `usage` is how the command is written. */
export function readServerWords(
  command: "server add" | "server update",
  usage: string,
  { positionals, afterDashes, flags, values }: ServerInput,
): ServerWords {
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
export function refuseMisplaced(isProgram: boolean, flags: CommandInput["flags"]): void {
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
