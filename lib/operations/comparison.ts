import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { ClientView, RunCost } from "../core/optimization.ts";
import {
  ComparedTask,
  ComparisonOptions,
  SetUp,
  TaskCheck,
  TaskComparison,
  TaskFile,
  TaskRun,
} from "../core/task_comparison.ts";
import { counted, shortened } from "../core/text.ts";
import { addCosts, costText, knownCost } from "../optimizer/cost.ts";
import {
  comparisonCsv,
  comparisonMarkdown,
  type ComparisonResult,
  differenceText,
  MEASURE_NAMES,
  MEASURES,
  measureText,
  successGainText,
  successText,
} from "../optimizer/comparison/result.ts";
import type { ComparisonsModule } from "./comparison_admin.ts";
import { fieldHints } from "./fields.ts";
import { HOW, SPEND } from "./jobs.ts";
import { MANAGES, operation, type OperationCall, READS_GUARDED } from "./operation.ts";

const EDITS = { ...MANAGES, rights: ["manage", "optimize"] } as const;
/** Its runs call tools on behalf of whoever starts it. */
const RUNS = { ...SPEND, rights: ["manage", "optimize", "call"] } as const;

const ComparisonId = z.string().describe("The comparison's ID")
  .register(fieldHints, { completes: "nothing" });
const TaskName = z.string().describe("A task's name").register(fieldHints, {
  completes: "nothing",
});

const Mean = z.record(z.enum(MEASURES), z.number().nullable());
const Interval = z.object({ mean: z.number(), low: z.number(), high: z.number() });
const Difference = z.object({
  mean: z.number(),
  low: z.number().nullable(),
  high: z.number().nullable(),
});
const Result: z.ZodType<ComparisonResult> = z.object({
  setups: z.array(z.object({
    setup: z.string(),
    success: z.object({ correct: z.int(), total: z.int(), prompts: z.int().optional() }),
    errors: z.int(),
    means: Mean,
    totalCostUsd: z.number().nullable(),
  })),
  differences: z.array(z.object({
    setup: z.string(),
    baseline: z.string(),
    tasks: z.int(),
    success: Interval.nullable(),
    measures: z.record(z.enum(MEASURES), Difference.nullable()),
  })),
  tasks: z.array(z.object({
    task: z.string(),
    setups: z.array(z.object({ setup: z.string(), correct: z.int(), total: z.int() })),
  })),
}) as z.ZodType<ComparisonResult>;

const OneComparison = z.object({ comparison: TaskComparison });
const Shown = OneComparison.extend({
  result: Result,
  cost: RunCost,
  runs: z.array(TaskRun),
});
export type ShownComparison = z.infer<typeof Shown>;

const tasks = operation({
  ...READS_GUARDED,
  name: "comparison.tasks",
  title: "List tasks",
  description: "List the saved tasks that set-ups are compared with.",
  input: z.strictObject({}),
  output: z.object({ tasks: z.array(ComparedTask) }),
  cli: "compare tasks",
  run: async ({ comparisons }) => ({ tasks: await (await comparisons()).tasks() }),
  text: ({ tasks }) =>
    tasks.length === 0
      ? NO_TASKS
      : tasks.map(({ name, prompt, checks }) =>
        `${name}  ${shortened(prompt.replaceAll("\n", " "), 100)}\n` +
        checks.map((check) => `  ${taskCheckText(check)}`).join("\n")
      ).join("\n"),
});

const NO_TASKS =
  "There are no tasks. Save one with `quartermaster compare add`, or a file of them with `quartermaster compare import`.";

export function taskCheckText(check: TaskCheck): string {
  if ("contains" in check) return `answer contains "${check.contains}"`;
  if ("matches" in check) return `answer matches /${check.matches}/`;
  if ("command" in check) return `command \`${check.command.join(" ")}\` succeeds`;
  const { called, arguments: args } = check;
  return `calls ${called}${args === undefined ? "" : ` with ${JSON.stringify(args)}`}`;
}

const Saved = z.object({ saved: z.int(), removed: z.int() });

const add = operation({
  ...EDITS,
  name: "comparison.add",
  title: "Save a task",
  description: "Save a task: a prompt, and checks that tell whether it was done.",
  input: z.strictObject({
    name: TaskName,
    prompt: ComparedTask.shape.prompt.describe("What the user asks for"),
    contains: z.array(z.string()).default([]).describe("A text that the answer has to contain")
      .register(fieldHints, { placeholder: "TEXT" }),
    matches: z.array(z.string()).default([])
      .describe("A regular expression that the answer has to match")
      .register(fieldHints, { placeholder: "REGEX" }),
    calls: z.array(z.string()).default([]).describe("A tool that has to be called: server.tool")
      .register(fieldHints, { placeholder: "TOOL", completes: "tool" }),
    checks: z.array(TaskCheck).default([]).describe("Checks, as in a file of tasks")
      .register(fieldHints, { isHidden: true }),
  }),
  output: Saved,
  cli: "compare add NAME",
  async run({ comparisons }, { name, prompt, contains, matches, calls, checks }, call) {
    if (contains.length + matches.length + calls.length + checks.length === 0) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: `Cannot save the task "${name}": it needs a check that tells whether it was done`,
        recoverySteps: ["Add --contains TEXT, --matches REGEX or --calls SERVER.TOOL"],
      });
    }
    const task = {
      name,
      prompt,
      checks: [
        ...contains.map((contains) => ({ contains })),
        ...matches.map((matches) => ({ matches })),
        ...calls.map((called) => ({ called })),
        ...checks,
      ],
    };
    const saved = [readTasks(ComparedTask, task)];
    return await (await comparisons()).save(saved, "merge", mayRunPrograms(call));
  },
  text: (_, { name }) => `Saved the task ${name}.`,
});

const importFile = operation({
  ...EDITS,
  name: "comparison.import",
  title: "Import tasks",
  description:
    "Save the tasks of a file, such as comparison.json. Tasks with the same name are replaced.",
  input: z.strictObject({
    file: z.string().describe("The file's text: JSON").register(fieldHints, { completes: "file" }),
    mode: z.enum(["merge", "replace"]).default("merge")
      .describe("replace: remove the tasks that the file does not have"),
  }),
  output: Saved,
  cli: "compare import FILE",
  fileInput: { field: "file", maxBytes: 4 * 1024 * 1024 },
  async run({ comparisons }, { file, mode }, call) {
    let given: unknown;
    try {
      given = JSON.parse(file);
    } catch (cause) {
      throw new GatewayError("INVALID_ARGUMENTS", { message: "The file is not valid JSON", cause });
    }
    const { tasks } = readTasks(TaskFile, given);
    return await (await comparisons()).save(tasks, mode, mayRunPrograms(call));
  },
  text: ({ saved, removed }) =>
    `Saved ${counted(saved, "task")}${removed === 0 ? "" : `, removed ${removed}`}.`,
});

/** A program is run only if it was named on this machine, and never for a model. */
function mayRunPrograms({ isLocal, via }: OperationCall): boolean {
  return isLocal && via !== "mcp";
}

function readTasks<T>(schema: z.ZodType<T>, given: unknown): T {
  const { data, error } = schema.safeParse(given);
  if (error === undefined) return data;
  const problems = error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot save the tasks: ${shortened(problems.join("; "), 500)}`,
    recoverySteps: [
      'A task is { "name": "...", "prompt": "...", "checks": [{ "contains": "..." }] }; other ' +
      'checks are "matches", "called" with "arguments", and "command"',
    ],
  });
}

const exportTasks = operation({
  ...READS_GUARDED,
  name: "comparison.export_tasks",
  title: "Export tasks",
  description: "Export all saved tasks to a file that comparison.import reads.",
  input: z.strictObject({}),
  output: { file: "application/json" },
  cli: "compare export",
  async run({ comparisons }) {
    const tasks = await (await comparisons()).tasks();
    const body = `${JSON.stringify({ tasks }, undefined, 2)}\n`;
    return { fileName: "comparison.json", contentType: "application/json", body };
  },
});

const remove = operation({
  ...EDITS,
  name: "comparison.remove",
  title: "Remove a task",
  description: "Remove a saved task. Comparisons that used it are kept.",
  input: z.strictObject({ name: TaskName }),
  output: z.object({ removed: z.string() }),
  cli: "compare remove NAME",
  async run({ comparisons }, { name }) {
    await (await comparisons()).remove(name);
    return { removed: name };
  },
  text: ({ removed }) => `Removed the task ${removed}.`,
});

const shape = ComparisonOptions.shape;

const start = operation({
  ...RUNS,
  effect: "destroy",
  name: "comparison.start",
  title: "Compare set-ups",
  description:
    "Have the claude CLI do saved tasks in several set-ups, with real calls of tools, and compare success, tokens, turns, time and cost.",
  input: z.strictObject({
    tasks: z.array(z.string()).default([]).describe("Names of tasks; default: all")
      .register(fieldHints, { completes: "nothing" }),
    setups: z.array(SetUp).max(6).default(["direct", "gateway"])
      .describe(
        "direct, gateway, toolset:NAME or server:NAME; the others are compared with the first",
      )
      .register(fieldHints, { flag: "setup", placeholder: "SETUP" }),
    repeats: shape.repeats.default(3).describe("Runs of each task in each set-up")
      .register(fieldHints, { placeholder: "N" }),
    view: ClientView.default("deferred").register(fieldHints, {
      help: "deferred hides tools behind the client's tool search, as by default; inline shows all",
    }),
    servers: z.array(z.string()).default([]).describe("Only these servers")
      .register(fieldHints, { flag: "server", placeholder: "SERVER", completes: "server" }),
    allowDestructive: z.boolean().default(false)
      .describe("Also allow tools that are marked as destructive"),
    maxTurns: shape.maxTurns.default(20).describe("Requests to the model per run, at most")
      .register(fieldHints, { placeholder: "N" }),
    timeoutMs: shape.timeoutMs.default(300_000).describe("Time limit of a run, in ms")
      .register(fieldHints, { flag: "timeout", placeholder: "MS" }),
    maxRuns: HOW.maxRuns,
    maxCostUsd: HOW.maxCostUsd,
    dryRun: z.boolean().default(false).describe("Only tell what would be run"),
  }),
  output: OneComparison.partial().extend({
    runs: z.int(),
    servers: z.array(z.string()),
    warnings: z.array(z.string()),
  }),
  cli: "compare run [TASK...]",
  confirm: ({ setups, repeats }) =>
    `Run each task ${repeats === 1 ? "once" : `${repeats} times`} in ${setups.join(" and ")}? ` +
    "The tools are really called, on your servers, and it spends model time.",
  async run({ comparisons }, { tasks: names, servers, dryRun, ...options }, { principal }) {
    const admin = await comparisons();
    const tasks = await admin.tasks(names);
    if (tasks.length === 0) {
      throw new GatewayError("CONFLICT", {
        message: "Cannot compare: there are no tasks",
        next: [{ label: "Save a task", operation: "comparison.add" }],
      });
    }
    const request = {
      tasks,
      principal,
      options: readOptions({ ...options, ...(servers.length === 0 ? {} : { servers }) }),
    };
    const plan = admin.comparisons.plan(request);
    if (dryRun) return { comparison: undefined, ...plan };
    return { comparison: await admin.start(request), ...plan };
  },
  text: ({ comparison, runs, servers, warnings }) =>
    [
      `${counted(runs, "run")} with ${servers.join(", ")}.`,
      ...warnings,
      comparison ? progressText(comparison) : "Nothing was started.",
    ].join("\n"),
});

function readOptions(given: { setups: readonly string[] }): ComparisonOptions {
  const { data, error } = ComparisonOptions.safeParse(given);
  if (error === undefined) {
    if (new Set(data.setups).size === data.setups.length) return data;
    throw new GatewayError("INVALID_ARGUMENTS", { message: "A set-up is named twice" });
  }
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: given.setups.length < 2
      ? "Name at least two set-ups, such as direct and gateway"
      : error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "),
  });
}

const list = operation({
  ...READS_GUARDED,
  name: "comparison.list",
  title: "List comparisons",
  description: "List comparisons of set-ups, newest first.",
  input: z.strictObject({}),
  output: z.object({ comparisons: z.array(TaskComparison) }),
  cli: "compare list",
  run: async ({ comparisons }) => ({
    comparisons: await (await comparisons()).comparisons.list(),
  }),
  text: ({ comparisons }) =>
    comparisons.length === 0
      ? "There are no comparisons. Start one with `quartermaster compare run`."
      : comparisons.map((one) => `${progressText(one)}  ${one.options.setups.join(", ")}`)
        .join("\n"),
});

const show = operation({
  ...READS_GUARDED,
  name: "comparison.show",
  title: "Show a comparison",
  description: "Get a comparison's progress, results and runs.",
  input: z.strictObject({ id: ComparisonId }),
  output: Shown,
  cli: "compare show ID",
  run: async ({ comparisons }, { id }) => await shown(await comparisons(), id),
  text: (output) => comparisonText(output),
});

async function shown(admin: ComparisonsModule, id: string): Promise<ShownComparison> {
  const comparison = await admin.comparisons.get(id);
  const { runs, result } = await admin.result(comparison);
  return { comparison, result, runs, cost: addCosts(...runs.map(({ cost }) => cost)) };
}

const report = operation({
  ...READS_GUARDED,
  name: "comparison.report",
  title: "Export a comparison",
  description: "Export a comparison's results as Markdown or JSON, or its runs as CSV.",
  input: z.strictObject({
    id: ComparisonId,
    format: z.enum(["markdown", "json", "csv"]).default("markdown"),
  }),
  output: { file: "text/plain" },
  cli: "compare report ID",
  async run({ comparisons }, { id, format }) {
    const found = await shown(await comparisons(), id);
    const [extension, contentType, body] = format === "json"
      ? ["json", "application/json", `${JSON.stringify(found, undefined, 2)}\n`]
      : format === "csv"
      ? ["csv", "text/csv; charset=utf-8", comparisonCsv(found.runs)]
      : ["md", "text/markdown; charset=utf-8", comparisonMarkdown(found.comparison, found.result)];
    return { fileName: `${id}.${extension}`, contentType, body };
  },
});

const cancel = operation({
  ...EDITS,
  isLive: true,
  name: "comparison.cancel",
  title: "Cancel a comparison",
  description: "Stop a comparison. Its runs so far are kept.",
  input: z.strictObject({ id: ComparisonId }),
  output: OneComparison,
  cli: "compare cancel ID",
  run: async ({ comparisons }, { id }) => ({
    comparison: await (await comparisons()).cancel(id),
  }),
  text: ({ comparison }) => progressText(comparison),
});

const resume = operation({
  ...RUNS,
  name: "comparison.resume",
  title: "Resume a comparison",
  description: "Make the missing runs of a comparison whose gateway ended.",
  input: z.strictObject({ id: ComparisonId }),
  output: OneComparison,
  cli: "compare resume ID",
  run: async ({ comparisons }, { id }, { principal }) => ({
    comparison: await (await comparisons()).resume(id, principal),
  }),
  text: ({ comparison }) => progressText(comparison),
});

export const COMPARISON_OPERATIONS = {
  tasks,
  add,
  importFile,
  exportTasks,
  remove,
  start,
  list,
  show,
  report,
  cancel,
  resume,
};

/** "comparison_x: running, 4 of 12 runs". */
export function progressText({ id, status, done, total, note }: TaskComparison): string {
  const state = status === "cancelled" ? "canceled" : status;
  return `${id}: ${state}, ${done} of ${counted(total, "run")}${
    note === undefined ? "" : `. ${note}`
  }`;
}

export function comparisonText({ comparison, result, runs, cost }: ShownComparison): string {
  const lines = [progressText(comparison), ...comparison.warnings];
  for (const one of result.setups) {
    const means = MEASURES.map((measure) =>
      `${MEASURE_NAMES[measure].toLowerCase()} ${measureText(measure, one.means[measure])}`
    );
    lines.push(`${one.setup}: ${successText(one)}; for a run: ${means.join(", ")}`);
  }
  for (const { setup, baseline, success, measures } of result.differences) {
    lines.push(`${setup} compared with ${baseline}: success ${successGainText(success)}`);
    for (const measure of MEASURES) {
      lines.push(
        `  ${MEASURE_NAMES[measure].toLowerCase()} ${differenceText(measure, measures[measure])}`,
      );
    }
  }
  for (const { task, setup, repeat, status, reason } of runs) {
    if (status !== "success") {
      lines.push(`${status}: ${task} in ${setup}, run ${repeat + 1}: ${reason}`);
    }
  }
  lines.push(`Cost: ${costText(knownCost([cost]))}`);
  return lines.join("\n");
}
