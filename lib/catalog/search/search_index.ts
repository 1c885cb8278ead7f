import { type AnyOrama, create, insert, remove, search, type SearchParams } from "@orama/orama";
import type { SearchPick } from "../../core/tool.ts";
import { Corpus, type CorpusEntry, FIELDS } from "./corpus.ts";
import {
  DEFAULT_HYBRID_RATIO,
  explain,
  type Explanation,
  FieldScorer,
  firstFor,
  preferReplacements,
  relevancesOf,
  scoreFor,
  type SemanticScores,
} from "./ranking.ts";
import type { SearchDocument } from "./search_document.ts";
import { usedAfter } from "./past_use.ts";
import { readQuery, type SearchQuery, Synonyms } from "./search_query.ts";

const DEFAULT_LIMIT = 10;
/** How many tools are ranked in full, of those that share a word and of those near in meaning. */
const MOST_CANDIDATES = 300;
const MOST_NEAR = 100;
/** Orama's work grows with the tools that have a word: common ones are left out after rarer ones. */
const MOST_CANDIDATE_WORDS = 24;
const MOST_POSTINGS = 2_000;

export interface SearchRequest {
  query: string;
  context?: string | undefined;
  /** Only tools of these servers. */
  servers?: readonly string[] | undefined;
  /** Only tools of this category. */
  category?: string | undefined;
  /** What this caller called after its earlier searches. */
  picks?: readonly SearchPick[] | undefined;
  admits?: ((key: string) => boolean) | undefined;
  limit?: number | undefined;
  explain?: boolean | undefined;
}

export interface Meaning {
  scores: SemanticScores;
  /** By the built-in table, whose cosines are known to mean something by themselves. */
  isTable?: boolean;
  ratio?: number | undefined;
}

export interface SearchHit {
  key: string;
  score: number;
  relevance: number;
  explanation?: Explanation;
}

export interface IndexChange {
  added?: Iterable<SearchDocument>;
  removed?: Iterable<string>;
}

export class SearchIndex {
  readonly #corpus = new Corpus();
  readonly #candidates = new CandidateIndex();
  readonly #synonyms: Synonyms;
  #scorer: FieldScorer | undefined;

  constructor(options: { synonyms?: Readonly<Record<string, readonly string[]>> } = {}) {
    this.#synonyms = new Synonyms(options.synonyms);
  }

  get size(): number {
    return this.#corpus.size;
  }

  fingerprintOf(key: string): string | undefined {
    return this.#corpus.find(key)?.fingerprint;
  }

  /** Indexes only what changed; an unchanged tool costs nothing. */
  update({ added = [], removed = [] }: IndexChange): void {
    this.#scorer = undefined;
    for (const key of removed) this.#remove(key);
    for (const document of added) {
      if (this.#corpus.find(document.key)?.fingerprint === document.fingerprint) continue;
      this.#remove(document.key);
      this.#candidates.add(document, this.#corpus.add(document));
    }
  }

  read({ query, context }: Pick<SearchRequest, "query" | "context">): SearchQuery {
    return readQuery(query, context, this.#corpus, this.#synonyms);
  }

  search(request: SearchRequest, meaning?: Meaning, query = this.read(request)): SearchHit[] {
    const limit = Math.max(0, Math.floor(request.limit ?? DEFAULT_LIMIT));
    if (limit === 0 || this.#corpus.size === 0) return [];
    const scorer = this.#scorer ??= new FieldScorer(this.#corpus);
    const used = usedAfter(request.query, request.picks ?? []);
    const scoreOf = scoreFor({
      query,
      text: request.query,
      corpus: this.#corpus,
      scorer,
      semantic: meaning?.scores,
      ratio: meaning?.ratio ?? DEFAULT_HYBRID_RATIO,
      used,
    });
    const entries = this.#entriesFor(query, request, meaning?.scores, limit, used.keys());
    const ranked = preferReplacements(entries.map((entry) => ({ entry, score: scoreOf(entry) })))
      .filter(({ score }) => score.total > 0)
      // Ties by key, so that the same query always gets the same answer.
      .sort((one, other) =>
        other.score.total - one.score.total || (one.entry.key < other.entry.key ? -1 : 1)
      );
    const relevances = relevancesOf(
      ranked.map(({ score }) => score),
      this.#corpus.size,
      meaning?.isTable ? "table" : "words",
    );
    const rated = ranked.map((found, rank) => ({ ...found, relevance: relevances[rank]! }));
    let least = 1;
    return firstFor(rated, query.clauses.length, limit).map((found): SearchHit => ({
      key: found.entry.key,
      score: found.score.total,
      // It never rises from one rank to the next.
      relevance: Math.round(1_000 * (least = Math.min(least, found.relevance))) / 1_000,
      ...(request.explain
        ? { explanation: explain(query.whole, found.entry, this.#corpus, scorer, found.score) }
        : {}),
    }));
  }

  #entriesFor(
    query: SearchQuery,
    request: SearchRequest,
    semantic: SemanticScores | undefined,
    limit: number,
    used: Iterable<string>,
  ): CorpusEntry[] {
    const words = this.#candidateWords(query);
    const most = Math.max(MOST_CANDIDATES, limit);
    let found = this.#candidates.find(words, most, request);
    let entries = this.#admitted(found, request);
    // What the caller may not see must not crowd out what it may.
    if (entries.length < limit && found.length === most) {
      found = this.#candidates.find(words, this.#corpus.size, request);
      entries = this.#admitted(found, request).slice(0, most);
    }
    const known = new Set(found);
    const isNew = (key: string) => !known.has(key) && this.#admitted([key], request).length > 0;
    const add = (keys: Iterable<string>) => {
      for (const key of new Set(keys).difference(known)) {
        known.add(key);
        entries.push(...this.#admitted([key], request));
      }
    };
    add(semantic?.nearest(Math.max(MOST_NEAR, limit), isNew) ?? []);
    add(used);
    add(entries.flatMap(({ replacements }) => replacements));
    return entries;
  }

  #admitted(
    keys: Iterable<string>,
    { servers, category, admits }: Pick<SearchRequest, "servers" | "category" | "admits">,
  ): CorpusEntry[] {
    const admitted: CorpusEntry[] = [];
    for (const key of keys) {
      const entry = this.#corpus.find(key);
      if (!entry || servers?.includes(entry.server) === false) continue;
      if (category !== undefined && !entry.categories.includes(category)) continue;
      if (admits?.(key) !== false) admitted.push(entry);
    }
    return admitted;
  }

  #candidateWords({ whole }: SearchQuery): string[] {
    const matches = whole.words.flatMap(({ matches }) => matches)
      .sort((one, other) => other.weight - one.weight);
    const { vocabulary } = this.#corpus;
    const words: string[] = [];
    let postings = 0;
    for (const id of new Set(matches.map(({ id }) => id))) {
      postings += vocabulary.countOf(id);
      if (words.length > 0 && postings > MOST_POSTINGS) break;
      words.push(vocabulary.wordOf(id));
      if (words.length >= MOST_CANDIDATE_WORDS) break;
    }
    return words;
  }

  #remove(key: string): void {
    if (this.#corpus.remove(key)) this.#candidates.remove(key);
  }
}

/** Ends each word, so that Orama does not take it for the beginning of longer ones. */
const END = "\u0001";
/** What a tool is called says more than what is said about it. */
const CALLED: ReadonlySet<string> = new Set(["name", "title", "server"]);

const SCHEMA = {
  called: "string",
  described: "string",
  server: "enum",
  categories: "enum[]",
} as const;
/** Orama divides frequency by length; this makes it count which words are there, by their worth. */
const RELEVANCE = { k: 1.2, b: 0, d: 1 };
const BOOST = { called: 2, described: 1 };

/** Orama holds every enabled tool, filters them, and says which are worth ranking in full. */
class CandidateIndex {
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

  add({ key, server, categories = [] }: SearchDocument, stems: string[][]): void {
    const called = new Set<string>();
    const described = new Set<string>();
    stems.forEach((ofField, field) => {
      if (FIELDS[field] === "serverDescription") return;
      const words = CALLED.has(FIELDS[field]!) ? called : described;
      for (const stem of ofField) words.add(stem);
    });
    insert(this.#orama, {
      id: key,
      called: toText(called),
      described: toText(described),
      server,
      categories: [...categories],
    });
  }

  remove(key: string): void {
    remove(this.#orama, key);
  }

  find(
    words: string[],
    limit: number,
    { servers, category }: Pick<SearchRequest, "servers" | "category">,
  ): string[] {
    if (words.length === 0) return [];
    const where = {
      ...(servers && { server: { in: [...servers] } }),
      ...(category !== undefined && { categories: { containsAny: [category] } }),
    };
    const params: SearchParams<AnyOrama> = {
      term: toText(words),
      relevance: RELEVANCE,
      boost: BOOST,
      threshold: 1,
      limit,
      ...(Object.keys(where).length === 0 ? {} : { where }),
    };
    const found = search(this.#orama, params);
    if (found instanceof Promise) throw new TypeError("Orama answers at once without async hooks");
    return found.hits.map(({ id }) => id);
  }
}

function toText(words: Iterable<string>): string {
  return Array.from(words, (word) => word + END).join(" ");
}
