import { setTimeout as sleep } from "node:timers/promises";
import type { TaskComparison } from "../core/task_comparison.ts";
import {
  COMPARISON_OPERATIONS,
  progressText,
  type ShownComparison,
} from "../operations/comparison.ts";
import type { OutputOf } from "../operations/operation.ts";
import { costText, knownCost } from "../optimizer/cost.ts";
import {
  differenceText,
  MEASURE_NAMES,
  MEASURES,
  measureText,
  successGainText,
  successText,
} from "../optimizer/comparison/result.ts";
import type { CommandInput, CommandOutcome } from "./command.ts";
import { agree, type CommandExtras, readInput } from "./operation_command.ts";
import { openTarget, type OperationTarget } from "./operation_target.ts";
import {
  clearStatus,
  listing,
  minuteOf,
  type Paint,
  painter,
  print,
  printError,
  showStatus,
  table,
  terminalLine,
  warningsText,
} from "./terminal.ts";

const POLL_MS = 500;
const INTERRUPTED = 130;
const NOT_DONE = 1;

export const COMPARISON_EXTRAS: Record<string, CommandExtras> = {
  "comparison.start": {
    details: [
      "Each run is a fresh client with an empty home and no other tools. Set-ups: direct (the servers as",
      "configured), gateway (/mcp), toolset:NAME and server:NAME; with @canonical after one of the last",
      "three, without promoted descriptions. Tools that are marked as destructive are refused unless you",
      "pass --allow-destructive. Ctrl-C cancels the comparison; its runs are kept. Exits with code 1 if it",
      "could not be completed.",
    ],
    flags: [{ flag: "detach", meaning: "Return as soon as it has started" }],
    run: runComparison,
  },
  "comparison.import": {
    details: [
      'The file is { "tasks": [{ "name": "...", "prompt": "...", "checks": [...] }] }. Checks are',
      '{ "contains": TEXT }, { "matches": REGEX }, { "called": "server.tool", "arguments": {...} } and',
      '{ "command": ["sh", "check.sh"] }, a program of yours that gets answer and calls as JSON on stdin.',
    ],
  },
  "comparison.list": {
    show: ({ comparisons }: { comparisons: TaskComparison[] }, { paint }) =>
      listing(comparisons, {
        paint,
        empty: "There are no comparisons. Start one with `quartermaster compare run`.\n",
      }, {
        COMPARISON: ({ id }) => id,
        STATUS: ({ status }) => status,
        STARTED: ({ createdAt }) => minuteOf(createdAt),
        RUNS: ({ done, total }) => `${done}/${total}`,
        "SET-UPS": ({ options }) => options.setups.join(" "),
        WHY: ({ note }) => note,
      }),
  },
  "comparison.show": {
    show: (shown: ShownComparison, { paint }) => comparisonTable(shown, paint),
    exitCode: ({ comparison }: ShownComparison) => exitCodeOf(comparison),
  },
};

type Started = OutputOf<typeof COMPARISON_OPERATIONS.start>;

/** Tells what it will do, asks, and shows how it goes until the result. */
async function runComparison(input: CommandInput): Promise<CommandOutcome | number> {
  const { start } = COMPARISON_OPERATIONS;
  const given = await readInput(start, input);
  const { flags, env } = input;
  const say = flags.get("json") === true ? printError : print;
  await using target = await openTarget(input, true);
  const plan: Started = await target.run(start, { ...given, dryRun: true });
  const planText = `${plan.runs} runs with ${terminalLine(plan.servers.join(", "))}.\n` +
    warningsText(plan.warnings, painter(env));
  if (given.dryRun === true) return { data: plan, text: planText };
  say(planText);
  agree("compare run", start.confirm!(start.input.parse(given)), input);
  const { comparison }: Started = await target.run(start, given);
  if (flags.get("detach") === true) {
    return { data: { comparison }, text: `${progressText(comparison!)}\n` };
  }
  const followed = await follow(comparison!.id, target);
  if (followed === undefined) return INTERRUPTED;
  const shown: ShownComparison = await target.run(COMPARISON_OPERATIONS.show, { id: followed.id });
  return {
    data: shown,
    text: comparisonTable(shown, painter(env)),
    exitCode: exitCodeOf(shown.comparison),
  };
}

/** Undefined if the person stopped it. */
async function follow(id: string, target: OperationTarget): Promise<TaskComparison | undefined> {
  const { show, cancel } = COMPARISON_OPERATIONS;
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  Deno.addSignalListener("SIGINT", interrupt);
  try {
    let last = "";
    for (;;) {
      const { comparison }: ShownComparison = await target.run(show, { id });
      if (comparison.status !== "running") return comparison;
      const line = terminalLine(progressText(comparison));
      if (!showStatus(line) && line !== last) printError(`${line}\n`);
      last = line;
      await sleep(POLL_MS, undefined, { signal: stop.signal }).catch(() => {});
      if (!stop.signal.aborted) continue;
      clearStatus();
      const stopped = await target.run(cancel, { id });
      printError(`${progressText(stopped.comparison)}\n`);
      return undefined;
    }
  } finally {
    clearStatus();
    Deno.removeSignalListener("SIGINT", interrupt);
  }
}

function exitCodeOf({ status }: TaskComparison): number {
  return status === "completed" || status === "running" ? 0 : NOT_DONE;
}

export function comparisonTable(
  { comparison, result, runs, cost }: ShownComparison,
  paint: Paint,
): string {
  const { setups, differences, tasks } = result;
  const names = MEASURES.map((measure) => MEASURE_NAMES[measure].toUpperCase());
  const failed = runs.filter(({ status }) => status !== "success");
  return [
    `${terminalLine(progressText(comparison))}\n`,
    warningsText(comparison.warnings, paint),
    "\n",
    table([
      ["SET-UP", "SUCCESS", ...names],
      ...setups.map((one) => [
        one.setup,
        successText(one),
        ...MEASURES.map((measure) => measureText(measure, one.means[measure])),
      ]),
    ]),
    ...differences.map(({ setup, baseline, success, measures }) =>
      `\n${setup} compared with ${baseline}, paired by task:\n` + table([
        ["Success", successGainText(success)],
        ...MEASURES.map((measure) => [
          MEASURE_NAMES[measure],
          differenceText(measure, measures[measure]),
        ]),
      ])
    ),
    "\n",
    table([
      ["TASK", ...setups.map(({ setup }) => setup.toUpperCase())],
      ...tasks.map(({ task, setups }) => [
        task,
        ...setups.map(({ correct, total }) => `${correct}/${total}`),
      ]),
    ]),
    ...failed.length === 0 ? [] : ["\n"],
    ...failed.map(({ task, setup, repeat, status, reason }) =>
      `${paint(status === "error" ? "yellow" : "red", status === "error" ? "!" : "✗")} ` +
      terminalLine(`${task} in ${setup}, run ${repeat + 1}: ${reason}`) + "\n"
    ),
    `\nCost: ${costText(knownCost([cost]))}\n`,
  ].join("");
}
