import { join } from "@std/path";
import * as z from "zod";
import {
  GATEWAY_LOG_LEVELS,
  OPTION_GROUPS,
  type OptionName,
  OPTIONS,
  type Options,
  settingsKeyOf,
  variableOf,
} from "../config/option_table.ts";
import type { ReadOptions } from "../config/options.ts";
import type { OnAudit } from "../core/access.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { EvaluatorInfo } from "../core/optimization.ts";
import { EvaluatorProgram } from "../optimizer/evaluators/evaluator.ts";
import { backupStore } from "../storage/backup.ts";
import type { Store } from "../storage/store.ts";
import type { Logs } from "../telemetry/logs.ts";
import { operation } from "./operation.ts";

/** What only a running gateway has. */
export interface GatewaySettings {
  options: Options;
  origins: ReadOptions["origins"];
  /** The values of options that were changed, as they were at the start. */
  startup: Partial<Record<OptionName, string>>;
  platform: ReadOptions["platform"];
  store: Store;
  logs: Pick<Logs, "level" | "module">;
  reindexSearch(): Promise<{ tools: number }>;
  onAudit: OnAudit;
  /** Updates open pages. */
  onChanged(): void;
}

const ShownOption = z.object({
  name: z.string(),
  flag: z.string(),
  variable: z.string().describe("The environment variable that sets it"),
  settingsKey: z.string().describe("Its key in the settings file"),
  meaning: z.string(),
  value: z.string().optional().describe("Secrets are masked; missing if not set"),
  fallback: z.string().describe("The default"),
  origin: z.string().describe("Where the value comes from"),
  group: z.string(),
  isLive: z.boolean().describe("Whether settings.set can change it"),
  must: z.string().describe("Which values are valid"),
  choices: z.array(z.string()).optional(),
  startup: z.string().optional().describe("The value at startup, and again after a restart"),
});
export type ShownOption = z.infer<typeof ShownOption>;

const LogLevel = z.enum(GATEWAY_LOG_LEVELS);
const LIVE_OPTIONS = (Object.keys(OPTIONS) as OptionName[]).filter((name) => OPTIONS[name].isLive);
const LIVE = { scope: "whole", isLive: true } as const;
const CHANGE = { ...LIVE, rights: ["manage"], effect: "write" } as const;

const show = operation({
  ...LIVE,
  name: "settings.show",
  title: "Show the settings",
  description: "Show every option's value, where the value comes from, and the current log level.",
  input: z.strictObject({}),
  output: z.object({ options: z.array(ShownOption), logLevel: LogLevel }),
  rights: ["read"],
  effect: "read",
  run: ({ settings }) => ({ options: shownOptions(settings), logLevel: settings.logs.level }),
});

const set = operation({
  ...CHANGE,
  name: "settings.set",
  title: "Change a setting",
  description: "Change an option until the gateway restarts.",
  input: z.strictObject({
    option: z.enum(LIVE_OPTIONS).describe("The option's name"),
    value: z.string().describe("Its new value"),
  }),
  output: z.object({ option: ShownOption }),
  idempotent: true,
  run: ({ settings }, { option, value }) => ({ option: changeOption(settings, option, value) }),
});

/** Changes an option for those who read it at each use. */
function changeOption(settings: GatewaySettings, name: OptionName, value: string): ShownOption {
  const { options, origins, logs, onAudit, onChanged } = settings;
  const { schema, must, flag } = OPTIONS[name];
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot use "${value.slice(0, 80)}" for --${flag}: it must be ${must}`,
    });
  }
  const [before, after] = [String(options[name]), String(parsed.data)];
  settings.startup[name] ??= before;
  logs.module("http").info({ option: flag, from: before, to: after }, "Setting changed");
  onAudit({ action: "settings.change", subject: flag, before, after });
  Object.assign(options, { [name]: parsed.data });
  origins[name] = "console";
  if (name === "logLevel") logs.level = options.logLevel;
  onChanged();
  return shownOptions(settings).find((option) => option.name === name)!;
}

const setLogLevel = operation({
  ...CHANGE,
  name: "settings.log_level",
  title: "Change the log level",
  description: "Change the minimum log level until the gateway restarts.",
  input: z.strictObject({ level: LogLevel }),
  output: z.object({ level: LogLevel }),
  idempotent: true,
  run({ settings }, { level }) {
    changeOption(settings, "logLevel", level);
    return { level };
  },
});

const reindex = operation({
  ...CHANGE,
  name: "search.reindex",
  title: "Rebuild the search index",
  description: "Rebuild the search index; semantic indexing continues in the background.",
  input: z.strictObject({}),
  output: z.object({ tools: z.int() }),
  idempotent: true,
  async run({ settings: { reindexSearch, onAudit, onChanged } }) {
    const indexed = await reindexSearch();
    onAudit({ action: "search.reindex", subject: "search index" });
    onChanged();
    return indexed;
  },
});

const checkEvaluator = operation({
  ...CHANGE,
  name: "evaluator.check",
  title: "Look for an evaluator",
  description:
    "Look for the claude CLI or a Messages API to evaluate with. No model request is sent.",
  input: z.strictObject({}),
  output: EvaluatorInfo.extend({ program: EvaluatorProgram.optional() }),
  run: async ({ evaluator }) => await (await evaluator()).check.run(),
});

const testEvaluator = operation({
  ...CHANGE,
  name: "evaluator.test",
  title: "Test the evaluator",
  description: "Send one real request to the model to check that evaluations work.",
  input: z.strictObject({}),
  output: z.object({
    outcome: z.enum(["right", "wrong", "failed"]),
    message: z.string(),
    model: z.string(),
    durationMs: z.number(),
  }),
  rights: ["manage", "optimize"],
  async run({ evaluator }, _input, { signal }) {
    const { check, trial } = await evaluator();
    const { outcome, words: message, model, durationMs } = await trial.run(signal);
    // The console shows the result beside what it was got with.
    await check.run();
    return { outcome, message, model, durationMs };
  },
});

const backup = operation({
  ...CHANGE,
  name: "data.backup",
  title: "Back up the data store",
  description: "Download the whole data store as one file, secrets included.",
  input: z.strictObject({}),
  output: { file: "application/octet-stream" },
  from: "this-machine",
  async run({ settings: { store, platform, onAudit } }) {
    if (!platform.canWrite) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "Cannot create a backup here: this platform has no disk",
        recoveryAction:
          "Create it with the command line on a machine that can reach the same store",
      });
    }
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
    try {
      const { file, entries } = await backupStore(store, join(folder, "backup"));
      const { readable: body } = await Deno.open(file);
      onAudit({ action: "data.backup", subject: "data store", after: { entries } });
      const fileName = `quartermaster-${new Date().toISOString().slice(0, 10)}.backup`;
      return { fileName, contentType: "application/octet-stream", body };
    } finally {
      // An open file can still be read to its end, and nobody else finds it.
      await Deno.remove(folder, { recursive: true });
    }
  },
});

export const SETTINGS_OPERATIONS = {
  show,
  set,
  setLogLevel,
  reindex,
  checkEvaluator,
  testEvaluator,
  backup,
};

/** Every option as it is in effect and where it was set. */
export function shownOptions(
  { options, origins, startup }: Pick<GatewaySettings, "options" | "origins" | "startup">,
): ShownOption[] {
  const named = Object.entries(OPTION_GROUPS)
    .flatMap(([group, names]) => names.map((name) => ({ group, name })));
  return named.map(({ group, name }) => {
    const option = OPTIONS[name];
    return {
      name,
      flag: `--${option.flag}`,
      variable: variableOf(option),
      settingsKey: settingsKeyOf(option),
      meaning: option.meaning,
      ...defined({
        value: shownValue(name, options[name]),
        choices: option.choices?.map(String),
        startup: startup[name],
      }),
      fallback: option.fallbackText,
      origin: origins[name],
      group,
      isLive: option.isLive ?? false,
      must: option.must,
    };
  });
}

const MIB = 1024 * 1024;

function shownValue(name: OptionName, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (OPTIONS[name].isSecret) return "••••";
  if (typeof value === "object") {
    return Object.keys(value ?? {}).length === 0 ? undefined : JSON.stringify(value);
  }
  if (typeof value === "boolean") return value ? "On" : "Off";
  if (name === "maxBody" && typeof value === "number") return `${+(value / MIB).toFixed(1)} MiB`;
  return maskUrl(String(value));
}

/** A URL's credentials and query may be secrets; its host and path are not. */
function maskUrl(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  const url = URL.parse(text);
  if (url === null) return "••••";
  const user = url.username === "" && url.password === "" ? "" : "••••@";
  const query = url.search === "" ? "" : "?••••";
  return `${url.protocol}//${user}${url.host}${url.pathname === "/" ? "" : url.pathname}${query}`;
}
