import type { OnAudit } from "../../core/access.ts";
import { ChangeNotifier } from "../../core/change_notifier.ts";
import { isStarting } from "../../core/server.ts";
import type { ServerPool } from "../../servers/pool.ts";
import type { Store } from "../../storage/store.ts";
import { ToolsetsRepository } from "../../storage/catalog_repositories.ts";
import type { Logs } from "../../telemetry/logs.ts";
import type { Catalog } from "../catalog.ts";
import { type Collision, type NameTables, PromptCollisions } from "../name_table.ts";
import { Toolsets } from "./toolsets.ts";
import type { Availability } from "./toolset_tools.ts";

/** Servers choose names freely: so many collisions are logged, no more. */
const MAX_LOGGED = 1_000;
/** Names of thousands of tools are compared at most so often. */
const COMPARE_MS = 1_000;

export interface ToolsetsInput {
  store: Store;
  catalog: Catalog;
  names: NameTables;
  pool: ServerPool;
  logs: Logs;
  onAudit?: OnAudit | undefined;
}

export type ToolsetsModule = ReturnType<typeof buildToolsets>;

export function buildToolsets(input: ToolsetsInput) {
  const { store, catalog, names, pool, logs } = input;
  const log = logs.module("toolsets");

  function availability(server: string): Availability {
    const state = pool.find(server)?.status.state;
    if (state === undefined) return "unknown";
    if (isStarting(state)) return "coming";
    // A server that was just lost reconnects soon: its tools stay until then.
    return state === "ready" || state === "degraded" ? "available" : "away";
  }

  const toolsets = new Toolsets({
    repository: new ToolsetsRepository(store),
    catalog,
    names,
    availability,
    onNews: (level, message) => log[level](message),
    onAudit: input.onAudit,
  });

  const logged = new Set<string>();
  function logOnce(kind: "" | "The prompt ", collisions: readonly Collision[]): void {
    for (const { plain, keptBy, cutLike, namespaced, flat } of collisions) {
      // Of names that begin alike, the first two are enough: there may be thousands.
      const subject = kind + (cutLike === undefined ? flat : `${plain}...`);
      if (logged.has(subject) || logged.size >= MAX_LOGGED) continue;
      logged.add(subject);
      const owner = keptBy === undefined ? "one of the gateway's own tools" : `"${keptBy}"`;
      const reason = cutLike === undefined
        ? `the name ${plain} belongs to ${owner}`
        : `it and "${cutLike}" are too long, and both would be shortened to ${plain}`;
      log.warn(
        { name: plain, owners: [cutLike ?? keptBy ?? "quartermaster", namespaced] },
        `${kind}"${namespaced}" is listed as ${flat}: ${reason}`,
      );
    }
  }

  const ofPrompts = new PromptCollisions((server) =>
    (pool.find(server)?.status.state ?? "disabled") !== "disabled"
  );
  const collisions = () => names.of(catalog.snapshot).collisions();
  // Servers that are starting come first: each of their lists changes the names.
  const comparing = new ChangeNotifier(() => {
    if (pool.isStarting) comparing.changed("");
    else logOnce("", collisions());
  }, COMPARE_MS);
  return {
    toolsets,
    availability,
    collisions,
    promptCollisions: () => ofPrompts.list(),
    logCollisions: () => comparing.changed(""),
    onPromptCollisions(servers: readonly string[], found: readonly Collision[]): void {
      logOnce("The prompt ", found);
      ofPrompts.note(servers, found);
    },
    [Symbol.dispose]: () => comparing[Symbol.dispose](),
  };
}
