import type { Severity } from "../../catalog/tool_guard.ts";
import { PLACES } from "./data/weights.ts";
import type { Sign } from "./data/signs.ts";

/** How far before the end of a sentence a sign may be that counts for it, in words. */
const REACH = 60;
/** Points at which a passage is doubtful, and at which it has no honest reading. */
const ENOUGH = 11.25;
const PLENTY = 15;
/** As many of them have to come from signs where a tool is held back: manner alone may be prose. */
const GRAVE = 8.5;
/** How many points words may add to those of the signs beside them: of several signs, or of one. */
const MANNER = { many: 5, one: 2 };
/** Words of which a shorter sentence is made up in thought, so that few do not weigh too much. */
const USUAL = 10;
/** A sentence with fewer words says nothing by its manner; a parameter says what it wants in few. */
const SHORTEST = { prose: 5, parameter: 3 };
/** Points that everything has in a definition in which something was found. */
const SUSPICION = 3;
/** From here on come scripts of which only known pieces are seen, so that few say much. */
const DENSE = 0x590;
/** A line of a shell command that goes on, a header of one, or two members of an object. */
const SAMPLE = /\\\r?\n|(?:^|\s)-H ["']/;
const MEMBER = /"[\w.@-]{1,60}"\s?:/g;
/** "a, b and c" */
const LIST = new Intl.ListFormat("en-GB");

interface Seen {
  sign: Sign;
  word: number;
  sentence: number;
  at: number;
}

/** The beginning of a word, and how much it speaks for an order. */
export interface Weighed {
  stem: string;
  weight: number;
}

/** One sentence as it is judged: what a trainer of the weights has to see. */
export interface Sentence {
  /** Ids of the signs in it and shortly before it. */
  signs: readonly string[];
  /** Beginnings of its words, each once. */
  stems: readonly string[];
  isLater: boolean;
  /** It has no longer word in common with the names of the tool and the first sentence. */
  isAside: boolean;
  place: Place | undefined;
}

/** Where few sentences stand: a title or a value, and a parameter. */
export type Place = "odd" | "parameter";

/** Shorter words are in every text. */
function isLong(stem: string): boolean {
  return stem.length > 4;
}

/** Adds up what speaks for an order in each sentence while the words of a text go by. */
export class PassageScore {
  readonly #seen = new Map<string, Seen>();
  readonly #place: Place | undefined;
  readonly #isSuspect: boolean;
  readonly #text: string;
  readonly #listen: ((sentence: Sentence) => void) | undefined;
  #word = 0;
  /** Where the sentence begins in the text, and where its last word does. */
  #from = 0;
  #to = 0;
  #sentence = 0;
  #isTopical = false;
  /** Longer words of the first sentence, which says what the tool does. */
  #subject: ReadonlySet<string> = new Set();
  #index = 0;
  readonly #words: Weighed[] = [];
  #signed = -Infinity;
  #most = -Infinity;
  #signs: readonly Seen[] = [];
  #isGrave = false;

  constructor(
    { place, isSuspect = false, text = "", listen }: {
      place?: Place | undefined;
      isSuspect?: boolean | undefined;
      text?: string;
      listen?: ((sentence: Sentence) => void) | undefined;
    } = {},
  ) {
    this.#place = place;
    this.#isSuspect = isSuspect;
    this.#listen = listen;
    this.#text = text;
  }

  /** The next word and where it is; a jump of its index is the end of a sentence. */
  step(index: number, at: number): void {
    if (index - this.#index > REACH * 2) {
      this.close();
      this.#from = at;
    }
    this.#index = index;
    this.#to = at;
    this.#word++;
  }

  /** What the word, or one that it is by its shape, speaks for. */
  weigh(word: Weighed): void {
    this.#words.push(word);
  }

  /** A word of the tool's names. */
  touch(): void {
    this.#isTopical = true;
  }

  add(sign: Sign, at: number): void {
    this.#seen.set(sign.id, { sign, word: this.#word, sentence: this.#sentence, at });
    this.#signed = this.#sentence;
  }

  close(): void {
    // Most sentences have no sign, and are not worth more.
    if (this.#sentence - this.#signed <= 1 || this.#listen !== undefined) this.#judge();
    if (this.#sentence === 0) {
      this.#subject = new Set(this.#words.map(({ stem }) => stem).filter(isLong));
    }
    this.#words.length = 0;
    this.#isTopical = false;
    this.#sentence++;
  }

  #judge(): void {
    const stems = new Set<string>();
    let [manner, dense] = [0, 0];
    for (const { stem, weight } of this.#words) {
      if (stem.charCodeAt(0) >= DENSE) dense++;
      if (stems.has(stem)) continue;
      stems.add(stem);
      manner += weight;
    }
    const isParameter = this.#place === "parameter";
    if (stems.size + dense < SHORTEST[isParameter ? "parameter" : "prose"]) return;
    if (this.#listen !== undefined && this.#isSample()) return;
    const near = [...this.#seen.values()].filter((it) => this.#isNear(it));
    const isLater = this.#sentence > 0;
    const isAside = isLater && !this.#isTopical && stems.isDisjointFrom(this.#subject);
    this.#listen?.({
      signs: near.map(({ sign }) => sign.id),
      stems: [...stems],
      isLater,
      isAside,
      place: this.#place,
    });
    let points = (isLater ? PLACES.later : 0) + (isAside ? PLACES.aside : 0) +
      (this.#isSuspect ? SUSPICION : 0);
    if (this.#place) points += PLACES[this.#place];
    let signed = 0;
    for (const { sign } of near) signed += sign.points;
    manner /= Math.sqrt(Math.max(stems.size, USUAL) / USUAL);
    points += signed + Math.min(manner, signed + (near.length > 1 ? MANNER.many : MANNER.one));
    if (near.length === 0 || points <= this.#most) return;
    if (points >= ENOUGH && this.#isSample()) return;
    this.#most = points;
    this.#signs = near;
    this.#isGrave = points >= PLENTY && signed >= GRAVE;
  }

  /** What the passage with the most points amounts to; `span` goes from its first sign to its last. */
  gravest() {
    this.close();
    if (this.#most < ENOUGH) return undefined;
    const signs = this.#signs.toSorted((a, b) => b.sign.points - a.sign.points);
    const says = [...new Set(signs.map(({ sign }) => sign.says))].slice(0, 4);
    const severity: Severity = this.#isGrave && !signs[0]!.sign.isMild ? "high" : "medium";
    return {
      rule: signs[0]!.sign.rule,
      severity,
      why: `It reads like an instruction rather than documentation, and it ${LIST.format(says)}`,
      span: [
        Math.min(...signs.map(({ at }) => at)),
        Math.max(...signs.map(({ at }) => at)),
      ] as [number, number],
    };
  }

  /** A sample of code or data is read by people who write such, and orders nothing. */
  #isSample(): boolean {
    const text = this.#text.slice(Math.max(0, this.#from - 4), this.#to + 40);
    return SAMPLE.test(text) || (text.match(MEMBER)?.length ?? 0) > 1;
  }

  #isNear({ word, sentence }: Seen): boolean {
    return sentence === this.#sentence ||
      (this.#sentence - sentence === 1 && this.#word - word <= REACH);
  }
}
