import type { SearchDocument } from "./search_document.ts";
import { stemsOf } from "./words.ts";

/** What a tool is found by. */
export const FIELDS = [
  "name",
  "title",
  "server",
  "description",
  "parameters",
  "category",
  "serverDescription",
] as const;
export type Field = typeof FIELDS[number];

/** How much a word counts in each field, and how much the field's length takes from it. */
export const FIELD_WEIGHTS = [3, 2, 1.4, 1, 0.3, 0.5, 0.3];
export const FIELD_LENGTH_EFFECTS = [0.5, 0.5, 0.5, 0.2, 0.7, 0, 0.9];

/** The stems of the text before: the tools of one server come together and say the same of it. */
export class StemMemo {
  #texts = ["", ""];
  #stems: string[][] = [[], []];

  of(place: 0 | 1, text: string): string[] {
    if (this.#texts[place] !== text) {
      this.#texts[place] = text;
      this.#stems[place] = stemsOf(text);
    }
    return this.#stems[place]!;
  }
}

/** The stems of each field, in the order of FIELDS. */
export function stemsByField(document: SearchDocument, memo = new StemMemo()): string[][] {
  return [
    stemsOf(document.name),
    stemsOf(document.title),
    memo.of(0, `${document.server} ${document.serverTitle ?? ""}`),
    stemsOf(document.description),
    stemsOf(document.parameters),
    stemsOf(document.category ?? ""),
    memo.of(1, document.serverDescription ?? ""),
  ];
}
