import type { ChangePolicy } from "../../core/server.ts";
import { CanonicalToolsRepository } from "../../storage/canonical_tools_repository.ts";
import {
  PinsRepository,
  ReviewsRepository,
  VerdictsRepository,
} from "../../storage/reviews_repository.ts";
import type { Store } from "../../storage/store.ts";
import { Catalog } from "../../catalog/catalog.ts";
import { ReviewState } from "../review_state.ts";
import { TextScreen } from "../text_screen.ts";
import { ToolGuard } from "../../catalog/tool_guard.ts";
import { Verdicts } from "../verdicts.ts";

/** A definition as its server would send it. */
export function listed(name: string, description = `Does ${name}`, more: object = {}): string {
  return JSON.stringify({ name, description, inputSchema: { type: "object" }, ...more });
}

/** Finds `ODD` to be medium, and `EVIL` and other words to be high. */
export function findWords(where: string, text: string, others: readonly string[] = []) {
  return ["EVIL", "ODD", ...others].filter((word) => text.includes(word)).map((word) => ({
    rule: word.toLowerCase(),
    severity: word === "ODD" ? "medium" as const : "high" as const,
    where,
    excerpt: text.slice(0, 20),
    why: `It says ${word}`,
  }));
}

/** All that guards a catalog on one store, with a scanner that looks for two words. */
export function openReview(
  store: Store,
  policies: Record<string, ChangePolicy>,
  { rules = "1" }: { rules?: string } = {},
) {
  const pins = new PinsRepository(store);
  const canonical = new CanonicalToolsRepository(store);
  const warnings: string[] = [];
  let [among, loads, stale] = ["", 0, 0];
  let words: string[] = [];
  const verdicts = new Verdicts({
    repository: new VerdictsRepository(store),
    around: (server) => ({
      server,
      otherTools: new Set(),
      otherServers: new Set(),
      reserved: new Set(),
    }),
    rules,
    among: () => among,
    onStale: () => stale++,
    onWarning: (message) => warnings.push(message),
    load() {
      loads++;
      return Promise.resolve({
        scanningTool: (definition) => ({
          next() {
            if (definition.description === "CRASH") throw new Error("Too deep");
            const value = findWords("description", JSON.stringify(definition), words);
            return { done: true, value };
          },
        }),
        scanEntry: (entry) => findWords("description", JSON.stringify(entry), words),
        scanText: (where, text) => findWords(where, text, words),
        verdictOf: (findings) =>
          findings.some(({ severity }) => severity === "high")
            ? "quarantine"
            : findings.length > 0
            ? "warn"
            : "clean",
      });
    },
  });
  const guard = new ToolGuard(verdicts);
  const catalog: Catalog = new Catalog({
    guard,
    onUnscanned(server, tools) {
      void verdicts.prepare(server, tools, { isWhole: false })
        .then(() => catalog.republish(server));
    },
  });
  const book = new ReviewState({
    pins,
    reviews: new ReviewsRepository(store),
    canonical,
    catalog,
    guard,
    verdicts,
    onWarning: (message) => warnings.push(message),
    onChanged: () => {},
    onRenewed: (server) => screen.renew(server),
  });
  const screen = new TextScreen(verdicts, guard);
  return {
    pins,
    canonical,
    verdicts,
    guard,
    catalog,
    book,
    screen,
    warnings,
    /** How often the scanner was loaded. */
    loads: () => loads,
    /** How often tools were listed that wait for renew(). */
    stale: () => stale,
    /** Has the scanner look for other words as well. */
    setWords(...next: string[]): void {
      words = next;
      among = next.join();
    },
    load: (next: Record<string, ChangePolicy> = policies) =>
      book.load(new Map(Object.entries(next))),
    /** As the gateway does it with each list. */
    async list(server: string, ...texts: string[]): Promise<void> {
      await book.prepare(server, texts);
      const seen = catalog.setListed(server, texts);
      const now = Date.now() + tick++;
      const { changed } = await canonical.record(server, seen, now);
      const isFirst = changed.length === seen.length &&
        changed.every(({ version }) => version === 1);
      if (!isFirst) await book.noteChanges(server, changed, now);
    },
    names: (server: string) => catalog.of(server).tools.map(({ name }) => name),
    shown: (server: string, tool: string) =>
      catalog.of(server).tools.find(({ name }) => name === tool)?.text,
  };
}

let tick = 0;
