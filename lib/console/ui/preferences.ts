import { signal } from "@preact/signals";

/** What the browser remembers for this user; where storage is blocked, nothing is remembered. */
export function readPreference(name: string): string | undefined {
  try {
    return localStorage.getItem(`qm.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function savePreference(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`qm.${name}`);
    else localStorage.setItem(`qm.${name}`, value);
  } catch {
    // Nothing to do: it holds until the page is loaded again.
  }
}

export type Theme = "system" | "light" | "dark";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>("system");

export function loadTheme(): void {
  theme.value = THEMES.find((name) => name === readPreference("theme")) ?? "system";
}

export function isDark(): boolean {
  if (theme.peek() !== "system") return theme.peek() === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

export function chooseTheme(next: Theme): void {
  theme.value = next;
  savePreference("theme", next === "system" ? undefined : next);
  const root = document.documentElement;
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
}

export const isRailNarrow = signal(false);

export function loadRail(): void {
  isRailNarrow.value = readPreference("rail") === "narrow";
}

export function toggleRail(): void {
  isRailNarrow.value = !isRailNarrow.value;
  savePreference("rail", isRailNarrow.value ? "narrow" : undefined);
  const root = document.documentElement;
  if (isRailNarrow.value) root.dataset.rail = "narrow";
  else delete root.dataset.rail;
}
