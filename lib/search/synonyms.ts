import { splitWords, stemOf } from "./words.ts";

/** Words of the command line and of everyday tools that stand for one another. */
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  delete: ["remove", "rm", "trash", "erase", "unlink", "del"],
  list: ["ls", "show", "display", "enumerate", "dir", "ll"],
  create: ["make", "new", "add", "init", "touch", "mkdir", "mkfile"],
  read: ["get", "cat", "view", "show", "display", "fetch", "load"],
  write: ["put", "set", "save", "store", "update", "echo", "output"],
  copy: ["cp", "duplicate", "clone", "replicate"],
  move: ["mv", "rename", "relocate", "transfer"],
  find: ["search", "locate", "grep", "query", "lookup", "seek"],
  filter: ["grep", "select", "match", "where"],
  execute: ["run", "exec", "invoke", "call", "start", "launch"],
  stop: ["kill", "terminate", "halt", "end", "quit", "exit"],
  commit: ["save", "checkpoint", "snapshot"],
  push: ["upload", "sync", "publish", "deploy"],
  pull: ["download", "fetch", "sync", "update"],
  branch: ["fork", "diverge"],
  merge: ["combine", "join", "integrate"],
  diff: ["compare", "changes", "delta"],
  status: ["state", "info", "check"],
  navigate: ["cd", "go", "change", "switch"],
  back: ["previous", "return", "undo"],
  info: ["about", "details", "describe", "status", "stat"],
  help: ["usage", "manual", "docs", "guide", "man"],
  open: ["launch", "start", "load", "access"],
  close: ["quit", "exit", "end", "shutdown"],
  edit: ["modify", "change", "update", "alter"],
  check: ["verify", "validate", "test", "inspect"],
  send: ["post", "message", "notify", "transmit"],
  receive: ["get", "fetch", "retrieve", "pull"],
  schedule: ["book", "plan", "calendar", "event"],
  meeting: ["event", "appointment", "call"],
};

/** Synonyms by stem, in both directions. What is added goes beside the built-in ones. */
export class Synonyms {
  readonly #byStem = new Map<string, Set<string>>();

  constructor(added: Readonly<Record<string, readonly string[]>> = {}) {
    for (const source of [BUILT_IN, added]) {
      for (const [word, others] of Object.entries(source)) {
        for (const other of others) this.#link(word, other);
      }
    }
  }

  of(stem: string): ReadonlySet<string> {
    return this.#byStem.get(stem) ?? NONE;
  }

  #link(word: string, other: string): void {
    // A synonym of several words would have to be found as a phrase; its single words mislead.
    const [one, ...moreOfOne] = splitWords(word);
    const [two, ...moreOfTwo] = splitWords(other);
    if (!one || !two || moreOfOne.length > 0 || moreOfTwo.length > 0) return;
    const stems = [stemOf(one), stemOf(two)] as const;
    if (stems[0] === stems[1]) return;
    this.#add(stems[0], stems[1]);
    this.#add(stems[1], stems[0]);
  }

  #add(from: string, to: string): void {
    const known = this.#byStem.get(from);
    if (known) known.add(to);
    else this.#byStem.set(from, new Set([to]));
  }
}

const NONE: ReadonlySet<string> = new Set();
