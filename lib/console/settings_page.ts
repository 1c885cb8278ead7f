import type { Gateway } from "../compose.ts";
import { type OptionName, OPTIONS, settingsKeyOf, variableOf } from "../config/option_table.ts";
import type { EmbeddingProgress } from "../search/embedding/semantic_index.ts";
import type { TrialResult } from "../optimizer/evaluator_trial.ts";
import type { FoundEvaluator } from "../surfaces/optimization/evaluator_check.ts";
import { EVERYONE } from "../core/principal.ts";
import type { FormError } from "./form_error.ts";
import { doneText } from "./settings_changes.ts";
import { type SettingsData, settingsData } from "./settings_data.ts";
import { formatBytes } from "./ui/format.ts";

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
  | "guide"
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
  isFromHere = false,
): Promise<SettingsPage> {
  const { options, origins } = gateway.options;
  const names = Object.keys(OPTIONS) as OptionName[];
  const done = doneText(query.get("done"));
  const [progress, data, check] = await Promise.all([
    // A search that could not be made says so where one searches.
    gateway.searchProgress().catch(() => undefined),
    settingsData(gateway, isFromHere),
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
      tools: gateway.guide.visible(EVERYONE).length,
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
