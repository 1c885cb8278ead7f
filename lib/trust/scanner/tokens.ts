import { LANGUAGES } from "./data/languages.ts";
import type { Folded } from "./characters.ts";
import type { ScanContext } from "./definition.ts";
import { CLASSES, MERGED } from "./data/words.ts";

/** One word of a text, or what it is by its shape (`§url`). */
export interface Token {
  words: readonly string[];
  /** Counts words; a new sentence is far away, so that no phrase reaches over its end. */
  index: number;
  /** Place in the original text. */
  at: number;
}

const SENTENCE = 1_000;

const SHAPES: readonly [string, RegExp][] = [
  ["§leak", /^https?:\/\/[^\s]{0,200}[?&][^=\s]{0,40}=[^\s]{0,10}[{<$[]|^[<{]\w+[>}]\.[\w.-]+$/],
  [
    "§harvest",
    /^https?:\/\/[^\s{<$[]{0,200}[{<$[][\w $-]{0,60}(transcript|conversation|contents|chat|history|secret|prompt|passw|environ|\.env|messages)/,
  ],
  ["§url", /^https?:\/\/./],
  ["§email", /^[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,6}$/],
  [
    "§host",
    /^[\w-]{2,63}(\.[\w-]{1,63}){0,4}\.(com|net|org|io|co|xyz|ru|cn|test|info|site|online|sh|cc|top|example|invalid|dev|app|cloud|link|biz|pw|su|ws|tk|de|fr|eu|uk|br|in)(\/\S{0,200})?$/,
  ],
  ["§number", /^(\+\d{7,15}|0x[0-9a-f]{20,64}|[a-z]{2}\d{2}[a-z0-9]{0,30}|\d{6,34})$/],
  [
    "§hard",
    /\.ssh(\/|$)|\bid_(rsa|ed25519|ecdsa|dsa)\b|\/etc\/(passwd|shadow|sudoers)|\.aws\/(credentials|config)|\.netrc$|\.git-credentials|\.gnupg|\.pgpass|\.pypirc|(^|[\/\\])mcp\.json$|claude_desktop_config|\.claude\.json|\.cursor\/|(bash|zsh)_history|wallet\.dat|application_default_credentials|\.vault-token|login data|cookies\.sqlite|^\*\.(pem|key)$/,
  ],
  [
    "§soft",
    /(^|\/)\.env(\.\w+)?$|\.npmrc$|kubeconfig|\.kube(\/config)?|\.docker\/config|^credentials\.\w{2,5}$|^secrets?\.(json|ya?ml|toml|env)$|service[-_]account\.json$|\.htpasswd$/,
  ],
  [
    "§dotfile",
    /^(~|\$home|%userprofile%)[\/\\]\S|^\.[a-z][\w-]*rc$|\.(pem|p12|pfx|keystore|kdbx|tfstate|tfvars|ovpn|sqlite)$|^\/(etc|root|proc)\/|^id\.json$|^seed\.txt$|^passwords?\.\w+$/,
  ],
  [
    "§danger",
    /autoapprove|dangerously|bypass_?permissions|skip[-_]?permissions|no[-_]verify|nopasswd|^--?yolo|allow[-_]?all|permissions\.allow|^\.claude\/settings/,
  ],
  ["§bucket", /^(gs|s3|ftp|sftp|webdav|ssh|wss?|mailto|dns|tcp|r2):\/{0,2}\S/],
  ["§handle", /^[#@][a-z][\w.-]{2,}$/],
  ["§startup", /\.(bashrc|zshrc|profile|bash_profile)$|authorized_keys|^crontab$/],
  [
    "§envname",
    /^\$?\{?[a-z][a-z0-9]*(_[a-z0-9]+)*_(key|token|secret|password|pat|credentials?)s?(_id)?\}?$/,
  ],
];
/** Commands that show what a machine holds, set apart as code. */
const COMMANDS = new Set(
  ("env printenv cat whoami security gcloud kubectl aws gh git curl wget printf ls ps history set " +
    "export gpg ssh scp base64 find grep tar zip sudo id hostname defaults reg powershell python3")
    .split(" "),
);
/** Words that no shape can match: the common case, decided without the expressions above. */
const PLAIN = /^[a-z]+$/;
/** What follows one of these is an example for a person, not an address to send to. */
const EXAMPLES = new Set(["eg", "e.g", "ex", "example", "examples", "like", "such"]);

type Merges = Map<string, { rest: string[]; word: string }[]>;
let knownMerges: Merges | undefined;

/** What can be merged, by its first word, the longest first. */
function mergesOf(): Merges {
  if (knownMerges !== undefined) return knownMerges;
  knownMerges = new Map();
  for (const [phrase, word] of MERGED) {
    const [first = "", ...rest] = phrase.split(" ");
    const list = knownMerges.get(first) ?? [];
    list.push({ rest, word });
    knownMerges.set(first, list.sort((a, b) => b.rest.length - a.rest.length));
  }
  return knownMerges;
}

/** The words of a folded text. */
export function tokenize(folded: Folded, around: ScanContext): Token[] {
  const raw: { word: string; index: number; at: number }[] = [];
  let index = 0;
  const hasJoined = isJoined(folded.text);
  for (const match of folded.text.matchAll(/\n|[^\s,()|]+/g)) {
    if (match[0] === "\n") {
      index += SENTENCE;
      continue;
    }
    if (hasJoined && isJoined(match[0])) {
      for (const { word, at } of piecesOf(match[0])) {
        raw.push({ word, index: index++, at: folded.at[match.index + at] ?? 0 });
      }
      continue;
    }
    const at = folded.at[match.index] ?? 0;
    if (PLAIN.test(match[0])) raw.push({ word: match[0], index: index++, at });
    else for (const word of wordsOf(match[0])) raw.push({ word, index: index++, at });
  }
  const merges = mergesOf();
  const tokens: Token[] = [];
  let exampleUntil = -1;
  /** Words that were merged away: a phrase's gap counts what is left. */
  let merged = 0;
  for (let i = 0; i < raw.length; i++) {
    const { word, index: place, at } = raw[i]!;
    const index = place - merged;
    const merge = merges.get(word)?.find(({ rest }) =>
      rest.every((next, j) =>
        raw[i + 1 + j]?.word === next && raw[i + 1 + j]!.index === place + 1 + j
      )
    );
    if (merge !== undefined) {
      i += merge.rest.length;
      merged += merge.rest.length;
      tokens.push({ words: [merge.word], index, at });
      continue;
    }
    if (EXAMPLES.has(word)) exampleUntil = index + 4;
    const words = shapesOf(word, around);
    if (isCode(folded.original, at)) words.push(COMMANDS.has(word) ? "§cmd" : "§code");
    tokens.push({
      words: index <= exampleUntil ? words.filter((it) => !isAddress(it)) : words,
      index,
      at,
    });
  }
  return tokens;
}

/** Set apart by a quote, as the names of parameters are. */
function isCode(original: string, at: number): boolean {
  const before = original[at - 1];
  return before === "`" || before === "'" || before === '"' || original[at] === "`";
}

function isAddress(word: string): boolean {
  return word === "§url" || word === "§email" || word === "§host" || word === "§number";
}

function wordsOf(chunk: string): string[] {
  const bare = chunk.replace(/^[[\](){}<:;!?.…#-]{1,20}(?=[\w~/§*+.])/, keepDot)
    .replace(/[\](){}>:;!?.…]{1,20}$/, "");
  if (/^[a-z]+(\/[a-z]+)+$/.test(bare)) return bare.split("/");
  if (/^[a-z]+(-[a-z]+)+$/.test(bare)) return [bare.replaceAll("-", "")];
  return bare === "" ? [] : [bare];
}

/** The dot of `.env` is part of the name. */
function keepDot(prefix: string): string {
  return prefix.endsWith(".") ? "." : "";
}

/** The word, and what it is by its shape. */
function shapesOf(word: string, around: ScanContext): string[] {
  const shapes = [word];
  if (!PLAIN.test(word)) {
    for (const [shape, expression] of SHAPES) if (expression.test(word)) shapes.push(shape);
    if (isForeign(word, around)) shapes.push("§foreign");
    else if (isQualified(word, around)) shapes.push("§qualified");
  }
  if (around.otherServers.has(word)) shapes.push("§server");
  return shapes;
}

/** A tool of another server, and no word that merely happens to be one (`search`, `think`). */
function isForeign(word: string, around: ScanContext): boolean {
  const [, server, tool] = /^(?:mcp__)?([\w-]+?)(?:__|\.)([\w-]+)$/.exec(word) ?? [];
  if (server !== undefined && around.otherServers.has(server) && around.otherTools.has(tool!)) {
    return true;
  }
  if (!/[a-z0-9][_-][a-z0-9]/.test(word) || around.ownTools?.has(word) === true) return false;
  // Folding leaves the s of `send_email's`.
  return around.otherTools.has(word) ||
    (word.endsWith("s") && around.otherTools.has(word.slice(0, -1)));
}

const BRANDS: ReadonlySet<string> = new Set(CLASSES.BRAND.split(" "));

/** Written like a tool of a named server, `bank.transfer`, whether or not that is connected. */
function isQualified(word: string, around: ScanContext): boolean {
  const [, server, tool] = /^(?:mcp__)?([a-z][a-z0-9-]{1,30})(?:\.|__)([a-z]+(?:_[a-z0-9]+){0,6})$/
    .exec(word) ?? [];
  if (server === undefined || server === around.server || around.ownTools?.has(tool!) === true) {
    return false;
  }
  if (tool!.includes("_")) return true;
  // Short ends are those of files and hosts.
  return tool!.length > 4 && (BRANDS.has(server) || around.otherServers.has(server));
}

/** Letters of scripts whose words are found as pieces of text: no spaces, or joined small words. */
const JOINED = /[\u0590-\u06FF\u0900-\u09FF\u0E00-\u0E7F\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF]/;

let knownPieces: Map<string, string[]> | undefined;

export function isJoined(text: string): boolean {
  return JOINED.test(text);
}

/** The known words in a row of letters that does not part them, and where each begins. */
export function piecesOf(chunk: string): { word: string; at: number }[] {
  const words = knownPieces ??= byFirstLetter();
  const found: { word: string; at: number }[] = [];
  for (let at = 0; at < chunk.length; at++) {
    const word = words.get(chunk[at]!)?.find((each) => chunk.startsWith(each, at));
    if (word === undefined) continue;
    found.push({ word, at });
    at += word.length - 1;
  }
  return found;
}

/** The longest first, since a short word may begin a long one. */
function byFirstLetter(): Map<string, string[]> {
  const words = Object.values(LANGUAGES).flatMap((list) => list.split(" ")).filter(isJoined);
  const longestFirst = [...new Set(words)].sort((a, b) => b.length - a.length);
  return Map.groupBy(longestFirst, (word) => word[0]!);
}
