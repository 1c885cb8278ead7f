import { resolve } from "@std/path";
import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import { secretNames } from "../core/secret_reference.ts";
import { RemoteServer, type ServerSpec } from "../core/server.ts";
import { privateWords } from "../surfaces/chosen_address.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import { LIMIT_FLAGS, readLimits } from "./server_add_limits.ts";
import { openServers } from "./servers_access.ts";
import { inert, print, printJson } from "./terminal.ts";

const USAGE = "server add NAME --url URL, or server add NAME -- COMMAND ARGS";

export const serverAdd: Command = {
  usage: "server add NAME (--url URL | -- COMMAND ARGS...)",
  meaning: "Add a server after connecting to it; nothing is stored if that fails",
  details: [
    "Examples:",
    '  deno task cli server add issues --url https://mcp.example.com/mcp --header "X-Team: a"',
    "  deno task cli server add files --env LOG=info -- npx -y some-server ~/notes",
    "",
    "What follows -- is the program and its arguments, exactly as it will be run.",
    "A server that asks for a login is stored, and waits for one.",
    "A name that leads into a private network needs --allow-private; an address there does not.",
  ],
  flags: [
    { flag: "url", placeholder: "URL", meaning: "Address of a server over HTTP" },
    { flag: "type", placeholder: "TYPE", meaning: "With --url: http (the default) or sse" },
    { flag: "header", placeholder: '"K: V"', meaning: "With --url: a header; can be repeated" },
    { flag: "env", placeholder: "K=V", meaning: "A variable for the program; can be repeated" },
    { flag: "cwd", placeholder: "FOLDER", meaning: "The program's folder" },
    ...LIMIT_FLAGS,
    JSON_FLAG,
  ],
  async run(input) {
    const { name, spec: read } = readServer(input);
    // A name that leads into a private network; an address there is as good as this word.
    const isAllowed = input.options.allowPrivate && "url" in read;
    const spec = isAllowed ? { ...read, allowPrivate: true } : read;
    await using servers = await openServers(input);
    const server = await servers.add(name, spec).catch((error) => {
      throw withoutGuess(error, spec);
    });
    if (input.flags.get("json") === true) return printJson({ server });
    const { state, toolCount, reason } = server;
    // It is added, whether that can be told or not.
    const waiting = await servers.waiting().catch(() => []);
    const quarantined = waiting.filter((tool) =>
      tool.server === name && tool.state === "quarantined"
    );
    print(
      state === "ready"
        ? `Added ${name}: ${addedWords(toolCount, quarantined.length)}.\n`
        : inert(`Added ${name} (${state.replace("_", " ")}): ${reason}\n`),
    );
    const place = await privateWords(spec);
    if (place !== undefined) {
      print(`It is at an address of ${place}: that is allowed for it because you named it here.\n`);
    }
    if (!servers.isRunning) print("No gateway is running: it is there from the next start on.\n");
  },
};

/** What there is of a server's tools: "1 tool; 1 in quarantine: see ...". */
export function addedWords(tools: number, quarantined: number): string {
  const count = `${tools} ${tools === 1 ? "tool" : "tools"}`;
  if (quarantined === 0) return count;
  return `${count}; ${quarantined} in quarantine: see \`deno task cli review list\``;
}

/** Where a secret is to blame, which the message says, the address and the command are not. */
export function withoutGuess(error: unknown, spec: ServerSpec): unknown {
  if (!(error instanceof GatewayError) || error.code !== "SERVER_DISCONNECTED") return error;
  const isSecrets = secretNames(spec).some((name) =>
    new RegExp(`\\bthe secret ${name}\\b`).test(error.message)
  );
  if (!isSecrets) return error;
  return new GatewayError(error.code, {
    message: error.message,
    recoveryAction: "Set the secret, then add the server again",
    recoverySteps: ["Nothing was stored: add it again when the secret is set"],
    cause: error,
  });
}

/** Reads the command line; whether the server works is found out later. */
export function readServer(
  input: Pick<CommandInput, "positionals" | "afterDashes" | "flags" | "values">,
): { name: string; spec: ServerSpec } {
  const { positionals, afterDashes, flags, values } = input;
  const [name, ...extra] = positionals.slice(0, positionals.length - afterDashes.length);
  if (name === undefined) throw configError("server add needs a name", `Write it as: ${USAGE}`);
  if (extra.length > 0) {
    throw configError(
      `server add does not take "${extra[0]}"`,
      "Put -- before the program and its arguments",
    );
  }
  const [command, ...args] = afterDashes;
  const url = flags.get("url");
  if ((url === undefined) === (command === undefined)) {
    const problem = url === undefined ? "neither a URL nor a command" : "both a URL and a command";
    throw configError(`server add was given ${problem}`, `Write it as: ${USAGE}`);
  }
  const wrong = command === undefined ? ["env", "cwd"] : ["type", "header"];
  for (const flag of wrong.filter((flag) => flags.has(flag))) {
    const kind = command === undefined ? "a server with a URL" : "a server that is a program";
    throw configError(`--${flag} means nothing for ${kind}`, "Leave it out");
  }
  const limits = readLimits(flags);
  if (command !== undefined) {
    const env = pairs("env", values.get("env"), /^([^=]+)=(.*)$/s, "K=V");
    const cwd = flags.get("cwd");
    return {
      name,
      spec: {
        type: "stdio",
        command,
        args,
        env,
        ...(typeof cwd === "string" ? { cwd: resolve(cwd) } : {}),
        ...limits,
      },
    };
  }
  const headers = pairs("header", values.get("header"), /^([^:\s]+):\s*(.*)$/s, '"K: V"');
  const type = flags.get("type") ?? "http";
  if (type !== "http" && type !== "sse") {
    throw configError(`Cannot use --type "${type}"`, "Give http or sse");
  }
  const spec = RemoteServer.safeParse({ type, url, headers });
  if (!spec.success) {
    throw configError(
      `Cannot use --url "${url}"`,
      "Give a whole address, such as https://example.com/mcp",
    );
  }
  return { name, spec: { ...spec.data, ...limits } };
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
