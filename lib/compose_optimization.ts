import { z } from "zod";
import type { Catalog } from "./catalog/catalog.ts";
import { canonicalDescription } from "./catalog/catalog_tool.ts";
import type { ComposeOptimizerInput, Optimizer } from "./compose_optimizer.ts";
import type { Options } from "./config/option_table.ts";
import type { OnAudit } from "./core/audit.ts";
import { GatewayError } from "./core/errors.ts";
import { Promotions } from "./optimizer/promotions.ts";
import type { JobsRepository } from "./storage/optimization_jobs_repository.ts";
import { PromotionsRepository } from "./storage/promotions_repository.ts";
import { type Setting, SettingsRepository } from "./storage/settings_repository.ts";
import type { Store } from "./storage/store.ts";
import type { OptimizationAdmin } from "./surfaces/optimization_admin.ts";
import type { OptimizationTools } from "./surfaces/optimization_tools.ts";

/** Kept where it was switched on while the gateway ran. */
const SWITCHED_ON: Setting<boolean> = { name: "optimizationEnabled", schema: z.boolean() };
/** Jobs of gateways that are gone are looked for this often, first a moment after the start. */
const LOOK_AFTER_MS = 1_500;
const LOOK_EVERY_MS = 20_000;
/** One that runs is among the newest. */
const MOST_LOOKED_AT = 200;

export interface ComposeOptimizationInput
  extends Omit<ComposeOptimizerInput, "promotions" | "isEnabled" | "setEnabled"> {
  stack: AsyncDisposableStack;
  store: Store;
  catalog: Catalog;
  options: Options;
  /** Whether it is on, and so what the gateway's own door lists, is another than before. */
  onSwitched(): void;
  onAudit?: OnAudit | undefined;
  /** Why a description must not be shown to models, if it must not. */
  screen(server: string, description: string): Promise<string | undefined>;
}

/** What is needed of optimization at all times; the rest is loaded when somebody wants it. */
export function composeOptimization(input: ComposeOptimizationInput) {
  const { stack, store, catalog, options, onWarning } = input;
  const settings = new SettingsRepository(store);
  let isSwitchedOn = false;
  const isEnabled = () => options.enableOptimization || isSwitchedOn;

  const promotions = new Promotions({
    repository: new PromotionsRepository(store),
    canonical(server, name) {
      const tool = catalog.of(server).tools.find((tool) => tool.name === name);
      return tool && (canonicalDescription(tool) ?? null);
    },
    onChange: (list) => catalog.setPromotions(list),
    onAudit: input.onAudit,
    screen: input.screen,
  });

  async function setEnabled(on: boolean): Promise<void> {
    if (!on && options.enableOptimization) {
      throw new GatewayError("CONFLICT", {
        message: "Cannot switch optimization off: it was switched on when the gateway started",
        recoveryAction: "Start the gateway without --enable-optimization",
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
    input.onSwitched();
  }

  let optimizer: Promise<Optimizer> | undefined;
  function open(): Promise<Optimizer> {
    if (optimizer) return optimizer;
    const opening = optimizer = import("./compose_optimizer.ts").then((module) =>
      module.composeOptimizer({ ...input, promotions, isEnabled, setEnabled })
    );
    opening.catch(() => optimizer = undefined);
    return opening;
  }

  let jobs: JobsRepository | undefined;
  /** Goes on with jobs whose gateway is gone; while it is off, has them wait. */
  async function lookForJobs(): Promise<void> {
    if (!optimizer) {
      const { JobsRepository } = await import("./storage/optimization_jobs_repository.ts");
      jobs ??= new JobsRepository(store);
      const recent = await Array.fromAsync(jobs.list({ reverse: true, limit: MOST_LOOKED_AT }));
      if (!recent.some(({ value }) => value.status === "running")) return;
    }
    await (await open()).jobs.takeOver();
  }
  let looking: Promise<void> = Promise.resolve();
  const look = () => {
    looking = lookForJobs().catch((error) =>
      onWarning("Cannot look for optimization jobs to go on with", { error })
    );
  };
  const first = setTimeout(look, LOOK_AFTER_MS);
  const timer = setInterval(look, LOOK_EVERY_MS);
  stack.defer(async () => {
    clearTimeout(first);
    clearInterval(timer);
    await looking;
    await (await optimizer?.catch(() => undefined))?.[Symbol.asyncDispose]();
  });

  return {
    promotions,
    isEnabled,
    /** Takes up what other gateways promoted and switched. */
    load,
    async admin(): Promise<OptimizationAdmin> {
      return (await open()).admin;
    },
    /** What evaluates, and a way to try it. */
    async evaluator(): Promise<Optimizer["evaluating"]> {
      return (await open()).evaluating;
    },
    async tools(): Promise<OptimizationTools> {
      return (await open()).tools;
    },
  };
}
