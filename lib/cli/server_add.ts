import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import { secretNames } from "../core/secret_reference.ts";
import type { ServerSpec } from "../core/server.ts";
import { privateWords } from "../surfaces/chosen_address.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { LIMIT_FLAGS, readLimits } from "./server_add_limits.ts";
import { readServerWords, refuseMisplaced, type ServerInput } from "./server_words.ts";
import { openServers, type ServerRow, type ServersAccess } from "./servers_access.ts";
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
    { flag: "lazy", meaning: "Start the program at its first call" },
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
      throw withoutGuess("add", error, spec);
    });
    if (input.flags.get("json") === true) return printJson({ server });
    print(await outcomeText("Added", server, servers));
    print(await placeText(spec));
    if (!servers.isRunning) print("No gateway is running: it is there from the next start on.\n");
  },
};

/** What came of adding or changing a server. */
export async function outcomeText(
  done: "Added" | "Changed",
  { name, state, toolCount, reason }: ServerRow,
  servers: ServersAccess,
): Promise<string> {
  if (state === "not_running") return `${done} ${name}.\n`;
  if (state === "connecting") return `${done} ${name}: it is connected to anew.\n`;
  if (state !== "ready") return inert(`${done} ${name} (${state.replace("_", " ")}): ${reason}\n`);
  // It is done, whether that can be told or not.
  const waiting = await servers.waiting().catch(() => []);
  const quarantined = waiting.filter((tool) =>
    tool.server === name && tool.state === "quarantined"
  );
  return `${done} ${name}: ${addedWords(toolCount, quarantined.length)}.\n`;
}

/** What was allowed by typing an address; empty where that is nothing special. */
export async function placeText(spec: ServerSpec): Promise<string> {
  const place = await privateWords(spec);
  return place === undefined
    ? ""
    : `It is at an address of ${place}: that is allowed for it because you named it here.\n`;
}

/** What there is of a server's tools: "1 tool; 1 in quarantine: see ...". */
export function addedWords(tools: number, quarantined: number): string {
  const count = `${tools} ${tools === 1 ? "tool" : "tools"}`;
  if (quarantined === 0) return count;
  return `${count}; ${quarantined} in quarantine: see \`deno task cli review list\``;
}

/** Where a secret is to blame, which the message says, the address and the command are not. */
export function withoutGuess(
  verb: "add" | "change",
  error: unknown,
  spec: ServerSpec,
): unknown {
  if (!(error instanceof GatewayError) || error.code !== "SERVER_DISCONNECTED") return error;
  const isSecrets = secretNames(spec).some((name) =>
    new RegExp(`\\bthe secret ${name}\\b`).test(error.message)
  );
  if (!isSecrets) return error;
  return new GatewayError(error.code, {
    message: error.message,
    recoveryAction: `Set the secret, then ${verb} the server again`,
    recoverySteps: [`Nothing was stored: ${verb} it again when the secret is set`],
    cause: error,
  });
}

/** Reads the command line; whether the server works is found out later. */
export function readServer(input: ServerInput): { name: string; spec: ServerSpec } {
  const { name, url, type = "http", headers, program, env, cwd, lazy } = readServerWords(
    "server add",
    USAGE,
    input,
  );
  const { flags } = input;
  if (url === undefined && program === undefined) {
    throw configError("server add was given neither a URL nor a command", `Write it as: ${USAGE}`);
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
