import { createHash } from "node:crypto";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { ToolGuard } from "../catalog/tool_guard.ts";
import type { Bus } from "../core/bus.ts";
import { changePolicy } from "../core/server.ts";
import { VERSION } from "../core/product.ts";
import type { PooledServer } from "../servers/server.ts";
import { CanonicalToolsRepository } from "../storage/canonical_tools_repository.ts";
import {
  PinsRepository,
  ReviewsRepository,
  VerdictsRepository,
} from "../storage/reviews_repository.ts";
import type { Store } from "../storage/store.ts";
import type { Logs } from "../telemetry/logs.ts";
import { ReviewState } from "./review_state.ts";
import { REVISION } from "./scanner/data/revision.ts";
import { TextScreen } from "./text_screen.ts";
import { screenToolLists } from "./tool_lists.ts";
import { Verdicts } from "./verdicts.ts";

/** Long enough for the servers of a start to have listed their tools. */
const RENEW_AFTER_MS = 5_000;

export interface TrustInput {
  store: Store;
  catalog: Catalog;
  logs: Logs;
  bus: Bus;
  reservedNames: ReadonlySet<string>;
  onWarning(message: string, details?: object): void;
  /** Built for one command: what other servers list is not judged again. */
  isCommand?: boolean;
}

export type TrustModule = ReturnType<typeof buildTrust>;

/** Guards the catalog: pins, review decisions and the scanner's findings. */
export function buildTrust(input: TrustInput) {
  const { store, catalog, logs, bus, onWarning } = input;
  const stack = new AsyncDisposableStack();
  const pins = new PinsRepository(store);
  const canonical = new CanonicalToolsRepository(store);
  let servers: readonly string[] = [];
  /** A hash of the servers' names: findings depend on which other servers there are. */
  let among = "";

  const verdicts = new Verdicts({
    repository: new VerdictsRepository(store),
    around(server) {
      const others = [...catalog.snapshot.servers].filter(([name]) => name !== server);
      return {
        server,
        ownTools: new Set(catalog.of(server).tools.map(({ name }) => name)),
        otherTools: new Map(
          others.flatMap(([, { tools }]) =>
            tools.map(({ name, definition }) => [name, definition.description ?? ""])
          ),
        ),
        otherServers: new Set(servers.filter((name) => name !== server)),
        reserved: input.reservedNames,
      };
    },
    rules: `${VERSION}+${REVISION}`,
    among: () => among,
    onStale: renewSoon,
    onWarning,
  });
  const guard = new ToolGuard(verdicts);
  catalog.guardWith({ guard, onUnscanned: scanLater(catalog, verdicts, onWarning) });
  const screen = new TextScreen(verdicts, guard);
  const book = new ReviewState({
    pins,
    reviews: new ReviewsRepository(store),
    canonical,
    catalog,
    guard,
    verdicts,
    onWarning,
    onChanged: (server) => bus.emit("toolsReviewed", server),
    onRenewed: (server) => screen.renew(server),
  });
  stack.defer(catalog.onHeldElsewhere((server, held) => void book.lookAtHeld(server, held)));
  const lists = screenToolLists({
    catalog,
    guard,
    book,
    canonical,
    log: logs.module("downstream"),
    mask: (text) => logs.redactor.text(text),
    onRecorded: (server) => bus.emit("toolsRecorded", server),
  });

  bus.on("serverRemoved", (server) => {
    lists.forget(server);
    screen.forget(server);
    book.forget(server);
  });

  let timer: ReturnType<typeof setTimeout> | undefined;
  let renewing: Promise<void> = Promise.resolve();
  stack.defer(async () => {
    clearTimeout(timer);
    await renewing;
  });

  /** Scans again what was judged among other servers, also if it was listed late. */
  function renewSoon(): void {
    if (input.isCommand) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      renewing = renewing.then(() => book.renew()).catch((error) =>
        onWarning("Cannot scan the servers' tools again", { error })
      );
    }, RENEW_AFTER_MS);
  }

  return {
    guard,
    verdicts,
    book,
    screen,
    pins,
    lists,
    /** Applies each server's policy and the decisions of other gateways. */
    async load(wanted: readonly PooledServer[]): Promise<void> {
      servers = wanted.map(({ name }) => name);
      const names = createHash("sha256").update([...servers].sort().join("\n")).digest("hex");
      const next = names.slice(0, 16);
      if (among !== next) {
        among = next;
        clearTimeout(timer);
        timer = undefined;
        renewSoon();
      }
      await book.load(
        new Map(wanted.map(({ name, spec }) => [name, changePolicy(spec)])),
        new Map(wanted.map(({ name, spec }) => [name, spec.trust ?? "normal"])),
      );
    },
    /** Scans a server's instructions before a client asks for them. */
    screenInstructions(server: string, instructions: string): void {
      screen.instructions(server, instructions).catch((error) =>
        onWarning("Cannot scan a server's instructions", { server, error })
      );
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Tools that only some clients are listed are shown to them once they were scanned. */
function scanLater(catalog: Catalog, verdicts: Verdicts, onWarning: TrustInput["onWarning"]) {
  const waiting = new Map<string, CatalogTool[]>();
  return (server: string, tools: readonly CatalogTool[]): void => {
    const known = waiting.get(server);
    if (known) return void known.push(...tools);
    waiting.set(server, [...tools]);
    void Promise.resolve().then(async () => {
      const wanted = waiting.get(server) ?? [];
      waiting.delete(server);
      await verdicts.prepare(server, wanted, { isWhole: false });
      catalog.republish(server);
    }).catch((error) => onWarning("Cannot scan a server's tools", { server, error }));
  };
}
