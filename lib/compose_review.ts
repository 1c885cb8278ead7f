import { createHash } from "node:crypto";
import { Catalog } from "./catalog/catalog.ts";
import type { CatalogTool } from "./catalog/catalog_tool.ts";
import { ReviewBook } from "./catalog/review_book.ts";
import { REVISION } from "./catalog/scan/revision.ts";
import { TextScreen } from "./catalog/text_screen.ts";
import { ToolGuard } from "./catalog/tool_guard.ts";
import { Verdicts } from "./catalog/verdicts.ts";
import { changePolicy } from "./core/server.ts";
import { VERSION } from "./core/version.ts";
import type { PooledServer } from "./downstream/managed_server.ts";
import { CanonicalToolsRepository } from "./storage/canonical_tools_repository.ts";
import { PinsRepository } from "./storage/pins_repository.ts";
import { ReviewsRepository } from "./storage/reviews_repository.ts";
import type { Store } from "./storage/store.ts";
import { VerdictsRepository } from "./storage/verdicts_repository.ts";
import { BUILTIN_NAMES, RESERVED_NAMES } from "./surfaces/builtin_names.ts";

/** Long enough for the servers of a start to have listed their tools. */
const RENEW_AFTER_MS = 5_000;

export interface ComposeReviewInput {
  stack: AsyncDisposableStack;
  store: Store;
  onWarning(message: string, details?: object): void;
  /** What is shown of a server's tools, or waits for a person, may be another now. */
  onChanged(server: string): void;
}

export type Review = ReturnType<typeof composeReview>;

/** The catalog with what guards it: pins, decisions, and the scanner's findings. */
export function composeReview({ stack, store, onWarning, onChanged }: ComposeReviewInput) {
  const pins = new PinsRepository(store);
  const reviews = new ReviewsRepository(store);
  let servers: readonly string[] = [];
  let among = "";

  const verdicts = new Verdicts({
    repository: new VerdictsRepository(store),
    around(server) {
      const others = [...catalog.snapshot.servers].filter(([name]) => name !== server);
      return {
        server,
        ownTools: new Set(catalog.of(server).tools.map(({ name }) => name)),
        otherTools: new Set(others.flatMap(([, { tools }]) => tools.map(({ name }) => name))),
        otherServers: new Set(servers.filter((name) => name !== server)),
        reserved: new Set([...BUILTIN_NAMES, ...RESERVED_NAMES]),
      };
    },
    rules: `${VERSION}+${REVISION}`,
    among: () => among,
    onStale: () => renewSoon(),
    onWarning,
  });
  const guard = new ToolGuard(verdicts);
  const catalog: Catalog = new Catalog({ guard, onUnscanned });
  const book = new ReviewBook({
    pins,
    reviews,
    canonical: new CanonicalToolsRepository(store),
    catalog,
    guard,
    verdicts,
    onWarning,
    onChanged,
    onRenewed: (server) => screen.renew(server),
  });
  const screen = new TextScreen(verdicts, guard);
  catalog.onHeldElsewhere((server, held) => void book.lookAtHeld(server, held));

  /** What single clients are listed is shown to them once it was looked at. */
  const waiting = new Map<string, CatalogTool[]>();
  function onUnscanned(server: string, tools: readonly CatalogTool[]): void {
    const known = waiting.get(server);
    if (known) return void known.push(...tools);
    waiting.set(server, [...tools]);
    void Promise.resolve().then(async () => {
      const wanted = waiting.get(server) ?? [];
      waiting.delete(server);
      await verdicts.prepare(server, wanted, { isWhole: false });
      catalog.republish(server);
    }).catch((error) => onWarning("Cannot look at a server's tools", { server, error }));
  }

  let timer: ReturnType<typeof setTimeout> | undefined;
  let renewing: Promise<void> = Promise.resolve();
  stack.defer(async () => {
    clearTimeout(timer);
    await renewing;
  });

  /** Looks again at what was judged among others, also where it was slow to be listed. */
  function renewSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      renewing = renewing.then(() => book.renew()).catch((error) =>
        onWarning("Cannot look at the servers' tools again", { error })
      );
    }, RENEW_AFTER_MS);
  }

  /** Takes up each server's policy, and what other gateways have decided. */
  async function load(wanted: readonly PooledServer[]): Promise<void> {
    servers = wanted.map(({ name }) => name);
    const names = createHash("sha256").update([...servers].sort().join("\n")).digest("hex");
    const next = names.slice(0, 16);
    if (among !== next) {
      among = next;
      clearTimeout(timer);
      timer = undefined;
      renewSoon();
    }
    await book.load(new Map(wanted.map(({ name, spec }) => [name, changePolicy(spec)])));
  }

  return { catalog, guard, verdicts, book, screen, pins, load };
}
