/** Other ways to find tools, as a user would set them up. */
import { type AnyOrama, create, insertMultiple, search as oramaSearch } from "@orama/orama";
import MiniSearch from "npm:minisearch@^7.2.0";
import type { SearchDocument } from "../lib/catalog/search/search_document.ts";
import { splitWords, stemOf, stemsOf } from "../lib/catalog/search/text.ts";

export type Rival = (documents: SearchDocument[]) => Promise<(query: string) => Promise<string[]>>;

const TEXTS = {
  server: "string",
  name: "string",
  description: "string",
  parameters: "string",
} as const;

export const RIVALS: Readonly<Record<string, Rival>> = {
  async "Orama as it comes"(documents) {
    const orama: AnyOrama = create({ schema: TEXTS });
    await insertMultiple(orama, documents.map(({ key, ...texts }) => ({ id: key, ...texts })));
    return async (term) => (await oramaSearch(orama, { term, limit: 10 })).hits.map(({ id }) => id);
  },

  /** The best that was found for Orama without a ranking of our own. */
  async "Orama, our words and boosts"(documents) {
    const tokenizer = {
      language: "english",
      normalizationCache: new Map(),
      tokenize: (text: string) => stemsOf(text),
    };
    const orama: AnyOrama = create({ schema: TEXTS, components: { tokenizer } });
    await insertMultiple(orama, documents.map(({ key, ...texts }) => ({ id: key, ...texts })));
    const boost = { name: 3, server: 1.4, description: 1, parameters: 0.3 };
    return async (term) =>
      (await oramaSearch(orama, { term, boost, threshold: 1, limit: 10 })).hits.map(({ id }) => id);
  },

  MiniSearch(documents) {
    const index = new MiniSearch({
      fields: Object.keys(TEXTS),
      idField: "key",
      tokenize: splitWords,
      processTerm: stemOf,
      searchOptions: { boost: { name: 3 }, prefix: true, fuzzy: 0.2 },
    });
    index.addAll(documents);
    return Promise.resolve((query) =>
      Promise.resolve(index.search(query).slice(0, 10).map(({ id }) => String(id)))
    );
  },

  /** One for each word, the tool with most of them first. */
  "regular expressions"(documents) {
    return Promise.resolve((query) => {
      const words = [...new Set(stemsOf(query))].map((stem) =>
        new RegExp(RegExp.escape(stem), "i")
      );
      const count = ({ server, name, description }: SearchDocument) =>
        words.filter((word) => word.test(`${server} ${name} ${description}`)).length +
        words.filter((word) => word.test(name)).length;
      const found = documents.map((document) => ({ key: document.key, hits: count(document) }))
        .filter(({ hits }) => hits > 0).sort((one, other) => other.hits - one.hits);
      return Promise.resolve(found.slice(0, 10).map(({ key }) => key));
    });
  },
};
