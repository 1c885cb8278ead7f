import type { Progress } from "@modelcontextprotocol/sdk/types";
import { configError } from "../config/files.ts";
import { GatewayError } from "../core/errors.ts";
import type { Command } from "./command.ts";
import { resolveListed } from "./tools.ts";
import { SERVER_OPERATIONS } from "../operations/servers.ts";
import { openTarget, type OperationTarget, type ToolResult } from "./operation_target.ts";
import { clearStatus, inert, printError, showStatus } from "./terminal.ts";
import { nearest } from "../core/text.ts";
import { resolveReference } from "../core/parameters.ts";
import { isObject } from "../core/rpc.ts";

const INTERRUPTED = 130;
/** After this long, people wonder why a call takes so long. */
const NOTICE_AFTER_MS = 2_000;

export const toolsCall: Command = {
  usage: "tools call SERVER.TOOL [JSON | NAME=VALUE...]",
  meaning: "Call a tool and print the result; exit code 1 if it is an error",
  details: [
    "Examples:",
    "  quartermaster tools call weather.get_forecast city=Oslo days=3",
    `  quartermaster tools call weather.get_forecast '{"city": "Oslo", "days": 3}'`,
    "  cat arguments.json | quartermaster tools call weather.get_forecast -",
    "",
    "The tool's schema decides how a value after = is read; to pass a list, repeat its name.",
    "If no gateway is running, starts only that server for the call. Ctrl-C cancels the call.",
    "With --json, prints the whole result, including structured content.",
  ],
  async run(input) {
    const [name, ...words] = input.positionals;
    if (name === undefined) {
      throw configError("tools call requires TOOL", `Usage: quartermaster ${this.usage}`);
    }
    const json = await jsonOf(words);
    await using servers = await openTarget(input);
    const found = await resolveListed(name, servers);
    const { server, name: tool, enabled, namespacedName, definition } = found;
    if (!enabled) {
      throw new GatewayError("TOOL_DISABLED", {
        message: `Tool "${namespacedName}" is off`,
        recoverySteps: [`Turn it on with \`quartermaster server tools ${server}\``],
      });
    }
    const args = json ?? parseWordArguments(words, definition.inputSchema);
    const stop = new AbortController();
    const interrupt = () => stop.abort();
    Deno.addSignalListener("SIGINT", interrupt);
    const tell = (text: string) => printError(inert(`${text}\n`));
    using notice = waitNotice(servers, server, NOTICE_AFTER_MS, tell);
    const onProgress = (progress: Progress) => {
      notice[Symbol.dispose]();
      showProgress(progress);
    };
    try {
      const { signal } = stop;
      const data = await servers.callTool({ server, tool, args, signal, onProgress });
      if (!data.isError) return { data, text: forReader(contentText(data)) };
      if (!input.flags.get("json")) printError(`${inert(contentText(data)).trimEnd()}\n`);
      return { data, text: "", exitCode: 1 };
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      tell("quartermaster: the call was canceled");
      return INTERRUPTED;
    } finally {
      clearStatus();
      Deno.removeSignalListener("SIGINT", interrupt);
    }
  },
};

/** The arguments, if they are given as one JSON text. */
async function jsonOf(words: string[]): Promise<Record<string, unknown> | undefined> {
  const [first, ...others] = words;
  if (first === undefined || (first !== "-" && !/^\s*[{[]/.test(first))) return undefined;
  if (others.length > 0) {
    throw configError(
      `tools call does not take "${others[0]}" after JSON arguments`,
      "Put all arguments into the JSON object",
    );
  }
  const text = first === "-" ? await new Response(Deno.stdin.readable).text() : first;
  return parseJsonArguments(text);
}

/** A terminal must not be steered by a server; a file or a program gets every byte. */
function forReader(text: string): string {
  const safe = Deno.stdout.isTerminal() ? inert(text) : text;
  return safe === "" || safe.endsWith("\n") ? safe : `${safe}\n`;
}

function showProgress({ progress, total, message }: Progress): void {
  const count = total === undefined ? String(progress) : `${progress} of ${total}`;
  const text = inert(message === undefined ? count : `${count}: ${message}`).replaceAll("\n", " ");
  if (!showStatus(text)) printError(`${text}\n`);
}

type Described = Pick<OperationTarget, "isRunning" | "address" | "run">;

/** Says why a call may take so long, unless it has ended or told of its progress by then. */
export function waitNotice(
  servers: Described,
  server: string,
  afterMs: number,
  tell: (text: string) => void,
): Disposable {
  let isOver = false;
  const timer = setTimeout(async () => {
    const text = await waitText(servers, server);
    if (!isOver) tell(text);
  }, afterMs);
  return {
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

async function waitText(servers: Described, server: string): Promise<string> {
  const { isRunning, address } = servers;
  // Only a gateway asks somebody; without one the call is made from here.
  if (isRunning && address !== undefined) {
    const described = await servers.run(SERVER_OPERATIONS.show, { name: server })
      .catch(() => undefined);
    if (described?.spec.mode === "confirm") {
      const place = new URL("/security/approvals", address).href;
      return `The call may wait for your approval: answer it at ${place}`;
    }
  }
  return "The call is still running; Ctrl-C cancels it";
}

/** A tool's answer for a person to read: text as it is, everything else described in a line. */
export function contentText({ content, structuredContent }: ToolResult): string {
  if (content.length === 0 && structuredContent !== undefined) {
    return `${JSON.stringify(structuredContent, null, 2)}\n`;
  }
  return content.map(blockText).map((text) => text.endsWith("\n") ? text : `${text}\n`).join("");
}

function blockText(block: Record<string, unknown>): string {
  const { type, text, data, mimeType, uri, name, description } = block;
  switch (type) {
    case "text":
      return String(text ?? "");
    case "image":
    case "audio":
      return `[${type}: ${mimeType ?? "unknown type"}, ${sizeOf(data)}]`;
    case "resource_link":
      return `[link: ${name ?? uri} <${uri}>${
        description === undefined ? "" : `, ${description}`
      }]`;
    case "resource": {
      const { uri, mimeType, text, blob } = isObject(block.resource) ? block.resource : {};
      const head = `resource: ${uri}${mimeType === undefined ? "" : `, ${mimeType}`}`;
      return typeof text === "string" ? `[${head}]\n${text}` : `[${head}, ${sizeOf(blob)}]`;
    }
    default:
      return `[${type}: ${JSON.stringify(block).slice(0, 200)}]`;
  }
}

function sizeOf(base64: unknown): string {
  const bytes = typeof base64 === "string"
    ? Math.floor(base64.replace(/[^A-Za-z0-9+/_-]/g, "").length * 3 / 4)
    : 0;
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KiB`;
}

type Arguments = Record<string, unknown>;

/** Reads a JSON object; `-` has been read from standard input by then. */
export function parseJsonArguments(text: string): Arguments {
  const form = `Write them as '{"name": "value"}', or as name=value`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    throw wrong(`The arguments are not valid JSON: ${why}`, form);
  }
  if (isObject(value)) return value;
  throw wrong("The arguments must be a JSON object", form);
}

export function parseWordArguments(words: readonly string[], inputSchema: unknown): Arguments {
  const schema = isObject(inputSchema) ? inputSchema : {};
  const properties = isObject(schema.properties) ? schema.properties : {};
  const schemaOf = (name: string) =>
    resolveReference(schema, Object.hasOwn(properties, name) ? properties[name] : {});
  const given = new Map<string, string[]>();
  for (const word of words) {
    const equals = word.indexOf("=");
    if (equals < 1) {
      throw wrong(
        `Cannot read the argument "${word}"`,
        "Write arguments as name=value, or all of them as one JSON object",
      );
    }
    const name = word.slice(0, equals);
    if (!given.has(name)) checkName(name, properties, schema.additionalProperties !== false);
    given.set(name, [...given.get(name) ?? [], word.slice(equals + 1)]);
  }
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const missing = required.filter((name) => !given.has(name));
  if (missing.length > 0) {
    const described = missing.map((name) => {
      const types = typesOf(schemaOf(name));
      return types.size === 0 ? name : `${name} (${[...types].join(" or ")})`;
    });
    throw wrong(
      `Missing arguments: ${described.join(", ")}`,
      `Pass ${missing.map((name) => `${name}=VALUE`).join(" ")}`,
    );
  }
  return Object.fromEntries(
    Array.from(given, ([name, texts]) => [name, valueOf(name, texts, schemaOf(name))]),
  );
}

function checkName(name: string, properties: Arguments, allowsOthers: boolean): void {
  if (Object.hasOwn(properties, name)) return;
  const guess = nearest(name, Object.keys(properties));
  // A schema that says nothing allows any other name; one that looks like a typo still is one.
  if (guess === undefined && allowsOthers) return;
  throw wrong(
    `The tool has no parameter "${name}"`,
    guess === undefined
      ? `Its parameters: ${Object.keys(properties).join(", ") || "none"}`
      : `Did you mean ${guess}? (JSON arguments can have any name)`,
  );
}

function valueOf(name: string, texts: string[], schema: Arguments): unknown {
  const types = typesOf(schema);
  const [first = "", ...others] = texts;
  if (types.has("array") && (others.length > 0 || !first.trim().startsWith("["))) {
    // Each text is one element.
    const items = typesOf(resolveReference({}, schema.items));
    return texts.map((text) => single(name, text, items));
  }
  if (others.length > 0) throw wrong(`${name} is given twice`, "Pass it once");
  return single(name, first, types);
}

function single(name: string, text: string, types: ReadonlySet<string>): unknown {
  if (types.size === 1 && types.has("string")) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch { /* Not JSON, so a plain text. */ }
  if (value !== undefined && (types.size === 0 || types.has(typeName(value)))) return value;
  if (Number.isInteger(value) && types.has("integer")) return value;
  if (types.size === 0 || types.has("string")) return text;
  const wanted = Array.from(types, (type) => TYPE_NAMES[type] ?? type).join(" or ");
  throw wrong(
    `${name} must be ${wanted}, not "${text.slice(0, 80)}"`,
    `Write ${name}=VALUE, with lists and objects as JSON`,
  );
}

function typesOf(schema: Arguments): Set<string> {
  const alternatives = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (alternatives) {
    const each = alternatives.map((option) => typesOf(resolveReference({}, option)));
    return each.some(({ size }) => size === 0) ? new Set() : each.reduce((a, b) => a.union(b));
  }
  const named = (Array.isArray(schema.type) ? schema.type : [schema.type])
    .filter((type) => typeof type === "string");
  if (named.length > 0) return new Set(named);
  const values = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : [];
  return new Set(values.map(typeName));
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const TYPE_NAMES: Record<string, string> = {
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "a JSON object",
  array: "a JSON list",
};

function wrong(message: string, step: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", { message, recoverySteps: [step] });
}
