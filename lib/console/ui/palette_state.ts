import { signal } from "@preact/signals";
import { ApiError, postAction, readApi } from "./api.ts";
import { chooseTheme, isDark, readPreference, savePreference, toggleRail } from "./preferences.ts";
import { overlay } from "./keys.ts";
import { type PaletteAction, PaletteIndex, type PaletteItem, rememberRecent } from "./palette.ts";
import { requestRefresh } from "./live.ts";
import { dismissToast, toast } from "./toast.ts";

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

/** The same for a key, which is not remembered. */
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
    else toast("error", `${label}: the gateway does not answer`, "Is it running?");
  } finally {
    dismissToast(waiting);
  }
}

const ACTIONS: Record<PaletteAction, () => void> = {
  "theme-system": () => chooseTheme("system"),
  "theme-light": () => chooseTheme("light"),
  "theme-dark": () => chooseTheme("dark"),
  "theme-switch": () => chooseTheme(isDark() ? "light" : "dark"),
  help: () => overlay.value = "help",
  rail: toggleRail,
};

function readRecent(): string[] {
  try {
    const kept: unknown = JSON.parse(readPreference("recent") ?? "[]");
    return Array.isArray(kept) ? kept.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}
