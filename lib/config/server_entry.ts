import { isAbsolute, resolve, sep } from "node:path";
import { findNodeAtLocation, type Node } from "jsonc-parser";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { secretNamesIn } from "../core/secret_reference.ts";
import {
  type Isolation,
  isProgram,
  isTransport,
  type ProgramSpec,
  type RemoteSpec,
  type ServerSource,
  type ServerSpec,
  TRANSPORTS,
  type TransportType,
  transportTypes,
} from "../core/server.ts";
import { isBlockedPort } from "./address.ts";
import { parseEnvFile } from "./platform.ts";
import {
  type Entry,
  type EntryKey,
  entryValues,
  fieldPath,
  ownerFieldsOf,
  parseEntry,
} from "./entry_schema.ts";
import { expand, type ExpansionContext } from "./placeholders.ts";
import { type GatewayIdentity, pointsAtGateway } from "./loops.ts";
import { type ConfigProblem, findTextFile } from "./files.ts";
import { secretsOf } from "./secrets.ts";

export interface ConfiguredServer {
  name: string;
  /** Where `problem` is set, it may be incomplete: show it, but do not start it. */
  spec: ServerSpec;
  source: ServerSource;
  secrets: string[];
  problem?: string;
  place?: Pick<ConfigProblem, "line" | "column">;
}

interface EntryContext {
  scope: ExpansionContext;
  source: ServerSource;
  cwd: string;
  /** The folder a server runs in unless its entry says otherwise. */
  defaultCwd: string | undefined;
  self: GatewayIdentity;
  report(severity: "warning" | "error", node: Node, message: string, fix: string): void;
}

/** Where a secret can stand. */
const FILLED_AT_START: ReadonlySet<EntryKey> = new Set<EntryKey>(["args", "env", "headers", "url"]);

const TYPES = new Map<string, TransportType>(
  transportTypes().flatMap((type) =>
    [type, ...TRANSPORTS[type].aliases].map((name) => [name, type] as const)
  ),
);

const OFFERED = transportTypes().filter((type) => TRANSPORTS[type].reach !== "in-process")
  .map((type) => `"${type}"`);

/** Reads one server's entry; undefined if nothing can be made of it, which was then reported. */
export function readServerEntry(
  name: string,
  node: Node,
  context: EntryContext,
): Promise<ConfiguredServer | undefined> {
  return new EntryReader(name, node, context).read();
}

class EntryReader {
  readonly #name: string;
  readonly #node: Node;
  readonly #context: EntryContext;
  #values: Map<EntryKey, Node> = new Map();
  /** What the environment gave, which may be secret. */
  #foreign: string[] = [];
  #problems: string[] = [];

  constructor(name: string, node: Node, context: EntryContext) {
    this.#name = name;
    this.#node = node;
    this.#context = context;
  }

  async read(): Promise<ConfiguredServer | undefined> {
    if (this.#node.type !== "object") {
      const fix = 'Write { "command": "..." } or { "url": "..." }';
      return this.#fail(this.#node, "must be an object", fix);
    }
    this.#values = entryValues(this.#node, this.#name, this.#warn);
    const entry = parseEntry(this.#values, (...at) => this.#fail(...at));
    const spec = entry && await this.#specOf(entry);
    if (!entry || !spec) return undefined;
    Object.assign(spec, ownerFieldsOf(entry));
    await this.#checkPlace(spec);
    return {
      name: this.#name,
      spec,
      source: this.#context.source,
      secrets: secretsOf(spec, this.#foreign),
      ...(this.#problems.length > 0 ? { problem: [...new Set(this.#problems)].join("; ") } : {}),
    };
  }

  async #specOf(entry: Entry): Promise<ServerSpec | undefined> {
    const { command, url } = entry;
    const type = this.#typeOf(entry);
    if (type === undefined) return undefined;
    if (isTransport(type, "in-process")) return { type };
    if (command !== undefined && url !== undefined) {
      return this.#fail(this.#node, 'has both "command" and "url"', "Keep only one");
    }
    if (command === undefined && url === undefined) {
      const fix = 'Add "command" to run a program, or "url" to connect to a remote server';
      return this.#fail(this.#node, 'has neither "command" nor "url"', fix);
    }
    if (isTransport(type, "program")) {
      if (command !== undefined) return await this.#programSpec(type, command, entry);
      const message = `has the type "${type}" but no "command"`;
      return this.#fail(this.#at("type"), message, 'Add a "command", or set the type to "http"');
    }
    if (url !== undefined) return this.#remoteSpec(type, url, entry);
    const message = `has the type "${type}" but no "url"`;
    return this.#fail(this.#at("type"), message, 'Add a "url", or set the type to "stdio"');
  }

  #typeOf({ type, command }: Entry): TransportType | undefined {
    // A URL without a type may be either; the connection finds out and falls back to SSE.
    if (type === undefined) return command === undefined ? "http" : "stdio";
    const known = TYPES.get(type.toLowerCase().replace(/[-_ ]/g, ""));
    if (known !== undefined) return known;
    return this.#fail(
      this.#at("type"),
      `has the unsupported type "${type}"`,
      `Use ${OFFERED.slice(0, -1).join(", ")} or ${OFFERED.at(-1)}`,
    );
  }

  async #programSpec(type: ProgramSpec["type"], command: string, entry: Entry) {
    this.#warnUnused(["headers"], "a server that runs as a program");
    const { workspaceFolder } = this.#context.scope;
    const cwd = entry.cwd === undefined
      ? this.#context.defaultCwd
      : resolve(workspaceFolder, this.#fill(entry.cwd, "cwd"));
    const program = this.#fill(command, "command");
    const args = (entry.args ?? []).map((arg, index) => this.#fill(arg, "args", index));
    const env = new Map(await this.#envFile(entry.envFile));
    for (const [key, value] of Object.entries(entry.env ?? {})) {
      if (value === null) env.delete(key);
      else env.set(key, this.#fill(value, "env", key));
    }
    return {
      type,
      command: this.#programPath(program, cwd ?? workspaceFolder),
      args,
      env: Object.fromEntries(env),
      ...(cwd === undefined ? {} : { cwd }),
      ...(entry.lazy === undefined ? {} : { lazy: entry.lazy }),
      ...(entry.pin === undefined ? {} : { pin: entry.pin }),
      ...(entry.isolation === undefined ? {} : { isolation: this.#isolation(entry.isolation) }),
    };
  }

  #isolation(isolation: Isolation): Isolation {
    const { workspaceFolder, home } = this.#context.scope;
    const paths = (key: "read" | "write") =>
      isolation[key]?.map((path, index) => {
        const filled = this.#fill(path, "isolation", key, index);
        return resolve(workspaceFolder, filled.replace(/^~(?=\/|$)/, home ?? "~"));
      });
    return { ...isolation, ...defined({ read: paths("read"), write: paths("write") }) };
  }

  // Clients let a relative program start from the server's folder; the system would take ours.
  #programPath(program: string, folder: string): string {
    const isPath = program.includes("/") || program.includes(sep);
    return isPath && !isAbsolute(program) && this.#problems.length === 0
      ? resolve(folder, program)
      : program;
  }

  async #envFile(path: string | undefined): Promise<[string, string][]> {
    if (path === undefined) return [];
    const file = resolve(this.#context.scope.workspaceFolder, this.#fill(path, "envFile"));
    if (this.#problems.length > 0) return [];
    try {
      const text = await findTextFile(file);
      if (text !== undefined) return parseEnvFile(text);
      this.#hold("error", this.#at("envFile"), `file not found: ${file}`, 'Correct "envFile"');
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#hold("error", this.#at("envFile"), error.message, 'Correct "envFile"');
    }
    return [];
  }

  #remoteSpec(type: RemoteSpec["type"], text: string, entry: Entry): ServerSpec | undefined {
    const unused = ["args", "env", "envFile", "cwd", "lazy", "pin", "isolation"] as const;
    this.#warnUnused(unused, "a server with a URL");
    const url = this.#fill(text, "url");
    const headers: Record<string, string> = {};
    for (const [key, value] of Object.entries(entry.headers ?? {})) {
      headers[key] = this.#fill(value, "headers", key);
    }
    const spec: ServerSpec = { type, url, headers };
    if (this.#problems.length > 0) return spec;
    const parsed = URL.parse(url);
    if (parsed?.protocol !== "http:" && parsed?.protocol !== "https:") {
      const fix = secretNamesIn(url).length === 0
        ? "Use a full URL, such as https://example.com/mcp"
        : "Write the host in plain text; only the path and the query can contain a secret";
      return this.#fail(this.#at("url"), 'has a "url" that is not a valid http or https URL', fix);
    }
    if (isBlockedPort(parsed)) {
      const message = `uses port ${parsed.port}, which HTTP clients block`;
      return this.#fail(this.#at("url"), message, "Run the server on another port");
    }
    for (const [key, value] of Object.entries(headers)) {
      if (isHeader(key, value)) continue;
      const message = `has a header "${key}" that cannot be sent`;
      const fix = "Remove line breaks and characters beyond Latin-1 from its name and value";
      return this.#fail(this.#at("headers", key), message, fix);
    }
    return spec;
  }

  /** Holds back what would run this gateway. */
  async #checkPlace(spec: ServerSpec): Promise<void> {
    if (await pointsAtGateway(spec, this.#context.self, this.#context.cwd)) {
      this.#hold(
        "error",
        this.#at(isProgram(spec) ? "command" : "url"),
        "it points to this gateway itself",
        "Remove it: the gateway cannot be its own server",
      );
    }
  }

  #fill(text: string, key: EntryKey, ...rest: (string | number)[]): string {
    const { text: filled, values, unset, malformed } = expand(text, this.#context.scope);
    const node = this.#at(key, ...rest);
    const place = fieldPath(key, ...rest);
    this.#foreign.push(...values);
    for (const name of FILLED_AT_START.has(key) ? [] : secretNamesIn(filled)) {
      const reason = `the secret ${name} cannot be used in ${place}`;
      this.#hold("error", node, reason, "Use it in args, env, headers or url");
    }
    for (const { what, fix } of unset) this.#hold("warning", node, `${what} (in ${place})`, fix);
    for (const odd of new Set(malformed)) {
      this.#warn(
        node,
        `server "${this.#name}": ${odd} in ${place} is not a placeholder and is passed unchanged`,
        "Write ${NAME} or ${NAME:-default}",
      );
    }
    return filled;
  }

  #warnUnused(keys: readonly EntryKey[], kind: string): void {
    for (const key of keys) {
      const node = this.#values.get(key);
      if (!node) continue;
      this.#warn(node, `server "${this.#name}": "${key}" has no effect for ${kind}`, "Remove it");
    }
  }

  /** Keeps the server in the list, but from being started. */
  #hold(severity: "warning" | "error", node: Node, reason: string, fix: string): void {
    this.#problems.push(reason);
    const message = `server "${this.#name}" cannot start: ${reason}`;
    this.#context.report(severity, node, message, fix);
  }

  #fail(node: Node, message: string, fix: string): undefined {
    this.#context.report("error", node, `server "${this.#name}" ${message}`, fix);
  }

  #warn = (node: Node, message: string, fix: string): void =>
    this.#context.report("warning", node, message, fix);

  #at(key: EntryKey, ...rest: (string | number)[]): Node {
    const node = this.#values.get(key);
    return (node && findNodeAtLocation(node, rest)) ?? node ?? this.#node;
  }
}

function isHeader(name: string, value: string): boolean {
  try {
    new Headers([[name, value]]);
    return true;
  } catch {
    return false;
  }
}
