import * as z from "zod";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { flatten, namespacedName } from "../catalog/names.ts";
import { shortened } from "../core/text.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { ContentRules } from "./content_screen.ts";
import { unambiguousUri } from "./resource_aggregate.ts";
import { callShared, listFromAll } from "./server_lists.ts";

/** Servers' skills are listed again after this long. */
const FRESH_MS = 60_000;
/** A search waits no longer for a server that has skills. */
const LIMIT_MS = 2_000;
const MOST_FOUND = 5;
const DESCRIPTION_CHARS = 150;

const Skill = z.looseObject({
  uri: z.string(),
  frontmatter: z.looseObject({
    name: z.string(),
    description: z.string(),
    "allowed-tools": z.union([z.string(), z.array(z.string())]).optional(),
  }),
});
type Skill = z.infer<typeof Skill>;

interface SkillDirectoryOptions {
  /** The servers whose tools a caller can call. */
  servers(principal: string): readonly ManagedServer[];
  rules: Pick<ContentRules, "list">;
}

export interface FoundSkill {
  skill: string;
  serverName: string;
  description: string;
  /** Of its SKILL.md, to be read at `/mcp`. */
  uri: string;
  /** Those of the found tools that it uses. */
  tools?: string[];
}

/** The skills of servers, for searches of tools: those that use a found tool, or that a query is about. */
export class SkillDirectory {
  readonly #options: SkillDirectoryOptions;
  readonly #known = new WeakMap<ManagedServer, { at: number; skills: Promise<Skill[]> }>();

  constructor(options: SkillDirectoryOptions) {
    this.#options = options;
  }

  async find(
    principal: string,
    query: string,
    tools: readonly CatalogTool[],
  ): Promise<FoundSkill[]> {
    const words = wordsOf(query);
    const servers = this.#options.servers(principal);
    const lists = await Promise.all(
      servers.map(async (server) =>
        (await this.#skillsOf(server)).map((skill) => ({ server: server.name, skill }))
      ),
    );
    return lists.flat().flatMap(({ server, skill: { uri, frontmatter } }) => {
      const { name, description, "allowed-tools": allowed = [] } = frontmatter;
      const used = toolsIn(allowed, server, tools);
      const about = wordsOf(`${name} ${description}`);
      const shared = words.intersection(about).size;
      const isAbout = shared > 0 && shared * 2 >= words.size;
      if (used.length === 0 && !isAbout) return [];
      return [{
        weight: used.length * 10 + shared,
        found: {
          skill: name,
          serverName: server,
          description: shortened(description, DESCRIPTION_CHARS),
          uri: unambiguousUri(server, uri),
          ...(used.length > 0 ? { tools: used } : {}),
        },
      }];
    }).sort((a, b) => b.weight - a.weight).slice(0, MOST_FOUND).map(({ found }) => found);
  }

  #skillsOf(server: ManagedServer): Promise<Skill[]> {
    // None is started, or waited for, to find out.
    if (server.status.state !== "ready" || server.isAsleep) return Promise.resolve([]);
    const known = this.#known.get(server);
    if (known && known.at > Math.max(Date.now() - FRESH_MS, server.status.since)) {
      return known.skills;
    }
    const skills = this.#list(server).catch(() => []);
    this.#known.set(server, { at: Date.now(), skills });
    return skills;
  }

  async #list(server: ManagedServer): Promise<Skill[]> {
    const { signal } = new AbortController();
    const request = { id: 0, method: "", params: {}, text: "", signal, send: () => {} };
    const items = await listFromAll([server], "skills", request, callShared, LIMIT_MS);
    const found: Skill[] = [];
    for (const { text, value } of items) {
      const list = `{"skills":[${text}]}`;
      const skill = Skill.safeParse(value);
      const isShown = await this.#options.rules.list(server.name, "skills", list) === list;
      if (skill.success && isShown) found.push(skill.data);
    }
    return found;
  }
}

/** The tools among those that a skill may use: it names them as its server does, or as clients do. */
function toolsIn(
  allowed: string | readonly string[],
  server: string,
  tools: readonly CatalogTool[],
): string[] {
  const named = new Set(typeof allowed === "string" ? allowed.split(/[\s,]+/) : allowed);
  return tools.filter((tool) => {
    const whole = namespacedName(tool.server, tool.name);
    return (tool.server === server && named.has(tool.name)) || named.has(whole) ||
      named.has(flatten(whole));
  }).map((tool) => namespacedName(tool.server, tool.name));
}

function wordsOf(text: string): Set<string> {
  return new Set((text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []).map(stem));
}

/** "forms" and "form" are one word here. */
function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ing|es|s)$/, "") : word;
}
