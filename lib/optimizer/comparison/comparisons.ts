import { settledWithin } from "../../core/async.ts";
import { defined } from "../../core/defined.ts";
import { errorMessage, GatewayError } from "../../core/errors.ts";
import { newId } from "../../core/optimization.ts";
import type {
  ComparedTask,
  ComparisonOptions,
  SetUp,
  TaskComparison,
  TaskRun,
} from "../../core/task_comparison.ts";
import type {
  ComparisonsRepository,
  TaskRunsRepository,
} from "../../storage/comparisons_repository.ts";
import { Budget } from "../cost.ts";
import { isConflict } from "../jobs/record.ts";
import type { ClientConfig } from "./setups.ts";
import { type DoneTask, runTask, type TaskClient } from "./run.ts";

const STOP_LIMIT_MS = 20_000;
/** So many runs in a row that cannot be made: neither can the others. */
const MOST_ERRORS = 3;
const MOST_RACES = 20;
const MOST_KEPT = 50;

/** The servers, and what of them a comparison can use. */
export interface Surface {
  servers: string[];
  warnings: string[];
}

export interface ComparisonsInput {
  comparisons: ComparisonsRepository;
  runs: TaskRunsRepository;
  client: TaskClient;
  /** Throws if the CLI cannot be started. */
  check(): Promise<void>;
  /** Throws if one of the set-ups cannot be had. */
  surface(options: ComparisonOptions, principal: string): Surface;
  /** Connects a client to a set-up for one run. */
  open(
    comparison: TaskComparison,
    setup: SetUp,
    principal: string,
  ): Promise<ClientConfig & AsyncDisposable>;
  owner: string;
  isOwnerAlive(owner: string): Promise<boolean>;
  onChange(comparison: TaskComparison): void;
  onWarning(message: string, details?: object): void;
  signal: AbortSignal;
}

export interface ComparisonRequest {
  tasks: readonly ComparedTask[];
  options: ComparisonOptions;
  principal: string;
}

/** Its record says that it is no longer to be worked on. */
class Stopped extends Error {}

/** The user's own tasks, run by the claude CLI in several set-ups, in the background. */
export class TaskComparisons implements AsyncDisposable {
  readonly #input: ComparisonsInput;
  readonly #working = new Map<string, { stopping: AbortController; done: Promise<void> }>();

  constructor(input: ComparisonsInput) {
    this.#input = input;
  }

  /** What a comparison would be, without starting it. */
  plan({ tasks, options, principal }: ComparisonRequest): Surface & { runs: number } {
    const runs = tasks.length * options.setups.length * options.repeats;
    return { ...this.#input.surface(options, principal), runs };
  }

  /** Resolves when the work has begun, not when it is done. */
  async start(request: ComparisonRequest): Promise<TaskComparison> {
    const { comparisons, client, owner, check } = this.#input;
    const { tasks, options, principal } = request;
    const { runs: total, servers, warnings } = this.plan(request);
    await check();
    await this.#refuseBusy();
    const now = new Date().toISOString();
    const comparison: TaskComparison = {
      id: newId("comparison"),
      status: "running",
      options,
      tasks: [...tasks],
      servers,
      warnings,
      model: client.model,
      done: 0,
      total,
      createdAt: now,
      updatedAt: now,
      owner,
    };
    await comparisons.save(comparison);
    this.#begin(comparison, principal);
    await comparisons.prune({ most: MOST_KEPT, runs: this.#input.runs });
    return comparison;
  }

  async get(id: string): Promise<TaskComparison> {
    return await this.#settled((await this.#input.comparisons.resolve(id)).value);
  }

  async list(limit = 20): Promise<TaskComparison[]> {
    const found = await this.#input.comparisons.values({ reverse: true, limit });
    return await Promise.all(found.map((one) => this.#settled(one)));
  }

  async runs(id: string): Promise<TaskRun[]> {
    const found = await this.#input.runs.values({ under: [id] });
    return found.sort((one, other) => one.at < other.at ? -1 : 1);
  }

  async cancel(id: string): Promise<TaskComparison> {
    const { status } = await this.get(id);
    if (status !== "running" && status !== "interrupted") {
      throw new GatewayError("CONFLICT", {
        message: `Cannot cancel comparison "${id}": it is already ${status}`,
        recoveryAction: "No action is needed",
      });
    }
    await this.#change(id, { status: "cancelled", endedAt: new Date().toISOString() }, {
      mayChange: () => true,
    });
    const work = this.#working.get(id);
    work?.stopping.abort(new Stopped());
    await settledWithin(work?.done, STOP_LIMIT_MS);
    return await this.get(id);
  }

  /** Makes the runs that are missing. */
  async resume(id: string, principal: string): Promise<TaskComparison> {
    const { status, options } = await this.get(id);
    const refusal = (why: string) =>
      new GatewayError("CONFLICT", {
        message: `Cannot resume comparison "${id}": it is ${why}`,
        recoveryAction: "Start a new one",
      });
    if (status !== "interrupted") throw refusal(status);
    this.#input.surface(options, principal);
    await this.#input.check();
    await this.#refuseBusy();
    const { owner } = this.#input;
    const resumed = await this.#change(id, { status: "running", owner, note: undefined }, {
      // Not if another gateway was faster: each would make all runs that are missing.
      mayChange: (found) => found.status === "interrupted",
    }).catch((error) => {
      throw error instanceof Stopped ? refusal("running") : error;
    });
    this.#begin(resumed, principal);
    return resumed;
  }

  /** Resolves when it has ended, or after so long. */
  async wait(id: string, ms: number, signal?: AbortSignal): Promise<TaskComparison> {
    await settledWithin(this.#working.get(id)?.done, ms, signal);
    return await this.get(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#working.values()];
    for (const { stopping } of all) stopping.abort(new Error("The gateway is stopping"));
    await Promise.all(all.map(({ done }) => done));
  }

  /** One whose gateway is gone says so. */
  async #settled(comparison: TaskComparison): Promise<TaskComparison> {
    const { id, status, owner } = comparison;
    if (status !== "running" || this.#working.has(id)) return comparison;
    const isOurs = owner === this.#input.owner;
    if (!isOurs && owner !== undefined && await this.#input.isOwnerAlive(owner)) return comparison;
    const interrupted = { status: "interrupted", note: INTERRUPTED } as const;
    const mayChange = (found: TaskComparison) =>
      found.status === "running" && found.owner === owner;
    return await this.#change(id, interrupted, { mayChange }).catch((error) => {
      if (error instanceof Stopped) return comparison;
      throw error;
    });
  }

  async #refuseBusy(): Promise<void> {
    const busy = (await this.list()).find(({ status }) => status === "running");
    if (!busy) return;
    throw new GatewayError("OPERATION_IN_PROGRESS", {
      message: `Cannot start a comparison: "${busy.id}" is running`,
      recoveryAction: "Wait for it to end, or cancel it",
    });
  }

  #begin(comparison: TaskComparison, principal: string): void {
    const { id } = comparison;
    const stopping = new AbortController();
    const signal = AbortSignal.any([stopping.signal, this.#input.signal]);
    const done = this.#work(comparison, principal, signal).catch((error) => {
      this.#input.onWarning("A comparison of set-ups failed", { error });
    }).finally(() => this.#working.delete(id));
    this.#working.set(id, { stopping, done });
    this.#input.onChange(comparison);
  }

  async #work(
    comparison: TaskComparison,
    principal: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { id } = comparison;
    const endedAt = () => new Date().toISOString();
    try {
      const note = await this.#runAll(comparison, principal, signal);
      await this.#change(id, { status: "completed", endedAt: endedAt(), ...defined({ note }) });
    } catch (error) {
      if (error instanceof Stopped || signal.reason instanceof Stopped) return;
      const change = signal.aborted
        ? { status: "interrupted", note: INTERRUPTED } as const
        : { status: "failed", note: errorMessage(error), endedAt: endedAt() } as const;
      await this.#change(id, change).catch((cause) => {
        if (!(cause instanceof Stopped)) throw cause;
      });
    }
  }

  /** Gives why it ended early, if so. */
  async #runAll(
    comparison: TaskComparison,
    principal: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { id, options, tasks } = comparison;
    const { runs, onWarning } = this.#input;
    const budget = new Budget(options);
    const known = await this.runs(id);
    for (const { cost } of known) budget.runFound(cost);
    const keyOf = (run: Pick<TaskRun, "task" | "setup" | "repeat">) =>
      JSON.stringify([run.task, run.setup, run.repeat]);
    const finished = new Set(known.map(keyOf));
    let done = finished.size;
    let errors = 0;
    for (const [repeat, task, setup] of orderOf(tasks, options)) {
      if (finished.has(keyOf({ task: task.name, setup, repeat }))) continue;
      signal.throwIfAborted();
      const refusal = budget.takeRun();
      if (refusal !== undefined) return `Ended early: ${refusal}`;
      const at = new Date().toISOString();
      const { isGeneral, ...run } = await this.#run(comparison, { task, setup, principal }, signal);
      budget.runEnded(run.cost);
      await runs.replace({ comparison: id, task: task.name, setup, repeat, at, ...run });
      await this.#change(id, { done: ++done });
      errors = run.status === "error" ? errors + 1 : 0;
      if (isGeneral || errors >= MOST_ERRORS) {
        onWarning("A comparison ended, since its runs fail", { reason: run.reason });
        throw new Error(run.reason ?? "The runs fail");
      }
    }
  }

  async #run(
    comparison: TaskComparison,
    { task, setup, principal }: { task: ComparedTask; setup: SetUp; principal: string },
    signal: AbortSignal,
  ): Promise<DoneTask> {
    const { client, open } = this.#input;
    const { view, maxTurns, timeoutMs } = comparison.options;
    await using config = await open(comparison, setup, principal);
    return await runTask(client, { task, config, view, maxTurns, timeoutMs, signal });
  }

  #isOurs({ status, owner }: TaskComparison): boolean {
    return status === "running" && owner === this.#input.owner;
  }

  /** Throws Stopped unless this gateway works on it; others may change that by writing its record. */
  async #change(
    id: string,
    change: { [Field in keyof TaskComparison]?: TaskComparison[Field] | undefined },
    { mayChange = (found: TaskComparison) => this.#isOurs(found) } = {},
  ): Promise<TaskComparison> {
    const { comparisons, onChange } = this.#input;
    for (let race = 0;; race++) {
      const { value, versionstamp } = await comparisons.resolve(id);
      if (!mayChange(value)) throw new Stopped();
      const { note, ...rest } = { ...value, ...change, updatedAt: new Date().toISOString() };
      const next = { ...rest, ...defined({ note }) } as TaskComparison;
      try {
        await comparisons.save(next, versionstamp);
        onChange(next);
        return next;
      } catch (error) {
        if (!isConflict(error) || race === MOST_RACES) throw error;
      }
    }
  }
}

const INTERRUPTED = "The gateway ended while it ran; the runs until then are kept";

/** One round after the other; who goes first in a round changes, as what is warm by then does. */
function* orderOf(
  tasks: readonly ComparedTask[],
  { repeats, setups }: ComparisonOptions,
): Generator<[number, ComparedTask, SetUp]> {
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const [index, task] of tasks.entries()) {
      const first = (repeat + index) % setups.length;
      for (const setup of [...setups.slice(first), ...setups.slice(0, first)]) {
        yield [repeat, task, setup];
      }
    }
  }
}
