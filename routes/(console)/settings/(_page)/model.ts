import type { Gateway } from "../../../../lib/gateway.ts";
import { EVERYONE } from "../../../../lib/core/access.ts";
import type { EmbeddingProgress } from "../../../../lib/catalog/search/embedding/semantic_index.ts";
import type { TrialResult } from "../../../../lib/optimizer/evaluators/evaluator.ts";
import type { FoundEvaluator } from "../../../../lib/operations/optimization/evaluator.ts";
import type { OperationCall } from "../../../../lib/operations/operation.ts";
import { OPTIMIZATION_OPERATIONS } from "../../../../lib/operations/optimization.ts";
import {
  SETTINGS_OPERATIONS,
  type ShownOption,
  shownOptions,
} from "../../../../lib/operations/settings.ts";
import type { FormDecisions } from "../../../../lib/console/form_page.ts";
import { defined } from "../../../../lib/core/defined.ts";
import { type SettingsData, settingsData } from "./data.ts";

/** What was found that tries descriptions on a model, or why nothing can. */
export interface ShownEvaluator extends FoundEvaluator {
  /** How the last real request went. */
  trial?: TrialResult;
}

export interface SettingsPage {
  filter: { q: string; only: "" | "set" | "live" };
  /** Of all options. */
  counts: Record<"all" | "set" | "live", number>;
  groups: { name: string; options: ShownOption[] }[];
  optimization: {
    isOn: boolean;
    /** Where it was switched on for good, which cannot be undone here. */
    fixedBy?: string;
    /** Set where somebody asked for it. */
    check?: ShownEvaluator;
  };
  search: {
    tools: number;
    backend: string;
    progress?: EmbeddingProgress;
    /** Why meaning has no say although that was asked for. */
    trouble?: string;
  };
  data: SettingsData;
  about: {
    version: string;
    deno: string;
    system: string;
    platform: "local" | "deploy";
    dataDir?: string;
    address: string;
    startedAt: number;
  };
}

type SettingsGateway = Pick<
  Gateway,
  | "options"
  | "platform"
  | "version"
  | "address"
  | "startedAt"
  | "isOptimizing"
  | "evaluator"
  | "toolDirectory"
  | "searchProgress"
  | "searchTrouble"
  | "store"
  | "restore"
  | "settings"
>;

/** Every option as it is in effect and where it was set, and what can be changed at once. */
export async function settingsPage(
  gateway: SettingsGateway,
  query = new URLSearchParams(),
  { isLocal }: Pick<OperationCall, "isLocal"> = { isLocal: false },
): Promise<SettingsPage> {
  const { options, origins } = gateway.options;
  const [progress, data, check] = await Promise.all([
    // A search that could not be made says so where one searches.
    gateway.searchProgress().catch(() => undefined),
    settingsData(gateway, isLocal),
    // To look for it starts a program, which is for a form to ask: a link shows what was found.
    query.get("check") === "evaluator" ? findEvaluator(gateway) : undefined,
  ]);
  return {
    optimization: {
      isOn: gateway.isOptimizing(),
      ...defined({
        fixedBy: options.enableOptimization ? origins.enableOptimization : undefined,
        check,
      }),
    },
    search: {
      tools: gateway.toolDirectory.visible(EVERYONE).length,
      backend: options.embeddings,
      ...defined({ progress, trouble: gateway.searchTrouble() }),
    },
    data,
    ...optionGroups(shownOptions(gateway.settings), query),
    about: {
      version: gateway.version,
      deno: Deno.version.deno,
      system: `${Deno.build.os} ${Deno.build.arch}`,
      platform: gateway.platform.name,
      ...defined({ dataDir: options.dataDir }),
      address: gateway.address,
      startedAt: gateway.startedAt,
    },
  };
}

const ONLY = {
  set: ({ origin }: ShownOption) => origin !== "default",
  live: ({ isLive }: ShownOption) => isLive,
};

function optionGroups(
  all: ShownOption[],
  query: URLSearchParams,
): Pick<SettingsPage, "filter" | "counts" | "groups"> {
  const q = query.get("q")?.trim() ?? "";
  const wanted = query.get("only");
  const only = wanted === "set" || wanted === "live" ? wanted : "";
  const words = q.toLowerCase().split(/\s+/);
  const matching = all.filter((option) => {
    const { flag, variable, settingsKey, meaning, group } = option;
    const text = [flag, variable, settingsKey, meaning, group].join(" ").toLowerCase();
    return words.every((word) => text.includes(word)) && (only === "" || ONLY[only](option));
  });
  return {
    filter: { q, only },
    counts: {
      all: all.length,
      set: all.filter(ONLY.set).length,
      live: all.filter(ONLY.live).length,
    },
    groups: [...Map.groupBy(matching, ({ group }) => group)]
      .map(([name, options]) => ({ name, options })),
  };
}

async function findEvaluator(
  gateway: Pick<Gateway, "evaluator">,
): Promise<ShownEvaluator | undefined> {
  const { check, trial } = await gateway.evaluator();
  if (check.last === undefined) return undefined;
  return { ...check.last, ...defined({ trial: trial.last }) };
}

/** What can be changed while the gateway runs. */
export const SETTINGS_DECISIONS: FormDecisions = {
  "optimization-on": {
    operation: OPTIMIZATION_OPERATIONS.enable,
    done: "Optimization is on. Clients at the gateway's own endpoint have been notified.",
  },
  "optimization-off": {
    operation: OPTIMIZATION_OPERATIONS.disable,
    done: "Optimization is off. No model calls are made.",
  },
  set: {
    operation: SETTINGS_OPERATIONS.set,
    done: "Setting changed until the gateway restarts.",
  },
  "evaluator-check": {
    operation: SETTINGS_OPERATIONS.checkEvaluator,
    done: "The evaluator was checked. The result is below.",
  },
  "evaluator-test": {
    operation: SETTINGS_OPERATIONS.testEvaluator,
    done: "The test is complete. The result is below.",
  },
  search: {
    operation: SETTINGS_OPERATIONS.reindex,
    done: "Keyword search is up to date. Semantic indexing continues in the background.",
  },
};
