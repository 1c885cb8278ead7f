/** The key that opens the palette with K, as it is printed on this machine's keyboard. */
export function modifierName(): string {
  const platform = typeof navigator === "undefined" ? "" : navigator.platform ?? "";
  return /Mac|iPhone|iPad/.test(platform) ? "⌘" : "Ctrl";
}
