/** As much of a word as its forms have in common, roughly. */
export function stemOf(word: string): string {
  return word.slice(0, 5);
}

/** What a definition is about, by the words of its names: of these it may speak freely. */
export function topicOf(...names: readonly unknown[]): Set<string> {
  const words = names.filter((name) => typeof name === "string").join(" ").slice(0, 2_000)
    .replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().match(/[a-z0-9]{3,}/g) ?? [];
  return new Set(words.map(stemOf));
}
