import { heldChanges, loggedChanges } from "./tool_changes.ts";
import { ConditionalTools } from "./conditional_tools.ts";
import type { HeldTool, ToolGuard } from "../catalog/tool_guard.ts";
import { describeProblem } from "../catalog/catalog_tool.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ReviewState } from "./review_state.ts";
import type {
  CanonicalToolsRepository,
  RecordedTool,
  SeenTool,
} from "../storage/canonical_tools_repository.ts";
import type { Logger } from "../telemetry/logs.ts";

const NAMED = 50;
/** A server may list each client something else: so many lines say that it does. */
const LOGGED_ELSEWHERE = 10;

export interface ToolListsInput {
  catalog: Catalog;
  guard: ToolGuard;
  book: Pick<ReviewState, "prepare" | "noteChanges">;
  canonical: CanonicalToolsRepository;
  log: Logger;
  mask(text: string): string;
  onRecorded(name: string): void;
}

/** Tool lists as servers send them: judged before a client sees them, and recorded afterwards. */
export function screenToolLists(input: ToolListsInput) {
  const { catalog, book, guard, canonical, log, mask } = input;
  /** Lists of tools that came from the store, not from a server. */
  const recalled = new WeakSet<string[]>();
  /** The newest list of each server; one that was slow to be judged must not replace it. */
  const newest = new Map<string, string[]>();
  const conditional = new ConditionalTools();
  /** What was last logged of each server. */
  const logged = new Map<string, string>();

  function logHeld(server: string, held: readonly HeldTool[], message: string): void {
    const changes = heldChanges(server, held, guard);
    if (changes.length === 0) return;
    log.warn({ serverName: server, tools: loggedChanges(changes, mask) }, message);
  }

  const loggedElsewhere = new Map<string, number>();
  catalog.onHeldElsewhere((server, held) => {
    const count = (loggedElsewhere.get(server) ?? 0) + 1;
    loggedElsewhere.set(server, count);
    if (count > LOGGED_ELSEWHERE) return;
    const message =
      "Changed tools on a client's own connection are held until someone approves them";
    const more = count < LOGGED_ELSEWHERE ? "" : "; for more, see the review";
    logHeld(server, held, message + more);
  });

  /** Logs what is kept from clients, once. */
  function logKept(server: string): void {
    const { held = [], quarantined = [] } = catalog.of(server);
    const waiting = held.filter(({ isRejected }) => !isRejected)
      .map(({ name, listed }) => [name, "fingerprint" in listed ? listed.fingerprint : ""]);
    const found = quarantined.map(({ tool, findings }) => ({
      tool: tool.name,
      rules: [...new Set(findings.map(({ rule }) => rule))],
    }));
    const state = JSON.stringify([waiting, found]);
    if (logged.get(server) === state) return;
    logged.set(server, state);
    logHeld(server, held, "Changed tools are held until someone approves them");
    if (found.length > 0) {
      log.warn(
        { serverName: server, tools: found.slice(0, NAMED) },
        "Tools are in quarantine: their definitions look like attacks",
      );
    }
  }

  /** Applies a server's list unless it is outdated. Returns how many tools are served. */
  function onTools(name: string, texts: string[], isCurrent: () => boolean): Promise<number> {
    newest.set(name, texts);
    return apply(name, texts, isCurrent);
  }

  async function apply(
    name: string,
    texts: string[],
    isCurrent: () => boolean,
    isNewOffer = false,
  ): Promise<number> {
    const more = conditional.besides(name, texts);
    const all = more.size === 0
      ? texts
      : [...texts, ...Array.from(more.values(), ({ text }) => text)];
    await book.prepare(name, all);
    const count = () => catalog.of(name).tools.length;
    if (newest.get(name) !== texts || !isCurrent()) return count();
    const listedTo = new Map(Array.from(more, ([tool, { listedTo }]) => [tool, listedTo]));
    const seen = catalog.setListed(name, all, listedTo);
    logKept(name);
    // A list recalled from the store is not a change, and lacks the invalid tools.
    if (recalled.has(texts)) return count();
    await record(input, name, seen, isNewOffer);
    return count();
  }

  /**
   * A server lists these tools to clients with this offer. Those that it does not list to all are
   * judged, recorded and served like the others, to such clients only.
   */
  async function onOfferedTools(name: string, offer: string, texts: string[]): Promise<void> {
    const shared = newest.get(name);
    if (!shared) return;
    const noted = conditional.note(name, offer, texts, shared);
    if (!noted) return;
    await apply(name, shared, () => true, noted.isNew);
  }

  return {
    onTools,
    onOfferedTools,
    async knownTools(name: string): Promise<string[]> {
      const tools = (await canonical.list(name)).filter(({ goneSince }) => goneSince === undefined);
      conditional.recall(
        name,
        tools.map(({ name, current: { text }, listedTo }) => ({ name, text, listedTo })),
      );
      const texts = tools.filter(({ listedTo }) => !listedTo).map(({ current }) => current.text);
      recalled.add(texts);
      return texts;
    },
    forget(name: string): void {
      newest.delete(name);
      conditional.forget(name);
      logged.delete(name);
      loggedElsewhere.delete(name);
    },
  };
}

/** Logs invalid tools, and records what a server lists now. */
async function record(
  { catalog, book, canonical, log, mask, onRecorded }: ToolListsInput,
  name: string,
  seen: SeenTool[],
  isNewOffer: boolean,
): Promise<void> {
  const { broken } = catalog.of(name);
  const invalid = broken.map((tool) => ({ ...tool, problem: describeProblem(tool) }));
  for (const { name: toolName, problem } of invalid) {
    const details = { serverName: name, toolName, problem };
    log.warn(details, "A tool is not listed: it is not a valid MCP tool");
  }
  try {
    const now = Date.now();
    const { changed, isInvalidChanged } = await canonical.record(name, seen, now, invalid);
    const changes = changed
      .filter(({ version, current }) => version > 1 && current.seenAt === now)
      .map(({ name: tool, current: { text }, earlier: [last] }) => (
        { tool, text, before: last?.text }
      ));
    if (changes.length > 0) {
      log.info({ serverName: name, tools: loggedChanges(changes, mask) }, "Tools have changed");
    }
    // With a client that offers more, a server may list more: it has not changed.
    const noted = isNewOffer ? changed.filter(({ listedTo }) => !listedTo) : changed;
    if (!isFirst(changed, seen.length, now)) await book.noteChanges(name, noted, now);
    if (changed.length > 0 || isInvalidChanged) onRecorded(name);
  } catch (err) {
    // A full disk is no reason not to serve what works.
    log.warn({ serverName: name, err }, "Cannot save the server's tools in the data store");
  }
}

function isFirst(changed: readonly RecordedTool[], seen: number, now: number): boolean {
  const fresh = changed.filter(({ version, current }) => version === 1 && current.seenAt === now);
  return fresh.length === changed.length && fresh.length === seen;
}
