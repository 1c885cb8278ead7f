import { createHash } from "node:crypto";
import { isProgram, isRemote, type ServerSpec } from "../core/server.ts";

const MAX_LENGTH = 64;

/** The name as the gateway can use it; the same name always becomes the same. */
export function usableServerName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/gu, "_");
  if (plain.length <= MAX_LENGTH) return plain;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${plain.slice(0, MAX_LENGTH - hash.length - 1)}_${hash}`;
}

/** Words before the one that says what is started. */
const RUNNERS = new Set([
  ...["npx", "bunx", "uvx", "pipx", "pnpm", "yarn", "npm", "dlx", "exec", "run", "tool", "x"],
  ...["deno", "node", "bun", "python", "python3", "uv", "tsx", "docker", "podman", "sh", "bash"],
  ...["java", "ruby", "go", "cargo", "cmd", "/c"],
]);
const COMMON_HOSTS = new Set(["mcp", "www", "api", "server", "gateway", "app"]);
const COMMON_PATHS = new Set(["mcp", "sse", "api", "v1", "v2", "stream"]);

/** A name for a server that has none, from where it is or what is started. */
export function suggestedName(spec: ServerSpec): string {
  const found = isProgram(spec)
    ? nameOfProgram([spec.command, ...spec.args])
    : isRemote(spec)
    ? nameOfAddress(spec.url)
    : spec.type;
  const name = usableServerName(found).replace(/^[_-]+|[_-]+$/g, "").toLowerCase();
  return name === "" ? "server" : name;
}

/** The first of name, name-2, name-3 that nobody has. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let number = 2;; number++) {
    const next = `${name.slice(0, 60)}-${number}`;
    if (!taken.has(next)) return next;
  }
}

function nameOfAddress(address: string): string {
  if (!URL.canParse(address)) return "";
  const { hostname, pathname } = new URL(address);
  const step = pathname.split("/").filter((part) => part !== "" && !COMMON_PATHS.has(part)).at(-1);
  const isLocal = hostname === "localhost" || /^[\d.]+$|^\[/.test(hostname);
  if (isLocal) return step ?? "local";
  const labels = hostname.split(".");
  const named = labels.slice(0, -1).filter((label) => !COMMON_HOSTS.has(label));
  return named.at(-1) ?? labels[0] ?? "";
}

function nameOfProgram(words: readonly string[]): string {
  const isContainer = /^(?:docker|podman)$/.test(words[0] ?? "");
  const plain = words.filter((word) => !word.startsWith("-") && !RUNNERS.has(word));
  // An image is told from a flag's value by the slash that nearly all have.
  const package_ = isContainer
    ? plain.find((word) => word.includes("/")) ?? plain.at(-1)
    : plain[0];
  const base = (package_ ?? words[0] ?? "").replace(/(?<=.)@[^@/]*$/, "").replace(/:[\w.-]+$/, "")
    .split(/[\\/]/).at(-1) ?? "";
  const bare = base.replace(/\.(?:[cm]?[jt]s|py|exe|sh|jar)$/, "");
  const short = bare.replace(/^(?:mcp-server-|server-|mcp-)/, "")
    .replace(/(?:-mcp-server|-server-mcp|-mcp|-server)$/, "");
  return short === "" ? bare : short;
}
