const ROW_LINKS = "[data-row-link]";

/** Moves the focus to the next or previous row; from elsewhere to the first or last in view. */
export function moveRowFocus(step: 1 | -1): void {
  const links = Array.from(document.querySelectorAll<HTMLElement>(ROW_LINKS))
    .filter((link) => link.checkVisibility());
  const active = document.activeElement;
  const row = active?.closest("[data-row]");
  const at = links.findIndex((link) => link === active || (row !== null && row?.contains(link)));
  const next = at < 0
    ? links.find((link) => link.closest("[data-current-row]") !== null) ?? links[0]
    : links[Math.min(Math.max(0, at + step), links.length - 1)];
  next?.focus({ preventScroll: true });
  next?.closest("[data-row]")?.scrollIntoView({ block: "nearest" });
}

export function revealCurrentRow(): void {
  document.querySelector("[data-current-row]")?.scrollIntoView({ block: "nearest" });
}

/** More than one screen of rows is never drawn, with some on either side for quick scrolling. */
const SPARE_ROWS = 20;
const MAX_ROWS = 160;

export function rowWindow(
  { top, height, rowHeight, count }: Record<"top" | "height" | "rowHeight" | "count", number>,
): { first: number; end: number } {
  const seen = Math.min(MAX_ROWS - 2 * SPARE_ROWS, Math.ceil(height / rowHeight) + 1);
  const at = Math.min(Math.max(0, Math.floor(top / rowHeight)), Math.max(0, count - seen));
  return { first: Math.max(0, at - SPARE_ROWS), end: Math.min(count, at + seen + SPARE_ROWS) };
}
