import { problemInWords } from "./catalog/tool_problem.ts";
import type { Review } from "./compose_review.ts";
import type {
  CanonicalTool,
  CanonicalToolsRepository,
} from "./storage/canonical_tools_repository.ts";
import type { Logger } from "./telemetry/logs.ts";

/** As many names as a line of the log should have. */
const NAMED = 50;

export interface ListedToolsInput {
  review: Pick<Review, "catalog" | "book">;
  canonical: CanonicalToolsRepository;
  log: Logger;
  /** Whether a server is still the one that was asked for its tools. */
  watch(name: string): () => boolean;
  /** What pages show of a server's tools is another. */
  onRecorded(name: string): void;
}

/** Takes what servers list: judged before anybody sees it, and kept afterwards. */
export function listedTools({ review, canonical, log, watch, onRecorded }: ListedToolsInput) {
  const { catalog, book } = review;
  /** Lists of tools that came from the store, not from a server. */
  const recalled = new WeakSet<string[]>();
  /** The newest list of each server; one that was slow to be judged must not replace it. */
  const newest = new Map<string, string[]>();
  const told = new Map<string, string>();

  /** Says what is kept from clients, once. */
  function tell(server: string): void {
    const { held = [], quarantined = [] } = catalog.of(server);
    const waiting = held.filter(({ isRejected }) => !isRejected).map(({ name }) => name);
    const found = quarantined.map(({ tool, findings }) => ({
      tool: tool.name,
      rules: [...new Set(findings.map(({ rule }) => rule))],
    }));
    const words = JSON.stringify([waiting, found]);
    if (told.get(server) === words) return;
    told.set(server, words);
    if (waiting.length > 0) {
      log.warn(
        { serverName: server, tools: waiting.slice(0, NAMED) },
        "Changed tools are held back until somebody approves them",
      );
    }
    if (found.length > 0) {
      log.warn(
        { serverName: server, tools: found.slice(0, NAMED) },
        "Tools are in quarantine: their definitions look like attacks",
      );
    }
  }

  async function onTools(name: string, texts: string[]): Promise<number> {
    const isWanted = watch(name);
    newest.set(name, texts);
    await book.prepare(name, texts);
    const count = () => catalog.of(name).tools.length;
    if (newest.get(name) !== texts || !isWanted()) return count();
    const seen = catalog.setListed(name, texts);
    tell(name);
    // What was only recalled is no news, and does not have what was invalid.
    if (recalled.has(texts)) return count();
    const invalid = catalog.of(name).broken.map((tool) => ({
      ...tool,
      problem: problemInWords(tool),
    }));
    for (const { name: tool, problem } of invalid) {
      log.warn(
        { serverName: name, toolName: tool, problem },
        "A tool is not listed: it is no valid MCP tool",
      );
    }
    try {
      const now = Date.now();
      const { changed, isInvalidChanged } = await canonical.record(name, seen, now, invalid);
      const changes = changed.filter(({ version }) => version > 1).map((tool) => tool.name);
      if (changes.length > 0) {
        log.info({ serverName: name, tools: changes.slice(0, NAMED) }, "Tools have changed");
      }
      if (!isFirst(changed, seen.length, now)) await book.noteChanges(name, changed, now);
      if (changed.length > 0 || isInvalidChanged) onRecorded(name);
    } catch (err) {
      // A full disk is no reason not to serve what works.
      log.warn({ serverName: name, err }, "Cannot keep the server's tools in the data store");
    }
    return count();
  }

  return {
    onTools,
    async knownTools(name: string): Promise<string[]> {
      const tools = await canonical.list(name);
      const texts = tools.filter(({ goneSince }) => goneSince === undefined)
        .map(({ current }) => current.text);
      recalled.add(texts);
      return texts;
    },
    forget(name: string): void {
      newest.delete(name);
      told.delete(name);
    },
  };
}

/** Whether nothing was known of the server before. */
function isFirst(changed: readonly CanonicalTool[], seen: number, now: number): boolean {
  const fresh = changed.filter(({ version, current }) => version === 1 && current.seenAt === now);
  return fresh.length === changed.length && fresh.length === seen;
}
