import { signal } from "@preact/signals";

export type KeyPress =
  & Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "isComposing">
  & { target: unknown };

interface ElementLike {
  tagName: string;
  type?: string;
  isContentEditable?: boolean;
}

/** Types of inputs that take no text. */
const NOT_TYPED = /^(button|checkbox|color|file|image|radio|reset|submit)$/;

function isTypingTarget(target: unknown): boolean {
  if (!isElementLike(target)) return false;
  if (target.isContentEditable === true) return true;
  const tag = target.tagName.toUpperCase();
  if (tag === "TEXTAREA" || tag === "SELECT") return true;
  return tag === "INPUT" && !NOT_TYPED.test(target.type ?? "text");
}

/** Whether a key may act as a single-key shortcut: alone, and not while somebody types. */
export function isShortcut(event: KeyPress): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  return event.key.length === 1 && !isTypingTarget(event.target);
}

/** Ctrl+K or Command+K, also from inside a field. */
export function isPaletteChord(event: KeyPress): boolean {
  return (event.ctrlKey !== event.metaKey) && !event.altKey && event.key.toLowerCase() === "k";
}

function isElementLike(value: unknown): value is ElementLike {
  return typeof value === "object" && value !== null && "tagName" in value &&
    typeof value.tagName === "string";
}

const SEQUENCE_MS = 1_500;

/** Shortcuts of two keys: `g`, then one that says where to. */
export class GoKeys<Place extends { go: string }> {
  readonly #places: readonly Place[];
  #since = -Infinity;

  constructor(places: readonly Place[]) {
    this.#places = places;
  }

  /** Where to go; "waiting" after the first key, undefined for all others. */
  press(key: string, now: number): Place | "waiting" | undefined {
    const isSecond = now - this.#since < SEQUENCE_MS;
    this.#since = !isSecond && key === "g" ? now : -Infinity;
    if (!isSecond) return key === "g" ? "waiting" : undefined;
    return this.#places.find(({ go }) => go === key);
  }
}

/** The key that opens the palette with K, as it is printed on this machine's keyboard. */
export function modifierName(): string {
  const platform = typeof navigator === "undefined" ? "" : navigator.platform ?? "";
  return /Mac|iPhone|iPad/.test(platform) ? "⌘" : "Ctrl";
}

/** What lies over the page: at most one thing at a time. Written in the browser only. */
export const overlay = signal<"palette" | "help" | undefined>(undefined);
