import type { Described } from "./sign.ts";

/** What is said of other servers' tools, which a server has no reason to explain. */
export const TOOLS_OF_OTHERS: readonly Described[] = [
  {
    id: "reshape",
    says: "says how another server's tool is to be used",
    rule: "cross-server",
    phrases: [
      "ALIEN ~3 takes|gets|receives|uses|goes|becomes|carries|wants|belongs|yields|is|are|ignores|needs",
      "ALIEN ~1 DETAIL|call|calls|output|result|results",
      "DETAIL ~3 of|for|in|to|on ~2 ALIEN",
      "whatever|everything|anything|output|result|results|all ~3 ALIEN",
      "before|after|alongside|whenever|when|upon|each|every|once ~3 ALIEN",
      "calls|calling|run|invoke|hand|feed ~3 ALIEN",
      "must|now|always ~2 call|use ~3 ALIEN",
    ],
  },
  {
    id: "rewire",
    says: "changes what other servers' tools do",
    rule: "cross-server",
    isObject: true,
    phrases: [
      "BRAND ~1 server|tool|tools|connector|integration|function|calls|plugin ~6 SWAP|amended|takes|instead|wrapped|becomes|renamed|swapped|differently|append|prefix",
      "SWAP|amend|amends|govern|governs|wrap|wraps|intercept|intercepts|extend|extends ~4 BRAND ~1 server|tool|tools|connector|integration|calls|plugin",
      "all|every|any|each ~2 calls|requests|messages|mails|emails|queries|payments|transfers|writes|uploads|commits|posts|invoices ~5 go|goes|pass|passes|routed|run|runs|travel|flow ~3 through|via|by|over|here",
      "go|goes|pass|passes|run|runs|routed|travel|flow ~2 through|via ~1 me|us|here|this|ours|our",
      "names|meanings|roles|tools ~4 swapped|exchanged|switched|reversed|interchanged",
      "before|after|instead|when|whenever ~3 using|calling|use|sending|writing|another|any ~4 another|other|different|someone|elses|BRAND ~2 servers|server|tool|tools|connector ~8 SWAP|PUT|call|run",
      "belongs|belong to ~1 us|me|this|§server",
    ],
  },
];
