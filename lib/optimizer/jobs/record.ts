import { inTurn } from "../../core/async.ts";
import { defined } from "../../core/defined.ts";
import { GatewayError } from "../../core/errors.ts";
import type { EvalRun, JobTool, OptimizationJob } from "../../core/optimization.ts";
import { addCosts, spentBy } from "../cost.ts";
import type { JobsRepository } from "../../storage/jobs_repository.ts";
import type { Stored } from "../../storage/records.ts";
import type { JobContext } from "./run.ts";

const WRITE_REST_MS = 1_000;
const NOTIFY_REST_MS = 250;
/** Others change a record a few times in its life. */
const MOST_RACES = 20;

/** `lost`: another process works on it, or it is gone. */
export type StopReason = "paused" | "cancelled" | "lost";

interface JobRecordOptions {
  jobs: JobsRepository;
  stored: Stored<OptimizationJob>;
  owner: string;
  onChange(job: OptimizationJob): void;
  onStop(reason: StopReason): void;
  onWarning(message: string, details?: object): void;
}

type JobChange = (job: OptimizationJob) => OptimizationJob;

/** A job while this process works on it. Other processes stop it by writing into its record. */
export class JobRecord {
  readonly #options: JobRecordOptions;
  readonly #writes: Throttle;
  readonly #notifications: Throttle;
  #job: OptimizationJob;
  #versionstamp: string;
  #isLost = false;
  /** Each write needs the versionstamp of the one before. */
  readonly #inTurn = inTurn();

  constructor(options: JobRecordOptions) {
    this.#options = options;
    this.#job = options.stored.value;
    this.#versionstamp = options.stored.versionstamp;
    this.#notifications = new Throttle(NOTIFY_REST_MS, () => options.onChange(this.#job));
    this.#writes = new Throttle(WRITE_REST_MS, () => {
      this.#inTurn(() => this.#write()).catch((error) =>
        options.onWarning("Cannot save the progress of an optimization job", { error })
      );
    });
  }

  get job(): OptimizationJob {
    return this.#job;
  }

  progress(change: JobChange): void {
    this.#job = change(this.#job);
    this.#notifications.ask();
    this.#writes.ask();
  }

  async step(change: JobChange): Promise<void> {
    this.#job = change(this.#job);
    this.#notifications.now();
    this.#writes[Symbol.dispose]();
    await this.#inTurn(() => this.#write());
  }

  stepTool(index: number, change: Partial<JobTool>): Promise<void> {
    return this.step((job) => ({
      ...withTool(job, index, change),
      phase: change.phase === undefined || change.phase === "complete" ? job.phase : change.phase,
    }));
  }

  async check(): Promise<void> {
    await this.#inTurn(() => this.#reread());
  }

  async end(change: JobChange): Promise<void> {
    this.#job = ownerless(change(this.#job));
    this[Symbol.dispose]();
    await this.#inTurn(() => this.#write());
    // After it, so that whoever is told can go on with it at once.
    if (!this.#isLost) this.#options.onChange(this.#job);
  }

  [Symbol.dispose](): void {
    this.#writes[Symbol.dispose]();
    this.#notifications[Symbol.dispose]();
  }

  async #write(): Promise<void> {
    for (let race = 0; race < MOST_RACES && !this.#isLost; race++) {
      const job = { ...this.#job, updatedAt: new Date().toISOString() };
      try {
        this.#versionstamp = await this.#options.jobs.save(job, this.#versionstamp);
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
        await this.#reread();
      }
    }
    if (!this.#isLost) throw new GatewayError("CONFLICT");
  }

  async #reread(): Promise<void> {
    const found = await this.#options.jobs.find(this.#job.id);
    if (found?.value.owner !== this.#options.owner) {
      this.#isLost = true;
      this[Symbol.dispose]();
      this.#options.onStop("lost");
      return;
    }
    this.#versionstamp = found.versionstamp;
    const { status, note, endedAt } = found.value;
    if (status !== "paused" && status !== "cancelled") return;
    const isNews = this.#job.status !== status;
    const { note: _, endedAt: __, ...job } = this.#job;
    this.#job = { ...job, status, ...defined({ note, endedAt }) };
    if (isNews) this.#options.onStop(status);
  }
}

/** Acts at once when asked after a rest, else once when the rest is over. */
export class Throttle implements Disposable {
  readonly #restMs: number;
  readonly #act: () => void;
  #lastAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(restMs: number, act: () => void) {
    this.#restMs = restMs;
    this.#act = act;
  }

  ask(): void {
    if (this.#timer !== undefined) return;
    const left = this.#lastAt + this.#restMs - performance.now();
    if (left <= 0) return this.now();
    this.#timer = setTimeout(() => this.now(), left);
  }

  now(): void {
    this[Symbol.dispose]();
    this.#lastAt = performance.now();
    this.#act();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

export function ownerless({ owner: _, ...job }: OptimizationJob): OptimizationJob {
  return job;
}

export function isStorageError(error: unknown): boolean {
  return error instanceof GatewayError && error.code.startsWith("STORAGE_");
}

export function isConflict(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "CONFLICT";
}

/** Undefined if a run may begin; it then counts whatever becomes of this gateway. */
export async function takeRun(
  { budget, record }: Pick<JobContext, "budget" | "record">,
): Promise<string | undefined> {
  const refusal = budget.takeRun();
  if (refusal !== undefined || !budget.isLimited) return refusal;
  // Not if another gateway has taken over: the signal then aborts.
  const count = (job: OptimizationJob) => ({ ...job, begun: budget.begun });
  try {
    await record.step(count);
  } catch (error) {
    budget.returnRun();
    record.progress(count);
    throw error;
  }
}

/** With a run that has ended. */
export function countedRun(job: OptimizationJob, run: EvalRun): OptimizationJob {
  return {
    ...job,
    runs: job.runs + 1,
    errors: job.errors + (run.status === "error" ? 1 : 0),
    cost: addCosts(...spentBy(job), run.cost),
  };
}

export function withTool(
  job: OptimizationJob,
  index: number,
  change: Partial<JobTool>,
): OptimizationJob {
  return { ...job, tools: job.tools.with(index, { ...toolAt(job, index), ...change }) };
}

export function toolAt({ tools }: OptimizationJob, index: number): JobTool {
  const tool = tools[index];
  if (!tool) throw new RangeError(`The job has no tool ${index}`);
  return tool;
}
