import { createHash } from "node:crypto";
import { dirname, fromFileUrl, join } from "@std/path";
import * as z from "zod";
import type { ScanContext } from "../../lib/trust/scanner/scan.ts";
import {
  OTHER_SERVERS,
  OTHER_TOOLS,
  type Part,
} from "../../tests/fixtures/attacks/attack_samples.ts";
import { COLLECTED, ListedServer } from "./npm_servers.ts";

/** The rules are written against one half; of the other, only sums are looked at. */
export type Half = "tuning" | "held-out";

/** Chosen before anything was counted, so that each kind of attack is in both halves. */
const SALT = "j";
/** Every server is judged among so many others. */
const NEIGHBORS = 10;
const RESERVED = new Set(["tool_discovery", "tool_execute", "tool_capabilities"]);

const Attack = z.strictObject({
  source: z.string(),
  family: z.string(),
  tool: z.record(z.string(), z.unknown()),
  /** Words of the attack: none of them may be left in what is served. */
  gone: z.array(z.string()),
});
export type Attack = z.infer<typeof Attack>;

export interface OrdinaryServer {
  name: string;
  half: Half;
  tools: ListedServer["tools"];
  instructions?: string | undefined;
}

function halfOf(source: string): Half {
  if (source.startsWith("blind writer")) return "tuning";
  if (source.startsWith("held out: ")) return "held-out";
  const digest = createHash("sha256").update(SALT + source).digest();
  return digest.readUInt32BE(0) % 2 === 1 ? "held-out" : "tuning";
}

/** What the servers of servers.txt listed here, by the hash of the package's name. */
export async function ordinaryServers(): Promise<OrdinaryServer[]> {
  const servers: OrdinaryServer[] = [];
  for await (const { name: file } of Deno.readDir(COLLECTED)) {
    const { package: name, tools, instructions } = ListedServer.parse(
      JSON.parse(await Deno.readTextFile(join(COLLECTED, file))),
    );
    if (tools.length === 0) continue;
    const bare = name.replace(/(?<=.)@.*$/, "");
    servers.push({ name: bare, half: halfOf(bare), tools, instructions });
  }
  return servers.sort((a, b) => a.name < b.name ? -1 : 1);
}

export async function attacks(): Promise<(Attack & { half: Half })[]> {
  const path = join(dirname(fromFileUrl(import.meta.url)), "attacks.jsonl");
  const text = await Deno.readTextFile(path);
  return text.trim().split("\n").map((line) => {
    const attack = Attack.parse(JSON.parse(line));
    return { ...attack, half: halfOf(attack.source) };
  });
}

/** Everything that may be learned from, as the trainer takes it. */
export async function tuningHalf(): Promise<{ from: string; parts: Part[]; isAttack: boolean }[]> {
  const servers = (await ordinaryServers()).filter(({ half }) => half === "tuning");
  const ordinary = servers.flatMap((server) => {
    const around = contextOf(server, servers);
    return server.tools.map((definition) => ({
      from: server.name,
      parts: [{ definition, around }],
      isAttack: false,
    }));
  });
  const hostile = (await attacks()).filter(({ half }) => half === "tuning").map((attack) => ({
    from: attack.source,
    parts: [{ definition: attack.tool, around: contextOfAttack(attack) }],
    isAttack: true,
  }));
  return [...ordinary, ...hostile];
}

/** A server as it would be named in a config, among the ones after it. */
export function contextOf(server: OrdinaryServer, all: readonly OrdinaryServer[]): ScanContext {
  const at = all.indexOf(server);
  const others = Array.from({ length: NEIGHBORS }, (_, i) => all[(at + 1 + i) % all.length]!)
    .filter((other) => other !== server);
  return {
    server: shortName(server.name),
    otherServers: new Set(others.map(({ name }) => shortName(name))),
    otherTools: new Map(
      others.flatMap(({ tools }) =>
        tools.map(({ name, description }) => [String(name), String(description ?? "")])
      ),
    ),
    ownTools: new Set(server.tools.map(({ name }) => String(name))),
    reserved: RESERVED,
  };
}

/** What an attack finds beside it: the tools and servers that many users have. */
export function contextOfAttack({ tool }: Attack): ScanContext {
  return {
    server: "demo",
    otherServers: OTHER_SERVERS,
    otherTools: OTHER_TOOLS,
    ownTools: new Set([String(tool.name)]),
    reserved: RESERVED,
  };
}

function shortName(name: string): string {
  const bare = name.replace(/^@([^/]+)\//, "").replace(
    /^(mcp-server-|server-|mcp-)|(-mcp-server|-mcp|-server)$/g,
    "",
  );
  return /^(mcp|server|cli)?$/.test(bare) ? name.slice(1).split("/")[0]! : bare;
}
