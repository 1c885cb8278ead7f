import { defined, getOrMake } from "../core/defined.ts";
import { isObject } from "../core/rpc.ts";
import type { ToolDefinition } from "../core/tool.ts";
import type { ToolOverride } from "../storage/catalog_repositories.ts";
import type { CatalogTool } from "./catalog_tool.ts";
import { Categorizer, type TextVectors } from "./categorize.ts";
import { CATEGORIES } from "./data/categories.ts";
import { namespacedName } from "./names.ts";

export interface ToolMetadata {
  summary: string;
  /** What it is for; "other" if that is not clear. */
  category: string;
  /** All categories that it is found under: the one above, and those that are as close. */
  categories: readonly string[];
  deprecated?: string;
}

/** What categories are inferred from. */
export interface CategoryInference {
  /** The tools of each server. */
  servers(): Iterable<readonly CatalogTool[]>;
  openVectors(): Promise<TextVectors>;
  onChange(): void;
}

export const NO_CATEGORY = "other";
/** How long tools are categorized before others get their turn. */
const SLICE_MS = 10;
/** From this closeness on, tools are related. */
const SIMILAR = 0.3;

export class ToolMetadataBook {
  readonly #configured: ReadonlyMap<string, string>;
  readonly #inference: CategoryInference | undefined;
  readonly #inferred = new WeakMap<CatalogTool, readonly string[]>();
  readonly #seen = new WeakSet<readonly CatalogTool[]>();
  #categorizer: Categorizer | undefined;
  #preparing: Promise<void> | undefined;
  #known = new WeakMap<CatalogTool, ToolMetadata>();
  #overrides = new Map<string, ToolOverride>();
  #overridesText = "[]";
  #edition = 0;

  constructor(
    categories: Readonly<Record<string, string>> = {},
    inference?: CategoryInference,
  ) {
    this.#configured = new Map(Object.entries(categories));
    this.#inference = inference;
  }

  get edition(): unknown {
    return this.#edition;
  }

  setOverrides(overrides: readonly ToolOverride[]): boolean {
    const text = JSON.stringify(overrides);
    if (text === this.#overridesText) return false;
    this.#overridesText = text;
    const named = overrides.map((each) => [namespacedName(each.server, each.tool), each] as const);
    this.#overrides = new Map(named);
    this.#forget();
    return true;
  }

  /** Infers the categories of all tools that are new; until then they have none. */
  async prepare(): Promise<void> {
    await (this.#preparing ??= this.#infer().finally(() => this.#preparing = undefined));
  }

  of(tool: CatalogTool): ToolMetadata {
    return getOrMake(this.#known, tool, () => this.#read(tool));
  }

  /** The categories that a word is closest to, of those given; none before `prepare`. */
  nearestCategories(written: string, among: readonly string[], limit: number): string[] {
    return this.#categorizer?.nearest(written, among, limit) ?? [];
  }

  /** Those of the other tools that do something close to this one; none before `prepare`. */
  similar(tool: CatalogTool, others: readonly CatalogTool[]): CatalogTool[] {
    const described = others.map((other) => ({ ...describedTool(other), tool: other }));
    return (this.#categorizer?.similar(describedTool(tool), described, SIMILAR) ?? [])
      .map(({ tool }) => tool);
  }

  #forget(): void {
    this.#known = new WeakMap();
    this.#edition++;
  }

  async #infer(): Promise<void> {
    const inference = this.#inference;
    if (!inference) return;
    const fresh = [...inference.servers()].filter((tools) =>
      tools.length > 0 && !this.#seen.has(tools)
    );
    if (fresh.length === 0) return;
    this.#categorizer ??= new Categorizer(await inference.openVectors());
    let turnEnds = performance.now() + SLICE_MS;
    for (const tools of fresh) {
      const categories = this.#categorizer.categories(tools.map(describedTool));
      tools.forEach((tool, index) => this.#inferred.set(tool, categories[index]!));
      this.#seen.add(tools);
      if (performance.now() < turnEnds) continue;
      await new Promise((resolve) => setTimeout(resolve, 0));
      turnEnds = performance.now() + SLICE_MS;
    }
    this.#forget();
    inference.onChange();
  }

  #read(tool: CatalogTool): ToolMetadata {
    const { server, name, definition } = tool;
    const said = this.#overrides.get(namespacedName(server, name));
    const deprecated = said?.deprecated ?? deprecationOf(definition);
    const given = said?.category ?? this.#configured.get(namespacedName(server, name)) ??
      this.#configured.get(namespacedName(server, "*"));
    const categories = given === undefined ? this.#inferred.get(tool) ?? [] : [given];
    const [category = NO_CATEGORY] = categories;
    return {
      summary: said?.summary ?? summarizeTool(definition),
      category,
      categories: categories.length === 0 ? [category] : categories,
      ...(deprecated === undefined ? {} : { deprecated }),
    };
  }
}

function describedTool({ server, name, definition: { title, description } }: CatalogTool) {
  return { server, name, ...defined({ title, description }) };
}

const MARKED = "The server marks it as deprecated";
const DEPRECATED = [
  /^\W*deprecated\b[\s:.,!\-–—\])]*([^\n]{0,300})/i,
  /\b(?:this|the) (?:\w+ )?(?:tool|function|method|command|endpoint|operation) (?:is|has been|was) (?:now )?deprecated\b[\s:.,!\-–—]*([^\n]{0,300})/i,
  /[[(]\s*deprecated\b[\s:.,\-–—]*([^\])\n]{0,300})[\])]/i,
  /[.!?]\s+\W*deprecated\s*[:.!\-–—][\s:.!\-–—]*([^\n]{0,300})/i,
];

/** Servers say it in the schema, the annotations, the title or the description. */
function deprecationOf(definition: CatalogTool["definition"]): string | undefined {
  const { title = "", description = "", inputSchema, annotations, _meta: meta } = definition;
  const said = [description, title].flatMap((text) =>
    DEPRECATED.flatMap((form) => form.exec(text)?.[1]?.trim() ?? [])
  );
  // A notice that says what to use instead tells more than a mark.
  if (said.length > 0) return said.find((reason) => reason !== "") ?? MARKED;
  for (const place of [inputSchema, annotations, meta]) {
    const mark = isObject(place) ? place.deprecated ?? place.deprecatedHint : undefined;
    if (mark === true) return MARKED;
    if (typeof mark === "string" && mark.trim() !== "") return mark.trim().slice(0, 300);
  }
}

export function categoryDescription(category: string): string | undefined {
  if (category === NO_CATEGORY) return "Other tools";
  return Object.hasOwn(CATEGORIES, category)
    ? CATEGORIES[category as keyof typeof CATEGORIES].description
    : undefined;
}

export const SUMMARY_CHARS = 80;

/** What says that it is a tool, not what it does. */
const PREAMBLE =
  /^(?:(?:this|the) (?:\w+ )?(?:tool|function|method|endpoint|command|api)|this is (?:an?|the) (?:\w+ )?(?:tool|function)|(?:use|call|invoke) this(?: tool| function)?|(?:an?|the) (?:\w+ )?tool|tool)(?: (?:is used|can be used|should be used|is designed|is useful|useful|allows you|allows users|allows|enables you|enables users|enables|lets you|lets users|helps you|helps users|helps|provides (?:the|an?) ability|provides a way|will|that|which|can|for|to|when you (?:need|want)|whenever you (?:need|want)|if you (?:need|want)))*\s+/i;
const MARKS = /^\W*deprecated\b[\s:.,!\-–—\])]*|\s*[[(]\s*deprecated\b[^\])]*[\])]/gi;
const ABBREVIATION = /(?:\b(?:e\.g|i\.e|etc|vs|approx|incl|max|min|no)|\b[A-Z])\.$/i;

/** The first sentence of a description, plain and short; the name in words where there is none. */
export function summarizeTool(
  { name, title, description = "" }: Pick<ToolDefinition, "name" | "title" | "description">,
): string {
  const text = plain(firstParagraph(description.replace(MARKS, "")));
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
