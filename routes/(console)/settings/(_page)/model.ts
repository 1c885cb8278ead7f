import { z } from "zod";
import type { Gateway } from "../../../../lib/gateway.ts";
import {
  LOG_LEVELS,
  type OptionName,
  OPTIONS,
  settingsKeyOf,
  variableOf,
} from "../../../../lib/config/option_table.ts";
import { EVERYONE, type Right } from "../../../../lib/core/access.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import type { EmbeddingProgress } from "../../../../lib/catalog/search/embedding/semantic_index.ts";
import type { TrialResult } from "../../../../lib/optimizer/evaluators/evaluator.ts";
import type { FoundEvaluator } from "../../../../lib/operations/optimization/evaluator.ts";
import type { FormError } from "../../../../lib/console/errors.ts";
import { type SettingsData, settingsData } from "./data.ts";
import { formatBytes } from "../../../../lib/console/ui/format.ts";

export interface SettingRow {
  name: OptionName;
  flag: string;
  variable: string;
  settingsKey: string;
  meaning: string;
  /** As a person reads it; undefined where it is not set. */
  value?: string;
  fallback: string;
  origin: string;
}

/** What was found that tries descriptions on a model, or why nothing can. */
export interface ShownEvaluator extends FoundEvaluator {
  /** How the last real request went. */
  trial?: TrialResult;
}

export interface SettingsPage {
  rows: SettingRow[];
  /** What was just changed, in words. */
  done?: string;
  /** Why it was not changed. */
  refused?: FormError;
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
  logLevel: { current: string; configured: string };
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
  | "logs"
>;

/** Every option as it is in effect and where it was set, and what can be changed at once. */
export async function settingsPage(
  gateway: SettingsGateway,
  runtime: { deno: string; system: string },
  query = new URLSearchParams(),
  isFromThisMachine = false,
): Promise<SettingsPage> {
  const { options, origins } = gateway.options;
  const names = Object.keys(OPTIONS) as OptionName[];
  const done = doneText(query.get("done"));
  const [progress, data, check] = await Promise.all([
    // A search that could not be made says so where one searches.
    gateway.searchProgress().catch(() => undefined),
    settingsData(gateway, isFromThisMachine),
    // To look for it starts a program, which is for a form to ask: a link shows what was found.
    query.get("check") === "evaluator" ? findEvaluator(gateway) : undefined,
  ]);
  const trouble = gateway.searchTrouble();
  return {
    ...(done === undefined ? {} : { done }),
    optimization: {
      isOn: gateway.isOptimizing(),
      ...(options.enableOptimization ? { fixedBy: origins.enableOptimization } : {}),
      ...(check === undefined ? {} : { check }),
    },
    search: {
      tools: gateway.toolDirectory.visible(EVERYONE).length,
      backend: options.embeddings,
      ...(progress === undefined ? {} : { progress }),
      ...(trouble === undefined ? {} : { trouble }),
    },
    data,
    logLevel: { current: gateway.logs.level, configured: options.logLevel },
    rows: names.map((name) => {
      const option = OPTIONS[name];
      const value = shownValue(name, options[name]);
      return {
        name,
        flag: `--${option.flag}`,
        variable: variableOf(option),
        settingsKey: settingsKeyOf(option),
        meaning: option.meaning,
        ...(value === undefined ? {} : { value }),
        fallback: option.fallbackText,
        origin: origins[name],
      };
    }),
    about: {
      version: gateway.version,
      deno: runtime.deno,
      system: runtime.system,
      platform: gateway.platform.name,
      ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
      address: gateway.address,
      startedAt: gateway.startedAt,
    },
  };
}

async function findEvaluator(
  gateway: Pick<Gateway, "evaluator">,
): Promise<ShownEvaluator | undefined> {
  const { check, trial } = await gateway.evaluator();
  if (check.last === undefined) return undefined;
  return { ...check.last, ...(trial.last === undefined ? {} : { trial: trial.last }) };
}

function shownValue(name: OptionName, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (OPTIONS[name].isSecret) return "••••";
  if (typeof value === "object") {
    return Object.keys(value ?? {}).length === 0 ? undefined : JSON.stringify(value);
  }
  if (typeof value === "boolean") return value ? "On" : "Off";
  if (name === "maxBody" && typeof value === "number") return formatBytes(value);
  return maskUrl(String(value));
}

/** A URL's credentials and query may be secrets; its host and path are not. */
export function maskUrl(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  const url = URL.parse(text);
  if (url === null) return "••••";
  const user = url.username === "" && url.password === "" ? "" : "••••@";
  const query = url.search === "" ? "" : "?••••";
  return `${url.protocol}//${user}${url.host}${url.pathname === "/" ? "" : url.pathname}${query}`;
}

/** What can be changed while the gateway runs. */
const SettingsChange = z.discriminatedUnion("change", [
  z.object({ change: z.literal("optimization"), to: z.enum(["on", "off"]) }),
  z.object({ change: z.literal("log-level"), to: z.enum(LOG_LEVELS) }),
  z.object({ change: z.literal("search") }),
  z.object({ change: z.literal("evaluator-check") }),
  z.object({ change: z.literal("evaluator-test") }),
]);
type SettingsChange = z.infer<typeof SettingsChange>;

/** What each needs: one address for all of them says nothing of what spends model time. */
const RIGHTS: Record<SettingsChange["change"], readonly Right[]> = {
  optimization: ["manage", "optimize"],
  "log-level": ["manage"],
  search: ["manage"],
  "evaluator-check": ["manage"],
  "evaluator-test": ["manage", "optimize"],
};

type ChangedGateway =
  & Pick<
    Gateway,
    "optimization" | "evaluator" | "logs" | "reindexSearch" | "tellLive" | "requestLog"
  >
  & {
    access: Pick<Gateway["access"], "demand">;
    audit?: Pick<Gateway["audit"], "note">;
  };

export function readSettingsChange(fields: URLSearchParams): SettingsChange {
  const parsed = SettingsChange.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot change "${fields.get("change") ?? ""}" to "${fields.get("to") ?? ""}"`,
    recoveryAction: "Load the page again and choose one of what it offers",
  });
}

/** Changes it at once where the caller may, and answers the name of what was done. */
export async function changeSettings(
  gateway: ChangedGateway,
  asked: SettingsChange,
  { principal, signal }: { principal: string; signal: AbortSignal },
): Promise<keyof typeof DONE> {
  for (const right of RIGHTS[asked.change]) {
    gateway.access.demand(principal, right, `To change "${asked.change}"`);
  }
  switch (asked.change) {
    case "optimization":
      await (await gateway.optimization()).setEnabled(asked.to === "on");
      return asked.to === "on" ? "optimization-on" : "optimization-off";
    case "log-level":
      gateway.requestLog.info({ from: gateway.logs.level, to: asked.to }, "Log level changed");
      gateway.audit?.note({
        action: "settings.change",
        subject: "log level",
        before: gateway.logs.level,
        after: asked.to,
      });
      gateway.logs.level = asked.to;
      gateway.tellLive("settings");
      return "log-level";
    case "search":
      await gateway.reindexSearch();
      gateway.audit?.note({ action: "search.reindex", subject: "search index" });
      gateway.tellLive("settings");
      return "search";
    case "evaluator-check": {
      await (await gateway.evaluator()).check.run();
      return "evaluator-check";
    }
    case "evaluator-test": {
      const { check, trial } = await gateway.evaluator();
      await trial.run(signal);
      // The result is shown beside what it was got with.
      await check.run();
      return "evaluator-test";
    }
  }
}

/** Where to see what was done. */
export function donePath(done: keyof typeof DONE): string {
  const query = new URLSearchParams({
    done,
    ...(done.startsWith("evaluator-") ? { check: "evaluator" } : {}),
  });
  return `/settings?${query}`;
}

/** Said on the page that follows. */
const DONE = {
  "optimization-on":
    "Optimization is on. Clients at the gateway's own endpoint have been notified.",
  "optimization-off": "Optimization is off. Nothing spends model time.",
  "log-level": "The log level is changed until the gateway restarts.",
  "evaluator-check": "The evaluator was checked. The result is under Optimization.",
  "evaluator-test": "The test is complete. The result is under Optimization.",
  search: "Keyword search is up to date. Semantic indexing continues in the background.",
} as const;

function doneText(code: string | null): string | undefined {
  return Object.entries(DONE).find(([name]) => name === code)?.[1];
}
