import type { Catalog } from "./catalog/catalog.ts";
import type { CatalogTool } from "./catalog/catalog_tool.ts";
import { ToolMetadataBook } from "./catalog/tool_metadata.ts";
import type { ToolTokens } from "./catalog/tool_tokens.ts";
import { composeSearch, type ComposeSearchInput } from "./compose_search.ts";
import type { Platform } from "./config/deployment.ts";
import type { Options } from "./config/option_table.ts";
import type { ServerPool } from "./downstream/server_pool.ts";
import type { NameTables } from "./routing/name_table.ts";
import type { Admits } from "./routing/resolve.ts";
import { ToolKeys } from "./routing/tool_keys.ts";
import { ActivityRepository } from "./storage/activity_repository.ts";
import { signingSecret } from "./storage/signing_secret.ts";
import type { Store } from "./storage/store.ts";
import { ToolMetadataRepository } from "./storage/tool_metadata_repository.ts";
import { ToolGuide } from "./surfaces/tool_guide.ts";
import { ActivityLog } from "./telemetry/activity_log.ts";
import { ActivityReader } from "./telemetry/activity_reader.ts";
import { CallDetails } from "./telemetry/call_details.ts";
import { CallRecorder } from "./telemetry/call_recorder.ts";
import { CoUse } from "./telemetry/co_use.ts";
import { countCalls, type CountedCalls } from "./telemetry/counted_calls.ts";
import type { Redactor } from "./telemetry/redact.ts";

/** How far back the activity log is read for what is used together. */
const CO_USE_CALLS = 5_000;

export interface ComposeGuideInput {
  stack: AsyncDisposableStack;
  store: Store;
  catalog: Catalog;
  pool: ServerPool;
  names: NameTables;
  processId: string;
  tokens: ToolTokens;
  options: Options;
  admits: Admits;
  admitsServer(principal: string, name: string): boolean;
  mayManage(principal: string): boolean;
  platform: Platform;
  redactor: Redactor;
  onProgress: ComposeSearchInput["onProgress"];
  onWarning(message: string, details?: object): void;
}

/** What callers can learn of all tools, with the record of what was called. */
export function composeGuide(input: ComposeGuideInput) {
  const { stack, store, catalog, pool, names, tokens, processId, redactor, onWarning } = input;
  const repository = new ToolMetadataRepository(store);
  const metadata = new ToolMetadataBook(input.options.toolCategories);
  const calls = new ActivityRepository(store);
  const activity = stack.use(
    new ActivityLog({
      repository: calls,
      processId,
      onWarning,
      keepDays: input.options.activityRetention,
      maxCalls: input.options.activityCalls,
    }),
  );
  const details = new CallDetails({});
  const recorder = new CallRecorder({ log: activity, details, redactor });

  let coUse: CoUse | undefined;
  /** Counted from when somebody is about to ask. */
  function countUses(): CoUse {
    if (coUse) return coUse;
    const counted = coUse = new CoUse();
    activity.onEntry((entry) => counted.add(entry));
    const earlier = Array.fromAsync(calls.recent(CO_USE_CALLS));
    void earlier.then((entries) => entries.reverse().forEach((entry) => counted.add(entry)))
      .catch((error) => onWarning("Cannot read which tools are used together", { error }));
    return counted;
  }

  let counted: CountedCalls | undefined;
  /** Counted from when somebody first looks. */
  function callStats(): CountedCalls {
    return counted ??= countCalls({ activity, repository: calls, onWarning });
  }

  function usedWith({ server, name }: CatalogTool): CatalogTool[] {
    const table = names.of(catalog.snapshot);
    return countUses().with(server, name).flatMap(({ server, tool }) =>
      table.find(server, tool) ?? []
    );
  }

  const search = composeSearch({ ...input, metadata });
  let keys: Promise<ToolKeys> | undefined;
  const guide = new ToolGuide({
    catalog,
    names,
    metadata,
    tokens,
    keys() {
      if (keys) return keys;
      const asked = keys = signingSecret(store).then((secret) => new ToolKeys(secret));
      // A store that was away is asked again.
      asked.catch(() => keys = undefined);
      return asked;
    },
    search: search.search,
    warmUp() {
      countUses();
      search.warmUp();
    },
    servers: (principal) =>
      pool.list().map(({ name }) => name).filter((name) => input.admitsServer(principal, name)),
    serverState: (name) => pool.find(name)?.status.state,
    admits: input.admits,
    mayManage: input.mayManage,
    usedWith,
    onSearch: (baseline, returned) => activity.recordSearch(baseline, returned),
  });

  return {
    guide,
    metadata,
    activity,
    calls,
    recorder,
    reader: new ActivityReader({ repository: calls, log: activity, details, redactor }),
    callStats,
    /** Forgets every call, and what was said in it. */
    async clearCalls(): Promise<void> {
      details.clear();
      await activity.clear();
    },
    searchProgress: search.progress,
    searchTrouble: search.unused,
    reindexSearch: search.reindex,
    toolMetadata: repository,
    /** Takes up what people have said of tools; answers whether that is anything new. */
    async load(): Promise<boolean> {
      const isOther = metadata.setOverrides(await repository.overrides());
      if (isOther) search.refresh();
      return isOther;
    },
  };
}
