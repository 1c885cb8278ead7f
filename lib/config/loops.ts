import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isLoopback } from "./address.ts";
import { isProgram, isRemote, type ProgramSpec, type ServerSpec } from "../core/server.ts";

export interface GatewayIdentity {
  /** The port it listens on; 0 while it has none. */
  port: number;
  host: string;
  publicUrl?: string | undefined;
  /** `import.meta.url` or the path of main.ts. */
  mainModule: string;
  /** This machine's addresses, which matter where the host is a wildcard. */
  addresses?: readonly string[];
}

/** Whether the server is this gateway, which would then call itself without end. */
export async function pointsAtGateway(
  spec: ServerSpec,
  self: GatewayIdentity,
  cwd: string,
): Promise<boolean> {
  if (isProgram(spec)) return await runsSelf(spec, self, spec.cwd ?? cwd);
  return isRemote(spec) && URL.canParse(spec.url) && reachesSelf(new URL(spec.url), self);
}

function reachesSelf(url: URL, self: GatewayIdentity): boolean {
  const host = plainHost(url.hostname);
  if (self.publicUrl !== undefined && URL.canParse(self.publicUrl)) {
    const own = new URL(self.publicUrl);
    // A scheme's default port is "" on both: http redirects to https at the same place.
    const samePort = url.port === own.port || portOf(url) === portOf(own);
    if (host === plainHost(own.hostname) && samePort) return true;
  }
  if (portOf(url) !== self.port) return false;
  const own = plainHost(self.host);
  // Connecting to a wildcard address reaches the machine itself.
  const here = isThisMachine(host) || isWildcard(host);
  if (host === own) return true;
  if (isThisMachine(own)) return here;
  return isWildcard(own) && (here || (self.addresses ?? []).map(plainHost).includes(host));
}

function portOf(url: URL): number {
  return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
}

/** One form for each host: lower case, no brackets, no last dot, IPv4 out of IPv6. */
function plainHost(host: string): string {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(bare) ?? [];
  if (high === undefined || low === undefined) return bare.replace(/^::ffff:(?=\d+\.)/, "");
  return [high, low].flatMap((part) => {
    const value = parseInt(part, 16);
    return [value >> 8, value & 255];
  }).join(".");
}

function isThisMachine(host: string): boolean {
  return isLoopback(host) ||
    /\.localhost$|^localhost\.localdomain$|^ip6-(localhost|loopback)$/.test(host);
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

async function runsSelf(spec: ProgramSpec, self: GatewayIdentity, cwd: string): Promise<boolean> {
  const main = toPath(self.mainModule);
  const checkout = dirname(main);
  const words = shellWords([spec.command, ...spec.args]);
  let folder = cwd;
  for (const [index, word] of words.entries()) {
    const next = words[index + 1];
    if (["cd", "--cwd", "-C"].includes(word) && next !== undefined) folder = resolve(cwd, next);
    if (word.startsWith("--cwd=")) folder = resolve(cwd, word.slice("--cwd=".length));
    if (["--config", "-c"].includes(word) && next?.match(/deno\.jsonc?$/)) {
      folder = dirname(resolve(cwd, next));
    }
    // In a checkout, cli.ts starts the gateway too.
    for (const file of [main, join(checkout, "cli.ts")]) {
      if (await isSameFile(word, file, folder)) return true;
    }
  }
  if (words.some((word, index) => isGatewayProgram(word, index, words))) return true;
  return startsTask(words) && isInside(folder, checkout);
}

// The program itself, or a package runner's first argument: `npx -y quartermaster@latest`.
function isGatewayProgram(word: string, index: number, words: readonly string[]): boolean {
  const program = programName(word).replace(/^(npm|jsr):/, "").replace(/(?<=.)@.*$/, "");
  if (program !== "quartermaster") return false;
  const before = words.slice(words.lastIndexOf(";", index) + 1, index)
    .filter((earlier) => !earlier.startsWith("-"));
  return before.every((earlier) => RUNNERS.has(programName(earlier)));
}

const RUNNERS = new Set([
  ...["node", "npx", "npm", "exec", "x", "bunx", "bun", "pnpm", "dlx", "yarn", "deno", "run"],
  ...["sh", "bash", "zsh", "dash", "cmd", "/c", "env"],
]);

function startsTask(words: readonly string[]): boolean {
  const task = words.indexOf("task");
  return task > 0 && words.slice(0, task).some((word) => programName(word) === "deno") &&
    words.slice(task + 1).some((word) => ["start", "serve", "dev", "cli"].includes(word));
}

// `sh -c "deno task start --stdio"` hides its words in one argument.
function shellWords(words: readonly string[]): string[] {
  const shell = /^(sh|bash|zsh|dash|fish|cmd|pwsh|powershell)$/.test(programName(words[0] ?? ""));
  if (!shell) return [...words];
  return words.flatMap((word) => word.replace(/[;&|]+/g, " ; ").split(/[\s"']+/))
    .filter((word) => word !== "");
}

function programName(word: string): string {
  return basename(word.replaceAll("\\", "/")).toLowerCase().replace(/\.(exe|cmd|bat|ps1|mjs)$/, "");
}

async function isSameFile(word: string, main: string, folder: string): Promise<boolean> {
  if (basename(toPath(word)) !== basename(main)) return false;
  const path = resolve(folder, toPath(word));
  if (path === main) return true;
  try {
    return await Deno.realPath(path) === await Deno.realPath(main);
  } catch {
    // Whatever it is, it cannot be run from here.
    return false;
  }
}

function toPath(pathOrUrl: string): string {
  if (!pathOrUrl.startsWith("file:")) return pathOrUrl;
  try {
    return fileURLToPath(pathOrUrl);
  } catch {
    return pathOrUrl;
  }
}

function isInside(folder: string, parent: string): boolean {
  return !/^\.\.([/\\]|$)|^[A-Za-z]:/.test(relative(parent, folder));
}
