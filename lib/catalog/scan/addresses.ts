import { excerptOf, type Finding, type Severity } from "./finding.ts";

const SCRIPT = /\b(javascript|vbscript):[^\s/]/i;
const DATA = /\bdata:(text\/html|text\/javascript|application\/javascript|application\/xhtml)/i;
/** Places whose only use is to see what others send there. */
const CATCHERS =
  /\b(webhook\.site|requestbin\.\w+|pipedream\.net|burpcollaborator\.net|oastify\.com|interact\.sh|oast\.(fun|live|pro|site|online|me)|beeceptor\.com|hookbin\.com|requestcatcher\.com|canarytokens\.com|dnslog\.cn)\b/i;
/** Hosts that say themselves what they are for. */
const HOSTILE =
  /(\/\/|@|\.|\b)(evil|attacker|attkr|malicious|exfil|hacker|stealer)[\w-]{0,30}(\.[\w-]{1,30}){0,3}\.(com|net|org|io|co|example|test|xyz|ru|site)\b/i;
/** Where a cloud keeps the credentials of its machines. */
const METADATA = /\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b|\bfd00:ec2::254\b/i;
/** Some part of every address; most texts have no such sign within a word. */
const WITHIN = /[.:]\S/;
const LOCAL_FILE = /^file:/i;

/** Finds addresses that run something, or that lead to where data are collected. */
export function scanAddresses(where: string, text: string): Finding[] {
  const found: Finding[] = [];
  if (!WITHIN.test(text)) return found;
  const look = (expression: RegExp, severity: Severity, why: string) => {
    const at = text.search(expression);
    if (at >= 0) {
      found.push({ rule: "addresses", severity, where, excerpt: excerptOf(text, at), why });
    }
  };
  look(SCRIPT, "high", "It has an address that runs a script");
  look(
    DATA,
    where.startsWith("icons") ? "high" : "medium",
    "It has a page or script as an address",
  );
  look(CATCHERS, "medium", "It names a place whose use is to collect what others send");
  look(HOSTILE, "medium", "It names an address that calls itself hostile");
  look(METADATA, "medium", "It names the address at which a cloud hands out credentials");
  if (where.startsWith("icons")) {
    look(LOCAL_FILE, "medium", "Its icon is a file of the machine that shows it");
  }
  return found;
}
