import { type AnyOrama, create, insert, remove, search, type SearchParams } from "@orama/orama";
import { FIELDS } from "./fields.ts";

/** Ends each word, so that Orama does not take it for the beginning of longer ones. */
const END = "\u0001";
/** What a tool is called says more than what is said about it. */
const CALLED: ReadonlySet<string> = new Set(["name", "title", "server"]);

const SCHEMA = { called: "string", described: "string" } as const;
/** Orama divides frequency by length; this makes it count which words are there, by their worth. */
const RELEVANCE = { k: 1.2, b: 0, d: 1 };
const BOOST = { called: 2, described: 1 };

/** Orama, as the generator of candidates: it holds every tool and answers the likely ones. */
export class Candidates {
  readonly #orama: AnyOrama = create({
    schema: SCHEMA,
    sort: { enabled: false },
    components: {
      tokenizer: {
        language: "english",
        normalizationCache: new Map(),
        tokenize: (text: string) => text.split(" "),
      },
    },
  });

  add(key: string, stems: string[][]): void {
    const called = new Set<string>();
    const described = new Set<string>();
    stems.forEach((ofField, field) => {
      if (FIELDS[field] === "serverDescription") return;
      const words = CALLED.has(FIELDS[field]!) ? called : described;
      for (const stem of ofField) words.add(stem);
    });
    insert(this.#orama, { id: key, called: toText(called), described: toText(described) });
  }

  remove(key: string): void {
    remove(this.#orama, key);
  }

  /** The keys of the tools that have any of these words, the likeliest first. */
  find(words: string[], limit: number): string[] {
    if (words.length === 0) return [];
    const params: SearchParams<AnyOrama> = {
      term: toText(words),
      relevance: RELEVANCE,
      boost: BOOST,
      threshold: 1,
      limit,
    };
    const found = search(this.#orama, params);
    if (found instanceof Promise) throw new TypeError("Orama answers at once without async hooks");
    return found.hits.map(({ id }) => id);
  }
}

function toText(words: Iterable<string>): string {
  return Array.from(words, (word) => word + END).join(" ");
}
