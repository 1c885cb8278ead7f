import { stemsOf } from "./words.ts";

/** Each clause costs a pass over the candidates. */
const MOST_CLAUSES = 16;
/** A clause of fewer words says too little alone. */
const LEAST_STEMS = 2;

const SENTENCE_END = /(?<=[.!?;:。！？])\s+|[\n\r]+|;/u;
const JOINT = /,\s+|\s\+\s|\s+(?:and|then|or|also|but|while)\s+/iu;

/** The single wishes of a longer task, so that one of them is not lost among the others. */
export function splitClauses(text: string): string[] {
  const clauses: string[] = [];
  for (const sentence of text.split(SENTENCE_END)) {
    let open = "";
    const own: string[] = [];
    for (const part of sentence.split(JOINT)) {
      open = open === "" ? part : `${open} ${part}`;
      if (isEnough(open)) {
        own.push(open);
        open = "";
      }
    }
    if (open.trim() !== "") {
      if (own.length > 0) own.push(`${own.pop()} ${open}`);
      else own.push(open);
    }
    clauses.push(...own.map((clause) => clause.trim()).filter((clause) => clause !== ""));
    if (clauses.length >= MOST_CLAUSES) break;
  }
  return clauses.slice(0, MOST_CLAUSES);
}

function isEnough(text: string): boolean {
  return new Set(stemsOf(text)).size >= LEAST_STEMS;
}
