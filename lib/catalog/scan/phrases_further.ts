import type { Phrase } from "./phrases.ts";

/** What is explicit without the classic words, and what is said in other languages. */
export const FURTHER: readonly Phrase[] = [
  {
    rule: "exfiltration-parameter",
    severity: "medium",
    why: "It has an address to be filled with what the model knows",
    phrases: ["§harvest"],
  },
  {
    rule: "secret-files",
    severity: "medium",
    why: "The parameter asks for what the machine holds",
    inParameters: true,
    phrases: [
      "dump|output|values|contents|content|set|list of ~4 envvars|environment|printenv|env|process",
      "all|every|full ~2 envvars ~6 full|keys|tokens|base64|secrets|process|joined",
      "full set of variables",
      "output of ~1 §cmd|printenv|env",
      "what §cmd ~4 print|prints|shows|show|outputs|returns|gives",
      "content|contents|value|values of ~3 secrets|§hard|§soft|§dotfile",
      "private key|keys ~3 from|found|under|in ~4 folder|home|machine|directory",
    ],
  },
  {
    rule: "conversation",
    severity: "medium",
    why: "It wants what the model was told by those who run it",
    phrases: [
      "read|copy|put|paste|include|recite|repeat|write|send|reveal ~3 your|hidden ~1 systemprompt|instructions ~4 in|into|to|here|verbatim",
      "copy|put|paste|recite|reveal|read ~2 systemprompt ~3 in|into|to|here|verbatim|aloud",
    ],
  },
  {
    rule: "concealment",
    severity: "medium",
    why: "It has the model do something that nobody shall notice",
    unlessDenied: true,
    phrases: [
      "SECRETLY ~2 switch|turn|disable|change|forward|copy|include|replace|send|upload|append|attach|grant|merge|install",
    ],
  },
  {
    rule: "override",
    severity: "medium",
    why: "It does away with the user's consent",
    phrases: [
      "you nolonger need to ask",
      "neednot ~1 ask ~3 before ~1 deleting|paying|sending|buying|merging|transferring|running",
    ],
  },
  {
    rule: "concealment",
    severity: "medium",
    why: "It asks the model to keep something from the user",
    phrases: [
      "XUSER ~6 XUNTOLD ~8 XPUT|XTAKE|XSECRET|XCHAT|XDIVERT",
      "XPUT|XTAKE|XSECRET|XCHAT|XDIVERT ~10 XUSER ~6 XUNTOLD",
      "XPUT|XTAKE|XSECRET|XCHAT|XDIVERT ~10 XNOT ~2 XTELL ~3 XUSER",
      "XPUT|XTAKE|XSECRET|XCHAT|XDIVERT ~10 XUSER ~3 XNOT ~2 XTELL",
      "XPUT|XTAKE|XSECRET|XCHAT|XDIVERT ~10 XUSER ~3 XTELL ~1 XNOT",
    ],
  },
];
