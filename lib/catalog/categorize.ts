import type { ToolDefinition } from "../core/tool.ts";
import { CATEGORIES } from "./data/categories.ts";

/** What a tool is judged by. */
export type DescribedTool =
  & Pick<ToolDefinition, "name" | "title" | "description">
  & { server: string };

/** Turns a text into a vector; texts of the same meaning are close. */
export interface TextVectors {
  vectorOf(text: string): Float32Array;
}

/** Below this closeness, from 0 to 1, a tool is in no category: a wrong one is worse than none. */
const ENOUGH = 0.3;
/** Enough for the category that most of the server's tools are in. */
const ENOUGH_AMONG_SIBLINGS = 0.2;
/** A second category this close to the first holds the tool as well, for those who filter by it. */
const ALMOST = 0.03;
/** Of a tool's closeness, the part that is its server's: siblings are mostly for the same. */
const OF_SERVER = 0.3;
/** Only so many categories, the closest by their middle, are compared phrase by phrase. */
const COMPARED = 6;
const DESCRIPTION_CHARS = 300;
const NOISE = /\b(?:mcp|servers?|official|tools?|api)\b/gi;

interface Prototype {
  category: string;
  only: RegExp | undefined;
  middle: Float32Array;
  phrases: Float32Array[];
}

/** Sorts tools into the curated categories, by what their texts mean. */
export class Categorizer {
  readonly #vectors: TextVectors;
  readonly #prototypes: Prototype[];

  constructor(vectors: TextVectors) {
    this.#vectors = vectors;
    this.#prototypes = Object.entries(CATEGORIES).map(([category, described]) => {
      const texts = [described.description, ...described.examples.split("; ")];
      const phrases = texts.map((text) => unit(vectors.vectorOf(text)));
      const only = "only" in described ? described.only : undefined;
      return { category, only, middle: middleOf(phrases), phrases };
    });
  }

  /** The categories of a server's tools, the best first; none for a tool that is close to none. */
  categories(tools: readonly DescribedTool[]): string[][] {
    const own = tools.map((tool) => this.#closeness(tool));
    const ofServer = this.#prototypes.map((_, place) =>
      own.reduce((sum, all) => sum + Math.max(0, all[place]!), 0) / Math.max(1, own.length)
    );
    const ranked = own.map((all) =>
      all.map((one, place) => ({
        category: this.#prototypes[place]!.category,
        closeness: one < 0 ? one : one * (1 - OF_SERVER) + ofServer[place]! * OF_SERVER,
      })).sort((a, b) => b.closeness - a.closeness)
    );
    const sure = ranked.flatMap(([best]) => best!.closeness >= ENOUGH ? best!.category : []);
    const common = mostOf(sure, own.length);
    return ranked.map((all) => {
      const best = all[0]!.closeness;
      if (best >= ENOUGH) {
        return all.filter(({ closeness }) => best - closeness <= ALMOST)
          .map(({ category }) => category);
      }
      const shared = all.find(({ category }) => category === common);
      return shared && shared.closeness >= ENOUGH_AMONG_SIBLINGS ? [shared.category] : [];
    });
  }

  /** The categories that a word or phrase is closest to, of those given. */
  nearest(written: string, among: readonly string[], limit: number): string[] {
    const vector = unit(this.#vectors.vectorOf(written.replace(/[_-]+/g, " ")));
    return this.#prototypes.filter(({ category }) => among.includes(category))
      .map((prototype) => ({ prototype, closeness: likeness(vector, prototype) }))
      .filter(({ closeness }) => closeness > 0)
      .sort((a, b) => b.closeness - a.closeness)
      .slice(0, limit).map(({ prototype }) => prototype.category);
  }

  /** The tools that do something close to what a tool does, the closest first. */
  similar<Tool extends DescribedTool>(
    tool: DescribedTool,
    others: readonly Tool[],
    least: number,
  ): Tool[] {
    // Without the server's name, which all of a server's tools would share.
    const vectorOf = (each: DescribedTool) => this.#vectorOf({ ...each, server: "" });
    const vector = vectorOf(tool);
    return others.map((other) => ({
      other,
      closeness: dot(vector, vectorOf(other)) + sharedWords(tool.name, other.name) / 2,
    }))
      .filter(({ closeness }) => closeness >= least)
      .sort((a, b) => b.closeness - a.closeness)
      .map(({ other }) => other);
  }

  #vectorOf({ server, name, title = "", description = "" }: DescribedTool): Float32Array {
    const shown = `${name} ${title} ${description.slice(0, DESCRIPTION_CHARS)} ${server}`;
    return unit(this.#vectors.vectorOf(shown.replace(/[_-]+/g, " ").replace(NOISE, " ")));
  }

  /** How close a tool is to each category, in their order; below 0 where it cannot be in it. */
  #closeness(tool: DescribedTool): number[] {
    const { server, name, title = "", description = "" } = tool;
    const words = `${server} ${name} ${title} ${description}`;
    const vector = this.#vectorOf(tool);
    const result = this.#prototypes.map(({ only, middle }) =>
      only && !only.test(words) ? -1 : dot(vector, middle) / 2
    );
    const closest = result.map((_, place) => place).sort((a, b) => result[b]! - result[a]!);
    for (const place of closest.slice(0, COMPARED)) {
      if (result[place]! >= 0) result[place] = likeness(vector, this.#prototypes[place]!);
    }
    return result;
  }
}

/** How much of the shorter name is in the other one, from 0 to 1: "adjust_belief", "query_beliefs". */
function sharedWords(a: string, b: string): number {
  const wordsOf = (name: string) =>
    new Set(
      name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().split(/[^\p{L}\p{N}]+/u)
        .map((word) => word.replace(/s$/, "")).filter((word) => word !== ""),
    );
  const [left, right] = [wordsOf(a), wordsOf(b)];
  const shared = [...left].filter((word) => right.has(word)).length;
  return shared / Math.max(1, Math.min(left.size, right.size));
}

/** The category that at least half of all tools are in. */
function mostOf(categories: readonly string[], all: number): string | undefined {
  const groups = Map.groupBy(categories, (category) => category);
  for (const [category, tools] of groups) if (tools.length * 2 >= all) return category;
}

/** Close to the middle of a category, and to two of its phrases. */
function likeness(vector: Float32Array, { middle, phrases }: Prototype): number {
  let [best, second] = [0, 0];
  for (const phrase of phrases) {
    const closeness = dot(vector, phrase);
    if (closeness > best) [best, second] = [closeness, best];
    else if (closeness > second) second = closeness;
  }
  return (dot(vector, middle) + (best + second) / 2) / 2;
}

function middleOf(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]!.length);
  for (const vector of vectors) vector.forEach((value, place) => sum[place]! += value);
  return unit(sum);
}

/** The same direction with the length 1; all zeros stay that. */
function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return vector.map((value) => value / length);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let place = 0; place < a.length; place++) sum += a[place]! * b[place]!;
  return sum;
}
