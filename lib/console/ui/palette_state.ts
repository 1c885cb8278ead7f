import { signal } from "@preact/signals";
import { keep, readKept } from "./kept.ts";
import { navigate } from "./navigate.ts";
import { overlay } from "./overlay.ts";
import {
  type PaletteAction,
  type PaletteIndex,
  type PaletteItem,
  rememberRecent,
} from "./palette_items.ts";
import { toggleRail } from "./rail.ts";
import { chooseTheme } from "./theme.ts";

export type LoadedIndex =
  | { state: "loading" | "failed"; data?: PaletteIndex }
  | { state: "loaded"; data: PaletteIndex };

/** The names the palette can find, and what was used last; written in the browser only. */
export const paletteIndex = signal<LoadedIndex>({ state: "loading" });
export const recentItems = signal<string[]>([]);

/** Fetches the names anew; what was there before stays in use until they come. */
export async function loadIndex(): Promise<void> {
  recentItems.value = readRecent();
  const { data } = paletteIndex.peek();
  if (data === undefined) paletteIndex.value = { state: "loading" };
  try {
    const response = await fetch("/palette", { headers: { accept: "application/json" } });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    paletteIndex.value = { state: "loaded", data: await response.json() };
  } catch {
    paletteIndex.value = data === undefined ? { state: "failed" } : { state: "failed", data };
  }
}

/** Goes where an item leads, or does what it says. */
export function runItem(item: PaletteItem): void {
  recentItems.value = rememberRecent(recentItems.peek(), item.id);
  keep("recent", JSON.stringify(recentItems.value));
  overlay.value = undefined;
  if (item.action !== undefined) ACTIONS[item.action]();
  else if (item.href !== undefined) navigate(item.href);
}

const ACTIONS: Record<PaletteAction, () => void> = {
  "theme-system": () => chooseTheme("system"),
  "theme-light": () => chooseTheme("light"),
  "theme-dark": () => chooseTheme("dark"),
  help: () => overlay.value = "help",
  rail: toggleRail,
};

function readRecent(): string[] {
  try {
    const kept: unknown = JSON.parse(readKept("recent") ?? "[]");
    return Array.isArray(kept) ? kept.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}
