import { signal } from "@preact/signals";
import { keep, readKept } from "./kept.ts";

/** Whether the rail shows icons only; written in the browser only. */
export const isRailNarrow = signal(false);

export function loadRail(): void {
  isRailNarrow.value = readKept("rail") === "narrow";
}

export function toggleRail(): void {
  isRailNarrow.value = !isRailNarrow.value;
  keep("rail", isRailNarrow.value ? "narrow" : undefined);
  const root = document.documentElement;
  if (isRailNarrow.value) root.dataset.rail = "narrow";
  else delete root.dataset.rail;
}
