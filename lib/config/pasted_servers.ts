import { findNodeAtLocation } from "jsonc-parser";
import { isProgram, type ServerSpec, transportTypes } from "../core/server.ts";
import { addressSpec, completeAddress } from "./address.ts";
import { configError } from "./files.ts";
import { splitCommand } from "./shell.ts";
import { type Env, homeOf } from "./platform.ts";
import { members, parseJsonObject } from "./json_document.ts";
import { readServersText, SERVER_SECTIONS, type ServersContext } from "./mcp_file.ts";
import { secretsOf } from "./secrets.ts";
import { suggestedName } from "./server_name.ts";

export interface PastedServer {
  name: string;
  spec?: ServerSpec;
  secrets: string[];
  problem?: string;
  notes: string[];
}

export interface Pasted {
  kind: "address" | "command" | "file";
  servers: PastedServer[];
}

/** The note on a server that the pasted configuration disables. */
export const DISABLED_NOTE = "It is disabled in that configuration";

const LABEL = "your text";
const EXAMPLE = '{ "mcpServers": { "name": { "url": "https://example.com/mcp" } } }';
const REACHED_BY = ["command", "url", "serverUrl", "httpUrl"];

/**
 * Reads an address, a command line, a client's own command that adds a server, or a configuration
 * in the shape of any client. Throws if it is none of them.
 */
export async function readPasted(text: string, context: ServersContext): Promise<Pasted> {
  const trimmed = text.trim();
  if (trimmed === "") {
    throw configError(
      "There is nothing to add",
      "Paste a URL, a command, or the contents of an mcp.json file",
    );
  }
  if (/^[{"/]/.test(trimmed) && /[{:]/.test(trimmed) && !/^\/\w/.test(trimmed)) {
    return { kind: "file", servers: await readFile(trimmed, context) };
  }
  if (/^[a-z][a-z\d+.-]*:\/\/\S*$/i.test(trimmed)) {
    return { kind: "address", servers: [named(addressSpec(trimmed))] };
  }
  const completed = completeAddress(trimmed);
  if (completed !== undefined) {
    const server = named(addressSpec(completed.url));
    return { kind: "address", servers: [{ ...server, notes: [completed.note] }] };
  }
  const words = splitCommand(trimmed);
  const added = readClaudeAdd(words);
  const spec = added?.spec ?? commandSpec(words, context.env);
  return {
    kind: isProgram(spec) ? "command" : "address",
    servers: [named(spec, added?.name)],
  };
}

function named(spec: ServerSpec, name = suggestedName(spec)): PastedServer {
  return { name, spec, secrets: secretsOf(spec, []), notes: [] };
}

/** Variables may stand before the program, as in a shell. */
function commandSpec(words: readonly string[], variables: Env): ServerSpec {
  const home = homeOf(variables);
  const env: Record<string, string> = {};
  let at = 0;
  for (; at < words.length; at++) {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(words[at] ?? "") ?? [];
    if (name === undefined || value === undefined) break;
    env[name] = value;
  }
  // A shell would do this; the program gets what is written.
  const atHome = (word: string) => home === undefined ? word : word.replace(/^~(?=\/|$)/, home);
  const [command, ...args] = words.slice(at).map(atHome);
  if (command === undefined || command === "") {
    throw configError("The command has no program", "Add the program after the variables");
  }
  return { type: "stdio", command, args, env };
}

/** A whole file, the part with the servers, one entry with its name, or one without. */
async function readFile(text: string, context: ServersContext): Promise<PastedServer[]> {
  const whole = text.startsWith('"') ? `{${text}}` : text;
  const { root } = parseJsonObject(whole, LABEL, EXAMPLE);
  const has = (path: string[]) => findNodeAtLocation(root, path) !== undefined;
  const isEntry = REACHED_BY.some((key) => has([key]));
  const isWhole = SERVER_SECTIONS.some(has);
  const areEntries = members(root).some(({ value }) =>
    members(value).some(({ name }) => REACHED_BY.includes(name))
  );
  const asFile = isWhole || !(isEntry || areEntries)
    ? whole
    : `{"mcpServers":${isEntry ? `{"${UNNAMED}":${whole}}` : whole}}`;
  const { servers, problems } = await readServersText(asFile, LABEL, context);
  const read = servers.map(({ name, spec, secrets, problem }): PastedServer => {
    const { disabled, ...on } = spec;
    const concerning = problems.filter(({ server }) => server === name);
    const wrong = concerning.find(({ message }) =>
      problem !== undefined && message.includes(problem)
    );
    return {
      name: name === UNNAMED ? suggestedName(spec) : name,
      spec: on,
      secrets,
      ...(problem === undefined ? {} : {
        problem: wrong === undefined ? problem : `${problem}. ${wrong.fix}`,
      }),
      notes: [
        ...(disabled ? [DISABLED_NOTE] : []),
        ...concerning.filter(({ message }) => problem === undefined || !message.includes(problem))
          .map(({ message, fix }) => `${withoutName(message, name)}. ${fix}`),
      ],
    };
  });
  const unusable = problems.filter(({ server, severity }) =>
    severity === "error" && server !== undefined && !servers.some(({ name }) => name === server)
  ).map(({ server = "", message, fix }): PastedServer => ({
    name: server === UNNAMED ? "server" : server,
    secrets: [],
    problem: `${withoutName(message, server)}. ${fix}`,
    notes: [],
  }));
  if (read.length + unusable.length > 0) return [...read, ...unusable];
  throw configError(`Cannot find a server in ${LABEL}`, `Write ${EXAMPLE}`);
}

const UNNAMED = "__unnamed__";

/** The message without the server's name, for lists that show the name first. */
function withoutName(message: string, name: string): string {
  const rest = message.replace(`server "${name}"`, "").replace(/^[:\s]+/, "");
  return rest === "" ? message : `It ${rest}`.replace(/^It "/, 'Its "');
}

const SHORT: Record<string, string> = {
  "-t": "--transport",
  "-e": "--env",
  "-H": "--header",
  "-s": "--scope",
};

/** `claude mcp add ...`, as the pages of many servers tell to run it; undefined if it is not. */
function readClaudeAdd(
  words: readonly string[],
): { name: string; spec: ServerSpec } | undefined {
  if (words.slice(0, 3).join(" ") !== "claude mcp add") return undefined;
  const dashes = words.indexOf("--");
  const { plain, flags } = sorted(words.slice(3, dashes < 0 ? undefined : dashes), dashes < 0);
  const [name, ...rest] = plain;
  const [target, ...args] = dashes < 0 ? rest : words.slice(dashes + 1);
  if (name === undefined || target === undefined || target === "") {
    throw configError(
      "Cannot read the command: the server's name, or its URL or program, is missing",
      "Paste only the URL or the program",
    );
  }
  if (/^https?:/.test(target)) {
    const transport = flags.get("--transport")?.at(-1);
    const type = transportTypes("address").find((type) => type === transport);
    const headers = pairs(flags.get("--header"), ":");
    return { name, spec: addressSpec(target, headers, type) };
  }
  const env = pairs(flags.get("--env"), "=");
  return { name, spec: { type: "stdio", command: target, args, env } };
}

/** Flags apart from other words. From the program on, flags are its own. */
function sorted(words: readonly string[], hasProgram: boolean) {
  const plain: string[] = [];
  const flags = new Map<string, string[]>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const isProgram = hasProgram && plain.length > 1 && !/^https?:/.test(plain[1] ?? "");
    if (isProgram || !word.startsWith("-")) {
      plain.push(word);
      continue;
    }
    const [written = "", inline] = word.split(/=(.*)/s);
    const flag = SHORT[written] ?? written;
    flags.set(flag, [...flags.get(flag) ?? [], inline ?? words[++at] ?? ""]);
  }
  return { plain, flags };
}

function pairs(texts: readonly string[] = [], mark: string): Record<string, string> {
  return Object.fromEntries(texts.map((text) => {
    const at = text.indexOf(mark);
    return at < 0 ? [text.trim(), ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  }));
}
