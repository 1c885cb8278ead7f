import * as z from "zod";
import type { Catalog } from "../catalog/catalog.ts";
import { canonicalDescription, canonicalText } from "../catalog/catalog_tool.ts";
import { parameterTextsIn } from "../catalog/parameter_texts.ts";
import type { Options } from "../config/option_table.ts";
import type { OnAudit } from "../core/access.ts";
import type { Bus } from "../core/bus.ts";
import { GatewayError } from "../core/errors.ts";
import { DEFAULT_MODELS, descriptionHash } from "../core/optimization.ts";
import { LiveTrials } from "./live/trials.ts";
import { MOST_SIBLINGS, nearestSiblings } from "./targets.ts";
import { Promotions } from "./promotions.ts";
import type { JobsRepository } from "../storage/jobs_repository.ts";
import { PromotionsRepository } from "../storage/promotions_repository.ts";
import { type Setting, SettingsRepository } from "../storage/settings_repository.ts";
import type { Store } from "../storage/store.ts";
import { TrialSessionsRepository } from "../storage/trial_sessions_repository.ts";

const SWITCHED_ON: Setting<boolean> = { name: "optimizationEnabled", schema: z.boolean() };
/** How often to look for jobs of gateways that are gone; first a moment after the start. */
const LOOK_AFTER_MS = 1_500;
const LOOK_EVERY_MS = 20_000;
/** Running jobs are among the newest. */
const MOST_LOOKED_AT = 200;

export interface LoadedOptimizer extends AsyncDisposable {
  jobs: { takeOver(): Promise<void> };
}

export type OptimizerSwitch = Pick<
  OptimizerModule<LoadedOptimizer>,
  "promotions" | "trials" | "isEnabled" | "setEnabled"
>;

export interface OptimizerInput<Loaded extends LoadedOptimizer> {
  store: Store;
  catalog: Catalog;
  options: Pick<Options, "enableOptimization" | "evalModel" | "evalModels">;
  load(parts: OptimizerSwitch): Promise<Loaded>;
  bus: Bus;
  /** Built for one command: jobs whose gateway is gone are left alone. */
  isCommand?: boolean;
  onAudit?: OnAudit | undefined;
  /** Why models must not read a description; undefined if they may. */
  screen(server: string, text: string): Promise<string | undefined>;
  /** A live A/B has ended here. */
  optimizationChanged(): void;
  onWarning(message: string, details?: object): void;
}

export interface OptimizerModule<Loaded extends LoadedOptimizer> extends AsyncDisposable {
  promotions: Promotions;
  /** Live A/B of promoted descriptions. */
  trials: LiveTrials;
  isEnabled(): boolean;
  setEnabled(on: boolean): Promise<void>;
  load(): Promise<void>;
  open(): Promise<Loaded>;
}

/** Those that are mistaken for a tool most easily, by their own texts. */
function siblingHashes(catalog: Catalog, server: string, name: string): Record<string, string> {
  const tools = catalog.of(server).tools.filter((tool) => tool.enabled || tool.name === name)
    .map((tool) => ({ name: tool.name, description: canonicalDescription(tool) ?? "" }));
  const own = tools.find((tool) => tool.name === name);
  if (own === undefined) return {};
  const near = nearestSiblings({ ...own, siblings: tools }).slice(0, MOST_SIBLINGS);
  return Object.fromEntries(
    near.map((sibling) => [sibling.name, descriptionHash(sibling.description)]),
  );
}

export function buildOptimizer<Loaded extends LoadedOptimizer>(
  input: OptimizerInput<Loaded>,
): OptimizerModule<Loaded> {
  const { store, catalog, options, onWarning } = input;
  const stack = new AsyncDisposableStack();
  const settings = new SettingsRepository(store);
  let isSwitchedOn = false;
  const isEnabled = () => options.enableOptimization || isSwitchedOn;

  const findTool = (server: string, name: string) =>
    catalog.of(server).tools.find((tool) => tool.name === name);
  const promotions = new Promotions({
    repository: new PromotionsRepository(store),
    canonical(server, name) {
      const tool = findTool(server, name);
      return tool && (canonicalDescription(tool) ?? null);
    },
    parameters(server, name) {
      const tool = findTool(server, name);
      return tool ? parameterTextsIn(canonicalText(tool)) : {};
    },
    siblings: (server, name) => siblingHashes(catalog, server, name),
    hasTool: (server, name) =>
      catalog.of(server).tools.some((tool) => tool.name === name && tool.enabled),
    model: (evaluator) => options.evalModel ?? DEFAULT_MODELS[evaluator],
    models: options.evalModels?.split(","),
    onChange: (list) => catalog.setPromotions(list),
    onAudit: input.onAudit,
    screen: input.screen,
  });

  const trials = stack.use(
    new LiveTrials({
      ...input,
      promotions,
      served: catalog.served,
      sessions: new TrialSessionsRepository(store),
      onEnded(message, details) {
        onWarning(message, details);
        input.optimizationChanged();
      },
    }),
  );

  async function setEnabled(on: boolean): Promise<void> {
    if (!on && options.enableOptimization) {
      throw new GatewayError("CONFLICT", {
        message: "Cannot switch optimization off: it was switched on when the gateway started",
        recoveryAction: "Restart the gateway without --enable-optimization",
      });
    }
    const before = { enabled: isEnabled() };
    await settings.save(SWITCHED_ON, on);
    input.onAudit?.({
      action: on ? "optimization.enable" : "optimization.disable",
      subject: "optimization",
      before,
      after: { enabled: on },
    });
    await load();
  }

  async function load(): Promise<void> {
    const [setting] = await Promise.all([settings.find(SWITCHED_ON), promotions.load()]);
    const isOn = setting?.value ?? false;
    if (isOn === isSwitchedOn) return;
    isSwitchedOn = isOn;
    input.bus.emit("optimizationSwitched");
  }

  let optimizer: Promise<Loaded> | undefined;
  function open(): Promise<Loaded> {
    if (optimizer) return optimizer;
    const opening = optimizer = input.load({ promotions, trials, isEnabled, setEnabled });
    opening.catch(() => optimizer = undefined);
    return opening;
  }

  let jobs: JobsRepository | undefined;
  /** Resumes jobs whose gateway is gone; while optimization is off, pauses them. */
  async function lookForJobs(): Promise<void> {
    if (!optimizer) {
      const { JobsRepository } = await import("../storage/jobs_repository.ts");
      jobs ??= new JobsRepository(store);
      const recent = await Array.fromAsync(jobs.list({ reverse: true, limit: MOST_LOOKED_AT }));
      if (!recent.some(({ value }) => value.status === "running")) return;
    }
    await (await open()).jobs.takeOver();
  }
  let looking: Promise<void> = Promise.resolve();
  const look = () => {
    looking = lookForJobs().catch((error) =>
      onWarning("Cannot look for optimization jobs to resume", { error })
    );
  };
  const timers = input.isCommand
    ? []
    : [setTimeout(look, LOOK_AFTER_MS), setInterval(look, LOOK_EVERY_MS)];
  stack.defer(async () => {
    timers.forEach(clearTimeout);
    await looking;
    await (await optimizer?.catch(() => undefined))?.[Symbol.asyncDispose]();
  });

  return {
    promotions,
    trials,
    isEnabled,
    setEnabled,
    load,
    open,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
