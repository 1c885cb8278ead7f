import type { Catalog } from "./catalog/catalog.ts";
import type { OnAudit } from "./core/audit.ts";
import { TokenCounter } from "./core/token_counter.ts";
import type { ServerPool } from "./downstream/server_pool.ts";
import { ToolTokens } from "./catalog/tool_tokens.ts";
import { ToolMetadataRepository } from "./storage/tool_metadata_repository.ts";
import type { Collision } from "./routing/collisions.ts";
import { NameTables } from "./routing/name_table.ts";
import { type OnPromptCollisions, PromptCollisions } from "./routing/prompt_collisions.ts";
import type { Admits } from "./routing/resolve.ts";
import { CanonicalToolsRepository } from "./storage/canonical_tools_repository.ts";
import type { Store } from "./storage/store.ts";
import { ToolsetsRepository } from "./storage/toolsets_repository.ts";
import { RESERVED_NAMES } from "./surfaces/builtin_names.ts";
import { ToolsetsAdmin } from "./surfaces/toolsets_admin.ts";
import type { Logs } from "./telemetry/logs.ts";
import { Toolsets } from "./toolsets/toolsets.ts";
import type { Availability } from "./toolsets/toolset_state.ts";

/** Servers choose names as they please: beyond so many clashes the log has enough of them. */
const MOST_TOLD = 1_000;

export interface ComposeToolsetsInput {
  stack: AsyncDisposableStack;
  store: Store;
  catalog: Catalog;
  pool: ServerPool;
  logs: Logs;
  maxNameLength: number;
  /** Whether a tool exists for a caller; all do where this is missing. */
  admits?: Admits;
  admitsToolset?: (principal: string, name: string) => boolean;
  onAudit?: OnAudit | undefined;
}

/** The toolsets with all they stand on. */
export function composeToolsets(input: ComposeToolsetsInput) {
  const { stack, store, catalog, pool, logs, admits = () => true } = input;
  const log = logs.room("toolsets");
  const names = new NameTables(RESERVED_NAMES, input.maxNameLength);
  const counter = stack.use(new TokenCounter());
  const metadata = new ToolMetadataRepository(store);
  const tokens = new ToolTokens(metadata, catalog, (texts) => counter.count(texts));

  function availability(server: string): Availability {
    const state = pool.find(server)?.status.state;
    if (state === undefined) return "unknown";
    if (state === "connecting") return "coming";
    // One that was just lost is about to be back: its tools need not go for that.
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
  const admin = new ToolsetsAdmin({
    toolsets,
    catalog,
    names,
    canonical: new CanonicalToolsRepository(store),
    tokens,
    admits,
    ...(input.admitsToolset ? { admitsToolset: input.admitsToolset } : {}),
  });

  const known = new Set<string>();
  /** Says once who had to give up a name to whom. */
  function tell(kind: "" | "The prompt ", collisions: readonly Collision[]): void {
    for (const { plain, keptBy, cutLike, namespaced, flat } of collisions) {
      // Of those that begin alike, the first two tell it all: there may be thousands.
      const news = kind + (cutLike === undefined ? flat : `${plain}...`);
      if (known.has(news) || known.size >= MOST_TOLD) continue;
      known.add(news);
      const reason = cutLike === undefined
        ? `${plain} is the name of ${
          keptBy === undefined ? "a tool of the gateway's own" : `"${keptBy}"`
        }`
        : `it and "${cutLike}" are too long, and both begin with ${plain} once they are cut`;
      log.warn(
        { name: plain, owners: [cutLike ?? keptBy ?? "quartermaster", namespaced] },
        `${kind}"${namespaced}" is called ${flat}: ${reason}`,
      );
    }
  }

  const isOn = (server: string) => {
    const found = pool.find(server);
    return found !== undefined && found.status.state !== "disabled";
  };
  const ofPrompts = new PromptCollisions(isOn);
  const onPromptCollisions: OnPromptCollisions = (servers, found) => {
    tell("The prompt ", found);
    ofPrompts.note(servers, found);
  };

  return {
    names,
    tokens,
    toolsets,
    toolsetsAdmin: admin,
    availability,
    tellCollisions: () => tell("", names.of(catalog.snapshot).collisions()),
    onPromptCollisions,
    promptCollisions: () => ofPrompts.list(),
  };
}
