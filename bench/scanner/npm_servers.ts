/**
 * Starts the servers of servers.txt from npm and keeps what they list in .cache/scanner, which is
 * not part of the repository: the texts belong to others. No server gets a real credential, a home
 * folder of a person, or more time than it needs.
 */
import { dirname, fromFileUrl, join } from "@std/path";
import * as z from "zod";
import { endGroups } from "../../lib/servers/processes/process_group.ts";

const HERE = dirname(fromFileUrl(import.meta.url));
export const COLLECTED = join(HERE, "../../.cache/scanner");
const AT_ONCE = 3;
/** Most of it is npm's: a server with many packages takes a minute to install. */
const LIMIT_MS = 100_000;
const GRACE_MS = 2_000;
const MAX_PAGES = 20;
/** What npm and servers need of the environment; nothing else of it is theirs. */
const PASSED = ["PATH", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY"];

const Reply = z.looseObject({
  id: z.unknown(),
  result: z.looseObject({
    instructions: z.string().optional(),
    nextCursor: z.string().optional(),
    tools: z.array(z.record(z.string(), z.unknown())).default([]),
  }).optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

export const ListedServer = z.object({
  package: z.string(),
  instructions: z.string().optional(),
  tools: z.array(z.record(z.string(), z.unknown())),
});
export type ListedServer = z.infer<typeof ListedServer>;

interface Entry {
  package: string;
  args: string[];
  env: Record<string, string>;
}

/** Lines of `package@version`, its arguments and its variables; `{FOLDER}` is an empty folder. */
function entriesIn(text: string): Entry[] {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).map((line) => {
    const [name = "", ...words] = line.split(" ");
    const variables = words.filter((word) => /^[A-Z][A-Z0-9_]*=/.test(word));
    return {
      package: name,
      args: words.filter((word) => !variables.includes(word)),
      env: Object.fromEntries(variables.map((each) => {
        const at = each.indexOf("=");
        return [each.slice(0, at), each.slice(at + 1)];
      })),
    };
  });
}

/** A file name for a package: `@a/b@1` is `_a_b@1.json`. */
function fileOf(name: string): string {
  return `${name.replace(/[^\w.@-]/g, "_").replace(/^@/, "_")}.json`;
}

/** Starts every server that has not been listed yet, a few at a time. */
export async function collectServers(report: (line: string) => void): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_servers_" });
  await Deno.mkdir(COLLECTED, { recursive: true });
  const waiting = entriesIn(await Deno.readTextFile(join(HERE, "servers.txt")));
  const work = async () => {
    for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
      const path = join(COLLECTED, fileOf(entry.package));
      if (await Deno.stat(path).then(() => true, () => false)) continue;
      try {
        const listed = await list(entry, folder);
        await Deno.writeTextFile(path, JSON.stringify(listed));
        report(`${entry.package}: ${listed.tools.length} tools`);
      } catch (error) {
        report(`${entry.package}: ${error instanceof Error ? error.message : error}`);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function list(entry: Entry, folder: string): Promise<ListedServer> {
  const home = await Deno.makeTempDir({ dir: folder });
  const fill = (text: string) => text.replaceAll("{FOLDER}", home);
  const env = Object.fromEntries(PASSED.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
  const child = new Deno.Command("npx", {
    args: ["-y", entry.package, ...entry.args.map(fill)],
    cwd: home,
    clearEnv: true,
    env: {
      ...env,
      HOME: home,
      npm_config_cache: join(folder, "npm"),
      npm_config_update_notifier: "false",
      ...Object.fromEntries(Object.entries(entry.env).map(([name, text]) => [name, fill(text)])),
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
    detached: true,
  }).spawn();
  const late = Promise.withResolvers<never>();
  // Not only its end is waited for: what it started can keep its pipes open.
  const timer = setTimeout(
    () => late.reject(new Error(`It took longer than ${LIMIT_MS / 1000} s`)),
    LIMIT_MS,
  );
  try {
    return { package: entry.package, ...await Promise.race([handshake(child), late.promise]) };
  } finally {
    clearTimeout(timer);
    await endGroups([child.pid], GRACE_MS);
    await child.status;
    await Deno.remove(home, { recursive: true }).catch(() => {});
  }
}

async function handshake(child: Deno.ChildProcess): Promise<Omit<ListedServer, "package">> {
  const writer = child.stdin.getWriter();
  const replies = repliesOf(child.stdout);
  const send = (message: object) =>
    writer.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`));
  let lastId = 0;
  const request = async (method: string, params: object) => {
    const id = ++lastId;
    await send({ id, method, params });
    for await (const text of replies) {
      const reply = Reply.safeParse(JSON.parse(text)).data;
      if (reply?.id !== id) continue;
      if (reply.error) throw new Error(reply.error.message);
      return reply.result;
    }
    throw new Error("It ended, or took too long, before it had listed its tools");
  };
  const begun = await request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "bench", version: "1" },
  });
  await send({ method: "notifications/initialized" });
  const tools: Record<string, unknown>[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await request("tools/list", cursor === undefined ? {} : { cursor });
    tools.push(...result?.tools ?? []);
    cursor = result?.nextCursor;
    if (cursor === undefined) break;
  }
  const instructions = begun?.instructions;
  return instructions === undefined ? { tools } : { tools, instructions };
}

/** One generator for all requests: an early end of a loop over the stream would close it. */
function repliesOf(stdout: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncIterable<string> {
  const reader = stdout.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const lines: string[] = [];
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        for (;;) {
          const line = lines.shift();
          // Some print greetings there.
          if (line?.startsWith("{")) return { value: line, done: false };
          if (line !== undefined) continue;
          const { value, done } = await reader.read();
          if (done) return { value: undefined, done: true };
          const parts = (rest + value).split("\n");
          rest = parts.pop() ?? "";
          lines.push(...parts);
        }
      },
    }),
  };
}
