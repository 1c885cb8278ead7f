import { heldChanges, loggedChanges } from "./catalog/logged_changes.ts";
import type { HeldTool } from "./catalog/tool_guard.ts";
import { problemInWords } from "./catalog/tool_problem.ts";
import type { Review } from "./compose_review.ts";
import type {
  CanonicalTool,
  CanonicalToolsRepository,
} from "./storage/canonical_tools_repository.ts";
import type { Logger } from "./telemetry/logs.ts";

/** As many names as a line of the log should have. */
const NAMED = 50;
/** A server may list each client something else: so many lines say that it does. */
const TOLD_ELSEWHERE = 10;

export interface ListedToolsInput {
  review: Pick<Review, "catalog" | "book" | "guard">;
  canonical: CanonicalToolsRepository;
  log: Logger;
  /** Takes secrets out of a text. */
  mask(text: string): string;
  /** Whether a server is still the one that was asked for its tools. */
  watch(name: string): () => boolean;
  /** What pages show of a server's tools is another. */
  onRecorded(name: string): void;
}

/** Takes what servers list: judged before anybody sees it, and kept afterwards. */
export function listedTools(
  { review, canonical, log, mask, watch, onRecorded }: ListedToolsInput,
) {
  const { catalog, book, guard } = review;
  /** Lists of tools that came from the store, not from a server. */
  const recalled = new WeakSet<string[]>();
  /** The newest list of each server; one that was slow to be judged must not replace it. */
  const newest = new Map<string, string[]>();
  const told = new Map<string, string>();

  function tellHeld(server: string, held: readonly HeldTool[], message: string): void {
    const changes = heldChanges(server, held, guard);
    if (changes.length === 0) return;
    log.warn({ serverName: server, tools: loggedChanges(changes, mask) }, message);
  }

  const toldElsewhere = new Map<string, number>();
  catalog.onHeldElsewhere((server, held) => {
    const count = (toldElsewhere.get(server) ?? 0) + 1;
    toldElsewhere.set(server, count);
    if (count > TOLD_ELSEWHERE) return;
    const words =
      "Changed tools on a client's own connection are held back until somebody approves them";
    tellHeld(
      server,
      held,
      count < TOLD_ELSEWHERE ? words : `${words}; further ones are in the review alone`,
    );
  });

  /** Says what is kept from clients, once. */
  function tell(server: string): void {
    const { held = [], quarantined = [] } = catalog.of(server);
    const waiting = held.filter(({ isRejected }) => !isRejected)
      .map(({ name, listed }) => [name, "fingerprint" in listed ? listed.fingerprint : ""]);
    const found = quarantined.map(({ tool, findings }) => ({
      tool: tool.name,
      rules: [...new Set(findings.map(({ rule }) => rule))],
    }));
    const words = JSON.stringify([waiting, found]);
    if (told.get(server) === words) return;
    told.set(server, words);
    tellHeld(server, held, "Changed tools are held back until somebody approves them");
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
      const changes = changed.filter(({ version, current }) =>
        version > 1 && current.seenAt === now
      ).map(({ name, current, earlier }) => ({
        tool: name,
        text: current.text,
        before: earlier[0]?.text,
      }));
      if (changes.length > 0) {
        log.info(
          { serverName: name, tools: loggedChanges(changes, mask) },
          "Tools have changed",
        );
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
      toldElsewhere.delete(name);
    },
  };
}

/** Whether nothing was known of the server before. */
function isFirst(changed: readonly CanonicalTool[], seen: number, now: number): boolean {
  const fresh = changed.filter(({ version, current }) => version === 1 && current.seenAt === now);
  return fresh.length === changed.length && fresh.length === seen;
}
