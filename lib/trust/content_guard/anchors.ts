import { getOrMake } from "../../core/defined.ts";

/**
 * Finds a few hundred fixed texts in a megabyte in about a millisecond: reads four bytes at a time,
 * every fourth byte only, and compares only where such a block is part of an anchor. That is why an
 * anchor has seven characters at least: wherever it stands, one whole block of it is read.
 */
export const MIN_ANCHOR = 7;
/** Characters of one part of a text; its bytes fit the buffer and the processor's cache. */
const PART = 16_384;
/** Parts overlap by this much, so that what crosses their border is whole in one of them. */
const OVERLAP = 256;
/** A run of this many blocks without a space may hold a key. */
const KEY_BLOCKS = 4;

/** What may stand at a place of the text; the numbers are of characters. */
export interface Hit {
  kind: "anchor" | "key" | "odd";
  /** Which of the anchors or of the keys. */
  index: number;
  start: number;
  end: number;
}

const bytes = new Uint8Array(PART * 3 + 8);
const blocks = new Int32Array(bytes.buffer, 0, bytes.length >> 2);
const encoder = new TextEncoder();

interface Anchor {
  index: number;
  folded: Uint8Array;
  block: number;
  /** Where in the anchor the block stands. */
  offset: number;
}

/** Characters of English text, the most common first. */
const COMMON = encoder.encode(" etaoinsrhldcumfpgwybvkxjqz");

export class Anchors {
  readonly #isBlock = new Uint8Array(65_536);
  /** By the hash of a block: the number of its anchors' list. */
  readonly #lists = new Uint16Array(65_536);
  readonly #anchors: Anchor[][] = [];
  /** Beginnings of keys, by their first three characters. */
  readonly #isKey = new Uint8Array(65_536);
  readonly #keys = new Map<number, { index: number; bytes: Uint8Array }[]>();

  constructor(texts: readonly string[], keys: readonly string[]) {
    for (const [index, text] of texts.entries()) {
      const folded = encoder.encode(text).map(fold);
      if (folded.length < MIN_ANCHOR) throw new RangeError(`Too short for an anchor: "${text}"`);
      for (let first = 0; first < 4; first++) {
        const offset = rarestOffset(folded, first);
        this.#add({ index, folded, block: blockAt(folded, offset), offset });
      }
    }
    for (const [index, key] of keys.entries()) {
      const bytes = encoder.encode(key);
      const block = blockAt(bytes, 0) & 0xffffff;
      this.#isKey[hash(block)] = 1;
      getOrMake(this.#keys, block, () => []).push({ index, bytes });
    }
  }

  #add(anchor: Anchor): void {
    const slot = hash(anchor.block);
    if (this.#isBlock[slot] === 0) this.#lists[slot] = this.#anchors.push([]) - 1;
    this.#isBlock[slot] = 1;
    this.#anchors[this.#lists[slot]!]!.push(anchor);
  }

  /** Visits each place worth a look, until the visitor returns true; returns whether it did. */
  find(text: string, visit: (hit: Hit) => boolean): boolean {
    for (let start = 0; start < text.length; start += PART - OVERLAP) {
      const part = text.length <= PART ? text : text.slice(start, start + PART);
      const { read, written } = encoder.encodeInto(part, bytes);
      bytes.fill(32, written, written + 8);
      const isPlain = read === written;
      // Where all is ASCII, a byte's place is the character's.
      const place = isPlain ? (at: number) => at : characterCounter();
      const found = this.#findIn(
        (written + 3) >> 2,
        !isPlain,
        (kind, from, to, index) =>
          visit({ kind, index, start: start + place(from), end: start + place(to) }),
      );
      if (found) return true;
      if (start + PART >= text.length) return false;
    }
    return false;
  }

  #findIn(count: number, mayBeOdd: boolean, visit: Visit): boolean {
    const isBlock = this.#isBlock;
    run = 0;
    for (let at = 0;; at++) {
      at = nextStop(at, count, isBlock, mayBeOdd);
      if (at >= count) return false;
      const block = blocks[at]!;
      if (run === KEY_BLOCKS) {
        let end = at + 1;
        while (end < count && isRun(blocks[end]!)) end++;
        if (this.#visitRun(at + 1 - run, end, visit)) return true;
      }
      if (mayBeOdd && isOdd(at * 4) && visit("odd", at * 4, at * 4 + 4, 0)) return true;
      if (isBlock[hash(block | FOLD)] === 0) continue;
      if (this.#visitAnchors(block | FOLD, at * 4, visit)) return true;
    }
  }

  /** Looks for beginnings of keys in a run of blocks, and in the bytes beside it. */
  #visitRun(from: number, to: number, visit: Visit): boolean {
    const isKey = this.#isKey;
    const end = to * 4;
    for (let at = Math.max(0, from * 4 - 3); at < end; at++) {
      const block = bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16;
      if (isKey[hash(block)] === 0) continue;
      for (const { index, bytes: key } of this.#keys.get(block) ?? []) {
        if (isAt(at, key) && visit("key", at, at + key.length, index)) return true;
      }
    }
    return false;
  }

  #visitAnchors(block: number, at: number, visit: Visit): boolean {
    for (const { index, folded, block: own, offset } of this.#anchors[this.#lists[hash(block)]!]!) {
      const from = at - offset;
      if (own !== block || from < 0) continue;
      let same = 0;
      while (same < folded.length && fold(bytes[from + same]!) === folded[same]) same++;
      if (same === folded.length && visit("anchor", from, from + same, index)) return true;
    }
    return false;
  }
}

/** How many blocks without a space nextStop() has seen up to where it stopped. */
let run = 0;

/**
 * The next block to be looked at; the number of blocks if there is none. Apart, and nearly without
 * branches: this is where the time goes.
 */
function nextStop(from: number, count: number, isBlock: Uint8Array, mayBeOdd: boolean): number {
  let length = run;
  let at = from;
  for (; at < count; at++) {
    const block = blocks[at]!;
    length = isRun(block) ? length + 1 : 0;
    if (isBlock[Math.imul(block | FOLD, FACTOR) >>> 16] === 1 || length === KEY_BLOCKS) break;
    if (mayBeOdd && (block & HIGH) !== 0) break;
  }
  run = length;
  return at;
}

/** Whether all four bytes are letters, digits or what else stands in keys and addresses. */
function isRun(block: number): boolean {
  return (((block & LOW) + 0x53535353 | 0) & ~block & HIGH) === HIGH;
}

type Visit = (kind: Hit["kind"], from: number, to: number, index: number) => boolean;

const HIGH = 0x80808080 | 0;
const LOW = 0x7f7f7f7f;
const FACTOR = 0x9e3779b1 | 0;
const FOLD = 0x20202020;

/** Small and capital letters are the same; some signs are then the same as others, too. */
function fold(byte: number): number {
  return byte | 0x20;
}

function blockAt(folded: Uint8Array, at: number): number {
  return folded[at]! | folded[at + 1]! << 8 | folded[at + 2]! << 16 | folded[at + 3]! << 24;
}

/** Of every fourth offset from `first` on, the one whose block is the rarest in ordinary text. */
function rarestOffset(folded: Uint8Array, first: number): number {
  let [rarest, most] = [first, -1];
  for (let offset = first; offset + 4 <= folded.length; offset += 4) {
    let rarity = 0;
    // Each byte once: lines of dashes are common.
    for (const byte of new Set(folded.subarray(offset, offset + 4))) {
      const place = COMMON.indexOf(byte);
      rarity += place === -1 ? COMMON.length : place;
    }
    if (rarity > most) [rarest, most] = [offset, rarity];
  }
  return rarest;
}

function hash(block: number): number {
  return Math.imul(block, FACTOR) >>> 16;
}

/** How many characters a number of bytes is; from the last number on, if it is no smaller. */
function characterCounter(): (end: number) => number {
  let [at, count] = [0, 0];
  return (end) => {
    if (end < at) [at, count] = [0, 0];
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if ((byte & 0xc0) !== 0x80) count += byte >= 0xf0 ? 2 : 1;
    }
    return count;
  };
}

function isAt(place: number, key: Uint8Array): boolean {
  for (let at = 3; at < key.length; at++) if (bytes[place + at] !== key[at]) return false;
  return true;
}

/** First bytes of what isOdd() looks at. */
const ODD = new Uint8Array(256);
for (const byte of [0xc2, 0xcd, 0xce, 0xd0, 0xd1, 0xe1, 0xe2, 0xef, 0xf0, 0xf3]) {
  ODD[byte] = 1;
}

/** Whether an invisible or reordering character may begin at one of four bytes. */
function isOdd(at: number): boolean {
  for (let i = at; i < at + 4; i++) {
    const byte = bytes[i]!;
    if (ODD[byte] === 0) continue;
    const next = bytes[i + 1]!;
    const last = bytes[i + 2]!;
    if (
      byte === 0xe2 && next === 0x80 &&
      (last >= 0x8b && last <= 0x8f || last >= 0xaa && last <= 0xae)
    ) return true;
    if (byte === 0xe2 && next === 0x81 && last >= 0xa0 && last <= 0xaf) return true;
    // U+FEFF, U+FE00 to U+FE0F; U+E0000 and on; U+034F, U+00AD, U+061C, U+115F, U+180E.
    if (byte === 0xef && (next === 0xbb && last === 0xbf)) return true;
    if (byte === 0xef && next === 0xb8 && last <= 0x8e) return true;
    if (byte === 0xf3 && next === 0xa0) return true;
    if (
      byte === 0xe1 &&
      (next === 0xa0 && last === 0x8e || next === 0x85 && (last === 0x9f || last === 0xa0))
    ) return true;
    if (byte === 0xc2 && next === 0x9b || byte === 0xcd && next === 0x8f) return true;
    // Letters of other alphabets that look like ours, and the mathematical ones.
    if (byte === 0xf0 && next === 0x9d && (last >= 0x90 && last <= 0x9f)) return true;
    if (byte === 0xef && (next === 0xbc || next === 0xbd)) return true;
    if ((byte === 0xd0 || byte === 0xd1 || byte === 0xce) && isMixed(i)) return true;
  }
  return false;
}

/** Whether a Cyrillic or Greek letter stands directly beside a Latin one. */
function isMixed(at: number): boolean {
  return isLatin(bytes[at - 1]) || isLatin(bytes[at + 2]);
}

function isLatin(byte: number | undefined): boolean {
  return byte !== undefined && fold(byte) >= 0x61 && fold(byte) <= 0x7a && (byte & 0x40) !== 0;
}
