import { getOrMake } from "../core/defined.ts";
import type { ToolDefinition } from "../core/tool.ts";
import type { ToolOverride } from "../storage/catalog_repositories.ts";
import type { CatalogTool } from "./catalog_tool.ts";
import { CATEGORIES } from "./data/categories.ts";
import { namespacedName } from "./names.ts";

export interface ToolMetadata {
  summary: string;
  category: string;
  deprecated?: string;
}

export class ToolMetadataBook {
  readonly #configured: ReadonlyMap<string, string>;
  #known = new WeakMap<CatalogTool, ToolMetadata>();
  #overrides = new Map<string, ToolOverride>();
  #overridesText = "[]";

  constructor(categories: Readonly<Record<string, string>> = {}) {
    this.#configured = new Map(Object.entries(categories));
  }

  get edition(): unknown {
    return this.#overridesText;
  }

  setOverrides(overrides: readonly ToolOverride[]): boolean {
    const text = JSON.stringify(overrides);
    if (text === this.#overridesText) return false;
    this.#overridesText = text;
    const named = overrides.map((each) => [namespacedName(each.server, each.tool), each] as const);
    this.#overrides = new Map(named);
    this.#known = new WeakMap();
    return true;
  }

  of(tool: CatalogTool): ToolMetadata {
    return getOrMake(this.#known, tool, () => this.#read(tool));
  }

  #read(tool: CatalogTool): ToolMetadata {
    const { server, name, definition } = tool;
    const said = this.#overrides.get(namespacedName(server, name));
    const { title, description } = definition;
    const deprecated = said?.deprecated ?? deprecationOf(definition);
    return {
      summary: said?.summary ?? summarizeTool({ name, title, description }),
      category: said?.category ?? this.#configured.get(namespacedName(server, name)) ??
        this.#configured.get(namespacedName(server, "*")) ??
        categoryOf({ server, name, title, description }),
      ...(deprecated === undefined ? {} : { deprecated }),
    };
  }
}

/** Servers say it in the schema or at the start of the description. */
function deprecationOf({ description = "", inputSchema }: CatalogTool["definition"]) {
  const [, reason] = /^\W*deprecated\b[\s:.\-–—\])]*([^\n]{0,300})/i.exec(description) ?? [];
  if (reason !== undefined) return reason.trim() || "The server marks it as deprecated";
  return inputSchema.deprecated === true ? "The server marks it as deprecated" : undefined;
}

export const SUMMARY_CHARS = 80;

const PREAMBLE =
  /^(?:(?:this|the) (?:tool|function|method|endpoint|command|api)|(?:use|call) this(?: tool| function)?|(?:a|an) (?:simple |powerful )?tool|tool)(?: (?:is used|can be used|is designed|allows you|allows users|enables you|lets you|helps you|helps|allows|enables|will|that|which|can|for|to))*\s+/i;
const ABBREVIATION = /(?:\b(?:e\.g|i\.e|etc|vs|approx|incl|max|min|no)|\b[A-Z])\.$/i;

/** The first sentence of a description, plain and short; the name in words where there is none. */
export function summarizeTool(
  { name, title, description = "" }: Pick<ToolDefinition, "name" | "title" | "description">,
): string {
  const text = plain(firstParagraph(description));
  const sentence = firstSentence(text).replace(PREAMBLE, "");
  const words = sentence || plain(title ?? "") || nameText(name);
  return capitalized(shortened(words.replace(/[.:;,\s]+$/, "")));
}

function firstParagraph(text: string): string {
  const paragraphs = text.split(/\n\s*\n/).map((part) => part.trim());
  // A heading or a label alone says little.
  return paragraphs.find((part) => part !== "" && !/^(#+ .*|[^\n]{0,30}:)$/.test(part)) ??
    paragraphs.find((part) => part !== "") ?? "";
}

function plain(text: string): string {
  return text
    .replace(/^#+\s*/gm, "")
    .replace(/^\s*[-*>]\s+/gm, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]+/g, "")
    .replace(/<[^<>\n]{1,40}>/g, "")
    .replace(/\p{Cc}/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
}

function firstSentence(text: string): string {
  for (const { index } of text.matchAll(/[.!?。！？](?=\s|$)/g)) {
    const sentence = text.slice(0, index + 1);
    if (!ABBREVIATION.test(sentence)) return sentence;
  }
  return text;
}

function shortened(text: string): string {
  if (text.length <= SUMMARY_CHARS) return text;
  const room = text.slice(0, SUMMARY_CHARS + 1);
  // A whole clause reads better than a cut sentence, if it says enough.
  const [clause = ""] = /^.*(?=[,;:(–—])/.exec(room) ?? [];
  if (clause.length >= SUMMARY_CHARS / 2) return clause.replace(/[\s,;:(–—]+$/, "");
  const words = text.slice(0, SUMMARY_CHARS - 1);
  const cut = words.lastIndexOf(" ") > SUMMARY_CHARS / 2
    ? words.slice(0, words.lastIndexOf(" "))
    : words;
  return `${cut.toWellFormed().replace(/[\s\uFFFD]+$/, "")}…`;
}

function nameText(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_.\-/]+/g, " ").trim().toLowerCase();
}

function capitalized(text: string): string {
  return /^[a-z]+[\s]/.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text;
}

type InferredCategory = keyof typeof CATEGORIES | "other";

const STRONG = 2;
const WEAK = 0.75;
const ENOUGH = 2;
/** Names are chosen with more care than descriptions, which speak of many things. */
const PLACES = { name: 2, server: 2, title: 1.5, description: 1 };

type Strengths = Map<InferredCategory, number>;
let known: Map<string, Strengths> | undefined;

function indexWords(): Map<string, Strengths> {
  const index = new Map<string, Strengths>();
  for (const [category, { strong, weak }] of Object.entries(CATEGORIES)) {
    for (const [words, strength] of [[strong, STRONG], [weak, WEAK]] as const) {
      for (const word of words.split(" ")) {
        const strengths: Strengths = index.get(word) ?? new Map();
        index.set(word, strengths.set(category as InferredCategory, strength));
      }
    }
  }
  return index;
}

export function categoryDescription(category: string): string | undefined {
  if (category === "other") return "Other tools";
  return Object.hasOwn(CATEGORIES, category)
    ? CATEGORIES[category as keyof typeof CATEGORIES].description
    : undefined;
}

export function categoryOf(
  tool: Pick<ToolDefinition, "name" | "title" | "description"> & { server: string },
): InferredCategory {
  known ??= indexWords();
  const scores = new Map<InferredCategory, number>();
  for (const [place, weight] of Object.entries(PLACES)) {
    const text = tool[place as keyof typeof PLACES] ?? "";
    for (const word of new Set(wordsOf(text.slice(0, 2_000)))) {
      for (const [category, strength] of known.get(word) ?? []) {
        scores.set(category, (scores.get(category) ?? 0) + strength * weight);
      }
    }
  }
  let best: [InferredCategory, number] = ["other", ENOUGH - Number.EPSILON];
  for (const entry of scores) if (entry[1] > best[1]) best = entry;
  return best[0];
}

function wordsOf(text: string): string[] {
  return text
    .replace(/pull[\s_-]?request/gi, "pullrequest")
    .replace(/git[\s_-]?hub/gi, "github")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
