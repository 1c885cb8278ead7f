import * as z from "zod/mini";
import { fuzzyMatch } from "./fuzzy.ts";
import { PAGES } from "./pages.ts";
import { COMMON_ACTIONS, indexActions } from "./palette_actions.ts";
import { SECURITY_PAGES } from "./security_pages.ts";
import { serverPath, toolPath, toolsetPath } from "./paths.ts";

export const PaletteIndex = z.object({
  servers: z.array(
    z.object({ name: z.string(), state: z.string(), tools: z.array(z.string()) }),
  ),
  toolsets: z.optional(z.array(z.object({ name: z.string(), isEquipped: z.boolean() }))),
});
/** What the gateway tells the palette. */
export type PaletteIndex = z.infer<typeof PaletteIndex>;

export interface PaletteItem {
  /** Stable across sessions: recently used ones are remembered by it. */
  id: string;
  group: "Pages" | "Actions" | "Servers" | "Toolsets" | "Tools";
  icon: string;
  label: string;
  /** The server of a tool, or what a page belongs to. */
  aside?: string;
  /** The key that does the same. */
  key?: string;
  isName?: boolean;
  href?: string;
  /** What the browser does instead of going somewhere. */
  action?: PaletteAction;
  /** What the gateway is asked to do. */
  post?: Record<string, string>;
  /** A file to fetch. */
  download?: string;
}

export type PaletteAction =
  | "theme-system"
  | "theme-light"
  | "theme-dark"
  | "theme-switch"
  | "help"
  | "rail";

export interface PaletteGroup {
  title: string;
  items: { item: PaletteItem; positions: number[] }[];
}

const GROUPS = ["Pages", "Servers", "Toolsets", "Tools", "Actions"] as const;
const MAX_PER_GROUP = 16;
const MAX_RECENT = 5;

/** Everything the palette can find, in a fixed order. */
export function paletteItems(index: PaletteIndex | undefined): PaletteItem[] {
  const items: PaletteItem[] = PAGES.map((page) => ({
    id: `p:${page.path}`,
    group: "Pages",
    icon: page.icon,
    label: page.label,
    key: page.key,
    href: page.path,
  }));
  // The first of them is in the rail.
  for (const { path, label, icon } of SECURITY_PAGES.slice(1)) {
    items.push({ id: `p:${path}`, group: "Pages", icon, label, aside: "Security", href: path });
  }
  items.push(...COMMON_ACTIONS);
  if (index === undefined) return items;
  items.push(...indexActions(index));
  for (const { name } of index.toolsets ?? []) {
    items.push({
      id: `k:${name}`,
      group: "Toolsets",
      icon: "toolsets",
      label: name,
      isName: true,
      href: toolsetPath(name),
    });
  }
  for (const server of index.servers) {
    items.push({
      id: `s:${server.name}`,
      group: "Servers",
      icon: "servers",
      label: server.name,
      isName: true,
      href: serverPath(server.name),
    });
    for (const tool of server.tools) {
      items.push({
        id: `t:${server.name}.${tool}`,
        group: "Tools",
        icon: "tools",
        label: tool,
        isName: true,
        aside: server.name,
        href: toolPath(server.name, tool),
      });
    }
  }
  return items;
}

/** What to show for a query: recent ones first while nothing is typed, else the best of each. */
export function searchPalette(
  items: readonly PaletteItem[],
  query: string,
  recent: readonly string[],
): PaletteGroup[] {
  return query.trim() === "" ? unsearched(items, recent) : searched(items, query, recent);
}

function unsearched(items: readonly PaletteItem[], recent: readonly string[]): PaletteGroup[] {
  const plain = (item: PaletteItem) => ({ item, positions: [] });
  const used = recent.map((id) => items.find((item) => item.id === id))
    .filter((item) => item !== undefined).slice(0, MAX_RECENT);
  const groups: PaletteGroup[] = [{ title: "Recent", items: used.map(plain) }];
  for (const title of GROUPS) {
    const rest = items.filter((item) => item.group === title && !used.includes(item));
    groups.push({ title, items: rest.slice(0, title === "Tools" ? 5 : MAX_PER_GROUP).map(plain) });
  }
  return groups.filter((group) => group.items.length > 0);
}

function searched(
  items: readonly PaletteItem[],
  query: string,
  recent: readonly string[],
): PaletteGroup[] {
  const found: { item: PaletteItem; positions: number[]; score: number }[] = [];
  for (const item of items) {
    const direct = fuzzyMatch(query, item.label);
    const place = recent.indexOf(item.id);
    const bonus = place < 0 ? 0 : 12 - Math.min(place, 10);
    if (direct !== undefined) {
      found.push({ item, positions: direct.positions, score: direct.score + bonus });
      continue;
    }
    // "weather forecast" finds the tool by its server's name too, "security" all its pages.
    const wider = item.aside !== undefined && fuzzyMatch(query, `${item.aside}.${item.label}`);
    if (wider) found.push({ item, positions: [], score: wider.score - 10 + bonus });
  }
  const groups = GROUPS.map((title) => {
    const hits = found.filter(({ item }) => item.group === title)
      .sort((a, b) => b.score - a.score).slice(0, MAX_PER_GROUP);
    return { title, items: hits, best: hits[0]?.score ?? -Infinity };
  });
  return groups.filter(({ items }) => items.length > 0).sort((a, b) => b.best - a.best);
}

/** Puts what was just used in front. */
export function rememberRecent(recent: readonly string[], id: string): string[] {
  return [id, ...recent.filter((old) => old !== id)].slice(0, 20);
}
