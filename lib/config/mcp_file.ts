import { basename, dirname, join, resolve } from "node:path";
import { getNodeValue, type Node } from "jsonc-parser";
import { configError, type ConfigProblem, findTextFile, located } from "./files.ts";
import { ServerName, type ServerSpec } from "../core/server.ts";
import { type Env, homeOf, type Platform } from "./platform.ts";
import type { ExpansionContext } from "./placeholders.ts";
import { type JsonDocument, type Member, members, parseJsonObject } from "./json_document.ts";
import type { GatewayIdentity } from "./loops.ts";
import { nearest } from "../core/text.ts";
import { secretsOf } from "./secrets.ts";
import { type ConfiguredServer, readServerEntry } from "./server_entry.ts";
import { freeName, usableServerName } from "./server_name.ts";

export interface LoadServersInput extends LocateInput {
  env: Env;
  self: GatewayIdentity;
  platform: Platform;
}

export interface LoadedServers {
  file: string | undefined;
  servers: ConfiguredServer[];
  /** Unusable entries, each with its problem: listed, but never started. */
  leftOut: ConfiguredServer[];
  problems: ConfigProblem[];
  declared: number;
}

const EXAMPLE = '{ "mcpServers": { "name": { "command": "npx", "args": ["-y", "package"] } } }';
/** Where clients keep their servers in a file. */
export const SERVER_SECTIONS = [["mcpServers"], ["servers"], ["mcp", "servers"]];
const ROOT_KEYS = ["mcpServers", "servers", "inputs", "mcp"];

// Files in which clients keep much besides servers: what else stands there is none of our business.
const SHARED_FILE =
  /^(claude_desktop_config\.json|\.claude\.json|settings(\.local)?\.json|.*\.code-workspace)$/;

/** What an entry is read with, wherever it stands. */
export type ServersContext = Omit<LoadServersInput, "path" | "configDir">;

/** Finds, reads and checks the file that lists the servers. Throws only if all of it is unusable. */
export async function loadServers(input: LoadServersInput): Promise<LoadedServers> {
  const files = candidateFiles(input);
  for (const file of files) {
    const text = await findTextFile(file);
    if (text !== undefined) return await new ServersFile(file, text, input).read();
  }
  if (input.path === undefined) {
    return { file: undefined, servers: [], leftOut: [], problems: [], declared: 0 };
  }
  throw configError(
    `Cannot read ${files[0]}: file not found`,
    "Correct --config, or omit it",
  );
}

/** Reads a text that is in no file; `label` stands for the file's name in messages. */
export function readServersText(
  text: string,
  label: string,
  context: ServersContext,
): Promise<LoadedServers> {
  return new ServersFile(label, text, context).read();
}

class ServersFile {
  readonly #file: string;
  readonly #document: JsonDocument;
  readonly #input: ServersContext;
  readonly #problems: ConfigProblem[] = [];
  readonly #unusable: { name: string; node: Node; problem: ConfigProblem }[] = [];

  constructor(file: string, text: string, input: ServersContext) {
    this.#file = file;
    this.#document = parseJsonObject(text, file, EXAMPLE);
    this.#input = input;
  }

  async read(): Promise<LoadedServers> {
    const { entries, inputs } = this.#sections();
    const project = projectFolder(this.#file);
    const scope: ExpansionContext = {
      env: this.#input.env,
      workspaceFolder: project.folder,
      home: homeOf(this.#input.env),
      inputs,
    };
    const elsewhere = project.isProject && project.folder !== this.#input.cwd;
    const servers: ConfiguredServer[] = [];
    for (const [name, { value }] of this.#named(entries)) {
      const known = this.#problems.length;
      const server = await readServerEntry(name, value, {
        scope,
        source: { kind: "file", path: this.#file },
        cwd: this.#input.cwd,
        defaultCwd: elsewhere ? project.folder : undefined,
        self: this.#input.self,
        report: (severity, node, message, fix) => this.#report(severity, node, message, fix, name),
      });
      // A warning can also keep a server from starting.
      const problem = this.#problems.slice(known).find(({ severity, message }) =>
        severity === "error" || message.includes("cannot start")
      );
      if (server) servers.push({ ...server, ...(problem ? { place: problem } : {}) });
      else if (problem) this.#unusable.push({ name, node: value, problem });
    }
    return {
      file: this.#file,
      servers,
      leftOut: this.#leftOut(new Set(servers.map(({ name }) => name))),
      problems: this.#problems,
      declared: entries.length,
    };
  }

  /** Each under a unique name, with as much of its entry as can be shown. */
  #leftOut(taken: Set<string>): ConfiguredServer[] {
    return this.#unusable.map(({ name, node, problem }) => {
      const own = problem.server = freeName(name, taken);
      taken.add(own);
      const { url, command } = Object(getNodeValue(node));
      const spec: ServerSpec = typeof url === "string"
        ? { type: "http", url, headers: {} }
        : { type: "stdio", command: typeof command === "string" ? command : "", args: [], env: {} };
      const { message, fix } = problem;
      return {
        name: own,
        spec,
        source: { kind: "file", path: this.#file },
        secrets: secretsOf(spec, []),
        problem: `${message.replace(/^server "[^"]*" (?!conflicts with)/, "Its entry ")}. ${fix}`,
        place: problem,
      };
    });
  }

  /** The servers and inputs, wherever the client whose file this is keeps them. */
  #sections(): { entries: Member[]; inputs: Map<string, string | undefined> } {
    const root = members(this.#document.root);
    const mcp = root.findLast(({ name }) => name === "mcp")?.value;
    const inner = mcp?.type === "object" ? members(mcp) : [];
    const sections = [
      ...root.filter(({ name }) => name === "mcpServers" || name === "servers"),
      ...inner.filter(({ name }) => name === "servers"),
    ];
    for (const { name, value } of sections) {
      if (value.type === "object") continue;
      this.#refuse(
        value,
        `"${name}" must be an object that maps names to servers`,
        `Write ${EXAMPLE}`,
      );
    }
    this.#checkRootKeys(root, sections.length > 0);
    const inputs = new Map<string, string | undefined>();
    for (const { name, value } of [...root, ...inner]) {
      if (name !== "inputs") continue;
      if (value.type !== "array") {
        this.#report("warning", value, '"inputs" must be a list', 'Write "inputs": [...]');
        continue;
      }
      for (const item of getNodeValue(value)) {
        const { id, default: fallback } = Object(item);
        if (typeof id !== "string") continue;
        inputs.set(id, typeof fallback === "string" ? fallback : undefined);
      }
    }
    return { entries: this.#lastOfEach(sections.flatMap(({ value }) => members(value))), inputs };
  }

  #checkRootKeys(root: readonly Member[], found: boolean): void {
    if (!found && root.some(({ name }) => name !== "$schema")) {
      const looksLikeServer = root.find(({ value }) =>
        members(value).some(({ name }) => name === "command" || name === "url")
      );
      const close = root.find(({ name }) => nearest(name, ["mcpServers", "servers"]));
      const fix = looksLikeServer
        ? `Move "${looksLikeServer.name}" and the other servers into "mcpServers": { ... }`
        : close
        ? `Rename "${close.name}" to "mcpServers"`
        : `Write ${EXAMPLE}`;
      this.#refuse(
        looksLikeServer?.key ?? close?.key ?? this.#document.root,
        'no "mcpServers" (Claude, Cursor), "servers" or "mcp.servers" (VS Code) found',
        fix,
      );
    }
    for (const { name, key } of root) {
      if (ROOT_KEYS.includes(name) || name === "$schema") continue;
      const guess = nearest(name, ROOT_KEYS);
      if (guess === undefined && SHARED_FILE.test(basename(this.#file))) continue;
      const fix = guess === undefined ? "Remove it" : `Did you mean "${guess}"?`;
      this.#report("warning", key, `unknown key "${name}"`, fix);
    }
  }

  /** One entry per name: if JSON repeats a name, the last one is used. */
  #lastOfEach(entries: readonly Member[]): Member[] {
    const byName = new Map<string, Member>();
    for (const entry of entries) {
      const earlier = byName.get(entry.name);
      if (earlier) {
        const { line, column } = this.#document.position(earlier.key.offset);
        this.#report(
          "warning",
          entry.key,
          `server "${entry.name}" is defined twice; this definition is used, ` +
            `not the one at line ${line}, column ${column}`,
          "Remove one of them",
          usableServerName(entry.name),
        );
      }
      byName.set(entry.name, entry);
    }
    return [...byName.values()];
  }

  *#named(entries: readonly Member[]): Iterable<[name: string, entry: Member]> {
    const owners = new Map<string, string>();
    for (const entry of entries) {
      const name = usableServerName(entry.name);
      if (!ServerName.safeParse(name).success) {
        this.#report("error", entry.key, "a server has no name", "Give it a name");
        this.#leaveOut("unnamed", entry);
        continue;
      }
      const owner = owners.get(name);
      if (owner !== undefined) {
        this.#report(
          "error",
          entry.key,
          `server "${entry.name}" conflicts with "${owner}": both become "${name}"`,
          "Rename one of them",
          name,
        );
        this.#leaveOut(name, entry);
        continue;
      }
      owners.set(name, entry.name);
      if (name !== entry.name) {
        this.#report(
          "warning",
          entry.key,
          `server "${entry.name}" is renamed to "${name}"`,
          "Use 1 to 64 letters, digits, _ or -",
          name,
        );
      }
      yield [name, entry];
    }
  }

  /** The problem just reported is the reason. */
  #leaveOut(name: string, { value }: Member): void {
    this.#unusable.push({ name, node: value, problem: this.#problems.at(-1)! });
  }

  #report(
    severity: ConfigProblem["severity"],
    node: Node,
    message: string,
    fix: string,
    server?: string,
  ): void {
    const place = this.#placeOf(node);
    const whose = server === undefined ? {} : { server };
    this.#problems.push({ severity, ...place, message, fix, ...whose });
  }

  #refuse(node: Node, message: string, fix: string): never {
    throw configError(located(this.#placeOf(node), message), fix);
  }

  #placeOf({ offset }: Node) {
    return { file: this.#file, ...this.#document.position(offset) };
  }
}

/** Folders of a project in which clients keep their files. */
const EDITOR_FOLDERS = [".vscode", ".cursor", ".zed", ".codex", ".gemini"];

/** The folder a file's relative paths and `${workspaceFolder}` mean. */
export function projectFolder(file: string): { folder: string; isProject: boolean } {
  const folder = dirname(file);
  const inEditorFolder = EDITOR_FOLDERS.includes(basename(folder));
  return {
    folder: inEditorFolder ? dirname(folder) : folder,
    isProject: inEditorFolder || basename(file) === ".mcp.json",
  };
}

interface LocateInput {
  /** What --config names; then nothing else is looked at. */
  path?: string | undefined;
  cwd: string;
  configDir?: string | undefined;
}

/** The files that may name the servers, first come first served. */
export function candidateFiles({ path, cwd, configDir }: LocateInput): string[] {
  if (path !== undefined) return [resolve(cwd, path)];
  const files = [join(cwd, ".mcp.json")];
  if (configDir !== undefined) {
    files.push(join(configDir, "mcp.json"), join(configDir, ".mcp.json"));
  }
  return files;
}

export const DEMO_SERVER: ConfiguredServer = {
  name: "weather",
  spec: { type: "demo" },
  source: { kind: "demo" },
  secrets: [],
};
