import { signal } from "@preact/signals";
import { keep, readKept } from "./kept.ts";

export type Theme = "system" | "light" | "dark";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

/** The chosen theme; written in the browser only. */
export const theme = signal<Theme>("system");

export function loadTheme(): void {
  const kept = readKept("theme");
  theme.value = kept === "light" || kept === "dark" ? kept : "system";
}

/** Whether what is seen is dark, by choice or because the system is. */
export function isDark(): boolean {
  if (theme.peek() !== "system") return theme.peek() === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

export function chooseTheme(next: Theme): void {
  theme.value = next;
  keep("theme", next === "system" ? undefined : next);
  const root = document.documentElement;
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
}
