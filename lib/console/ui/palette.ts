import { signal } from "@preact/signals";
import * as z from "zod/mini";
import { ApiError, postAction, readApi } from "./api.ts";
import { overlay } from "./keys.ts";
import { requestRefresh } from "./live.ts";
import {
  NEW_SERVER,
  NEW_TOOLSET,
  optimizationPath,
  OPTIMIZE_ALL,
  PAGES,
  SECURITY_PAGES,
  serverPath,
  toolPath,
  toolsetPath,
} from "./pages.ts";
import { chooseTheme, isDark, readPreference, savePreference, toggleRail } from "./preferences.ts";
import { dismissToast, toast } from "./toast.ts";

const REPORT = "/api/optimization/report?format=markdown";

export const COMMON_ACTIONS: readonly PaletteItem[] = [
  action("help", "keyboard", "Help: show keyboard shortcuts", { key: "?", action: "help" }),
  action("add-server", "servers", "Add a server", { key: "A", href: NEW_SERVER }),
  action("new-toolset", "toolsets", "Create a toolset", { key: "N", href: NEW_TOOLSET }),
  action("optimize-all", "optimization", "Optimize all servers", { key: "O", href: OPTIMIZE_ALL }),
  action("report", "file", "Export the optimization report", { key: "E", download: REPORT }),
  action("clear-log", "activity", "Show activity without filters", { key: "L", href: "/activity" }),
  action("light", "sun", "Use the light theme", { action: "theme-light" }),
  action("dark", "moon", "Use the dark theme", { action: "theme-dark" }),
  action("system", "monitor", "Use the system theme", { action: "theme-system" }),
  action("theme", "sun", "Switch theme", { key: "D", action: "theme-switch" }),
  action("rail", "panel", "Collapse or expand navigation", { action: "rail" }),
  action("backup", "store", "Back up data (Settings)", { href: "/settings" }),
];

function indexActions({ servers, toolsets = [] }: PaletteIndex): PaletteItem[] {
  return [
    ...toolsets.map(({ name, isEquipped }) =>
      isEquipped
        ? action("unequip", "toolsets", `Unequip toolset ${name}`, {
          post: { action: "unequip-toolset" },
        })
        : action(`equip:${name}`, "toolsets", `Equip toolset ${name}`, {
          post: { action: "equip-toolset", toolset: name },
        })
    ),
    ...servers.flatMap(({ name, state }) => {
      const [verb, word] = state === "paused" ? ["resume", "Resume"] : ["restart", "Restart"];
      const turn = action(`${verb}:${name}`, "refresh", `${word} server ${name}`, {
        post: { action: `${verb}-server`, server: name },
      });
      const optimize = action(`optimize:${name}`, "optimization", `Optimize server ${name}`, {
        href: optimizationPath(name),
      });
      return state === "disabled" ? [optimize] : [turn, optimize];
    }),
  ];
}

function action(
  id: string,
  icon: string,
  label: string,
  more: Pick<PaletteItem, "key" | "action" | "href" | "post" | "download">,
): PaletteItem {
  return { id: `a:${id}`, group: "Actions", icon, label, ...more };
}

export const PaletteIndex = z.object({
  servers: z.array(
    z.object({ name: z.string(), state: z.string(), tools: z.array(z.string()) }),
  ),
  toolsets: z.optional(z.array(z.object({ name: z.string(), isEquipped: z.boolean() }))),
});
export type PaletteIndex = z.infer<typeof PaletteIndex>;

export interface PaletteItem {
  /** Stable across sessions: recently used ones are remembered by it. */
  id: string;
  group: "Pages" | "Actions" | "Servers" | "Toolsets" | "Tools";
  icon: string;
  label: string;
  aside?: string;
  /** Another word that finds it. */
  also?: string;
  key?: string;
  isName?: boolean;
  href?: string;
  action?: keyof typeof ACTIONS;
  post?: Record<string, string>;
  download?: string;
}

export interface PaletteGroup {
  title: string;
  items: { item: PaletteItem; positions: number[] }[];
}

const GROUPS = ["Pages", "Servers", "Toolsets", "Tools", "Actions"] as const;
const MAX_PER_GROUP = 16;
const MAX_RECENT = 5;

export function paletteItems(index: PaletteIndex | undefined): PaletteItem[] {
  const items: PaletteItem[] = PAGES.map((page) => ({
    id: `p:${page.path}`,
    group: "Pages",
    icon: page.icon,
    label: page.label,
    key: page.key,
    href: page.path,
    ...("also" in page ? { also: page.also } : {}),
  }));
  // The first of them is in the rail.
  for (const { path, label, icon } of SECURITY_PAGES.slice(1)) {
    items.push({ id: `p:${path}`, group: "Pages", icon, label, aside: "Security", href: path });
  }
  items.push(...COMMON_ACTIONS);
  if (index === undefined) return items;
  items.push(...indexActions(index));
  for (const { name: label } of index.toolsets ?? []) {
    const href = toolsetPath(label);
    items.push({
      id: `k:${label}`,
      group: "Toolsets",
      icon: "toolsets",
      label,
      isName: true,
      href,
    });
  }
  for (const { name: server, tools } of index.servers) {
    const named = { label: server, isName: true, href: serverPath(server) };
    items.push({ id: `s:${server}`, group: "Servers", icon: "servers", ...named });
    for (const label of tools) {
      const named = { label, isName: true, aside: server, href: toolPath(server, label) };
      items.push({ id: `t:${server}.${label}`, group: "Tools", icon: "tools", ...named });
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
    const other = item.also === undefined ? undefined : fuzzyMatch(query, item.also);
    if (other) {
      found.push({ item, positions: [], score: other.score + bonus });
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

export function rememberRecent(recent: readonly string[], id: string): string[] {
  return [id, ...recent.filter((old) => old !== id)].slice(0, 20);
}

/** How well a query fits a text; the matched positions are for highlighting. */
interface FuzzyMatch {
  score: number;
  positions: number[];
}

const BOUNDARY = /[\s._\-/:]/;

/**
 * Finds every word of the query in the text: in one piece, or in pieces that each begin a word, so
 * that "gf" and "getfor" find `get_forecast`. Letters that are only scattered over it do not fit.
 * One piece, word starts and early places count more. Undefined where it does not fit.
 */
export function fuzzyMatch(query: string, text: string): FuzzyMatch | undefined {
  const lower = text.toLowerCase();
  const whole = query.trim().toLowerCase();
  if (whole === "") return { score: 0, positions: [] };
  // Some letters get longer: then places in the one would not be places in the other.
  const searched = lower.length === text.length ? lower : text;
  const direct = inOnePiece(whole, text, searched, 0);
  if (direct !== undefined) return direct;

  let score = 0;
  let from = 0;
  const positions = new Set<number>();
  const words = whole.split(/\s+/);
  for (const word of words) {
    // In the order of the query where that is possible.
    const match = inOnePiece(word, text, searched, from) ?? inOnePiece(word, text, searched, 0) ??
      inPieces(word, text, searched);
    if (match === undefined) return undefined;
    score += match.score;
    from = (match.positions.at(-1) ?? 0) + 1;
    for (const at of match.positions) positions.add(at);
  }
  return { score: score / words.length, positions: [...positions].sort((a, b) => a - b) };
}

/** Rather at the start of a word than earlier within one. */
function inOnePiece(
  word: string,
  text: string,
  lower: string,
  from: number,
): FuzzyMatch | undefined {
  const first = lower.indexOf(word, from);
  if (first < 0) return undefined;
  let at = first;
  while (at >= 0 && !isWordStart(text, at)) at = lower.indexOf(word, at + 1);
  const chosen = at < 0 ? first : at;
  const bonus = at < 0 ? 30 : 60;
  return {
    score: 100 + bonus - Math.min(chosen, 20) - text.length / 50,
    positions: Array.from({ length: word.length }, (_, index) => chosen + index),
  };
}

function inPieces(word: string, text: string, lower: string): FuzzyMatch | undefined {
  const starts: number[] = [];
  for (let at = 0; at < text.length; at++) if (isWordStart(text, at)) starts.push(at);
  const positions = piecesFrom(word, lower, starts, 0, 0, new Set());
  if (positions === undefined) return undefined;
  const pieces = positions.filter((at, index) => at !== (positions[index - 1] ?? -2) + 1).length;
  const spread = (positions.at(-1) ?? 0) - (positions[0] ?? 0);
  const score = 8 * positions.length + 2 * pieces - spread / 8 - text.length / 50;
  return { score, positions };
}

/** Places the rest of the word from one of the starts on; what failed once is not tried again. */
function piecesFrom(
  word: string,
  lower: string,
  starts: readonly number[],
  index: number,
  nth: number,
  failed: Set<number>,
): number[] | undefined {
  if (index === word.length) return [];
  const key = index * (starts.length + 1) + nth;
  if (failed.has(key)) return undefined;
  for (let next = nth; next < starts.length; next++) {
    const start = starts[next] ?? 0;
    let length = 0;
    while (index + length < word.length && lower[start + length] === word[index + length]) length++;
    for (; length > 0; length--) {
      const after = starts.findIndex((at) => at >= start + length);
      const rest = piecesFrom(
        word,
        lower,
        starts,
        index + length,
        after < 0 ? starts.length : after,
        failed,
      );
      if (rest) return [...Array.from({ length }, (_, place) => start + place), ...rest];
    }
  }
  failed.add(key);
  return undefined;
}

function isWordStart(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text[at - 1] ?? "";
  const here = text[at] ?? "";
  return BOUNDARY.test(before) || (/[a-z]/.test(before) && /[A-Z]/.test(here));
}

/** Opens a page of the console, or fetches a file, as if its link had been clicked. */
export function navigate(href: string, isFile = false): void {
  const link = document.createElement("a");
  link.href = href;
  link.hidden = true;
  if (isFile) {
    link.download = "";
    link.setAttribute("f-client-nav", "false");
  }
  document.body.append(link);
  link.click();
  link.remove();
}

export type LoadedIndex =
  | { state: "loading" | "failed"; data?: PaletteIndex }
  | { state: "loaded"; data: PaletteIndex };

/** The names the palette can find, and what was used last; written in the browser only. */
export const loadedIndex = signal<LoadedIndex>({ state: "loading" });
export const recentItems = signal<string[]>([]);

/** Fetches the names anew; what was there before stays in use until they come. */
export async function loadIndex(): Promise<void> {
  recentItems.value = readRecent();
  const { data } = loadedIndex.peek();
  if (data === undefined) loadedIndex.value = { state: "loading" };
  try {
    loadedIndex.value = { state: "loaded", data: PaletteIndex.parse(await readApi("/palette")) };
  } catch {
    loadedIndex.value = data === undefined ? { state: "failed" } : { state: "failed", data };
  }
}

export function runItem(item: PaletteItem): void {
  recentItems.value = rememberRecent(recentItems.peek(), item.id);
  savePreference("recent", JSON.stringify(recentItems.value));
  overlay.value = undefined;
  doItem(item);
}

export function doItem(item: PaletteItem): void {
  if (item.action !== undefined) ACTIONS[item.action]();
  else if (item.post !== undefined) void act(item.label, item.post);
  else if (item.download !== undefined) navigate(item.download, true);
  else if (item.href !== undefined) navigate(item.href);
}

async function act(label: string, fields: Record<string, string>): Promise<void> {
  const waiting = toast("info", `${label}…`);
  try {
    toast("success", await postAction(fields));
    requestRefresh();
  } catch (error) {
    const { code, message, steps } = ApiError.from(error).details;
    if (code !== "OFFLINE") toast("error", message, steps[0]);
    else toast("error", `${label}: the gateway is not responding`, "Is it running?");
  } finally {
    dismissToast(waiting);
  }
}

const ACTIONS = {
  "theme-system": () => chooseTheme("system"),
  "theme-light": () => chooseTheme("light"),
  "theme-dark": () => chooseTheme("dark"),
  "theme-switch": () => chooseTheme(isDark() ? "light" : "dark"),
  help: () => overlay.value = "help",
  rail: toggleRail,
};

function readRecent(): string[] {
  try {
    return z.array(z.string()).parse(JSON.parse(readPreference("recent") ?? "[]"));
  } catch {
    return [];
  }
}
