import { z } from "zod";
import type { Gateway } from "../../../../lib/gateway.ts";
import { LOG_LEVELS } from "../../../../lib/config/option_table.ts";
import { EVERYONE } from "../../../../lib/core/access.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import type { EmbeddingProgress } from "../../../../lib/catalog/search/embedding/semantic_index.ts";
import type { TrialResult } from "../../../../lib/optimizer/evaluators/evaluator.ts";
import type { FoundEvaluator } from "../../../../lib/operations/optimization/evaluator.ts";
import type { OperationSpec } from "../../../../lib/operations/operation.ts";
import { OPTIMIZATION_OPERATIONS } from "../../../../lib/operations/optimization.ts";
import {
  SETTINGS_OPERATIONS,
  type ShownOption,
  shownOptions,
} from "../../../../lib/operations/settings.ts";
import type { FormError } from "../../../../lib/console/errors.ts";
import { type SettingsData, settingsData } from "./data.ts";

/** What was found that tries descriptions on a model, or why nothing can. */
export interface ShownEvaluator extends FoundEvaluator {
  /** How the last real request went. */
  trial?: TrialResult;
}

export interface SettingsPage {
  rows: ShownOption[];
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
    rows: shownOptions(gateway.options),
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

/** What can be changed while the gateway runs. */
const SettingsChange = z.discriminatedUnion("change", [
  z.object({ change: z.literal("optimization"), to: z.enum(["on", "off"]) }),
  z.object({ change: z.literal("log-level"), to: z.enum(LOG_LEVELS) }),
  z.object({ change: z.literal("search") }),
  z.object({ change: z.literal("evaluator-check") }),
  z.object({ change: z.literal("evaluator-test") }),
]);
type SettingsChange = z.infer<typeof SettingsChange>;

export function readSettingsChange(fields: URLSearchParams): SettingsChange {
  const parsed = SettingsChange.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot change "${fields.get("change") ?? ""}" to "${fields.get("to") ?? ""}"`,
    recoveryAction: "Load the page again and choose one of what it offers",
  });
}

export type Run = <Input extends z.ZodObject, Output>(
  operation: OperationSpec<Input, Output>,
  input: z.input<Input>,
) => Promise<Output>;

/** Runs the operation of a change; resolves with the name of what was done. */
export async function changeSettings(asked: SettingsChange, run: Run): Promise<keyof typeof DONE> {
  switch (asked.change) {
    case "optimization":
      await run(OPTIMIZATION_OPERATIONS[asked.to === "on" ? "enable" : "disable"], {});
      return `optimization-${asked.to}`;
    case "log-level":
      await run(SETTINGS_OPERATIONS.setLogLevel, { level: asked.to });
      return "log-level";
    case "search":
      await run(SETTINGS_OPERATIONS.reindex, {});
      return "search";
    case "evaluator-check":
      await run(SETTINGS_OPERATIONS.checkEvaluator, {});
      return "evaluator-check";
    case "evaluator-test":
      await run(SETTINGS_OPERATIONS.testEvaluator, {});
      return "evaluator-test";
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
