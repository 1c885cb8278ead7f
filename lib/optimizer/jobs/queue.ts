import { settledWithin } from "../../core/async.ts";
import { GatewayError } from "../../core/errors.ts";
import type { JobEstimate } from "../../core/job_outcome.ts";
import { type JobOptions, JobTool, newId, OptimizationJob } from "../../core/optimization.ts";
import type { Stored } from "../../storage/records.ts";
import { type JobsOptions, runJob } from "./run.ts";
import { type JobControl, JobControls, RECENT } from "./control.ts";
import { estimateJob, readToolData } from "./estimate.ts";
import { isStorageError, JobRecord } from "./record.ts";
import {
  besideOf,
  isDecidedBySaved,
  type JobRequest,
  namedSurface,
  readJobOptions,
  refuseKnown,
  type SelectedTool,
  selectTools,
} from "./selection.ts";
import { checkAll, evaluatorsOf, refuseUnfit } from "./models.ts";
import { ModelQueue } from "./concurrency.ts";

const CHECK_MS = 500;
const POLL_MS = 200;
/** A process of an evaluator is killed within seconds. */
const STOP_LIMIT_MS = 20_000;
const MOST_RECENT = 1_000;
const SWITCHED_OFF = "Optimization is switched off";

interface Work {
  record: JobRecord;
  stopping: AbortController;
  done: Promise<void>;
}

/** Optimization of many tools in the background: kept in the store, so that it survives this process. */
export class OptimizationJobs implements AsyncDisposable {
  readonly #options: JobsOptions;
  readonly #models: ModelQueue;
  readonly #controls: JobControls;
  readonly #working = new Map<string, Work>();
  /** Jobs whose records still say that this process works on them, since they could not be written. */
  readonly #dropped = new Set<string>();
  #isClosed = false;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#models = new ModelQueue(options.concurrency);
    this.#controls = new JobControls(options, (id) => this.#dropped.has(id));
  }

  async estimate(request: JobRequest): Promise<JobEstimate> {
    const { targets, runs, concurrency } = this.#options;
    const tools = selectTools(targets, request);
    const options = this.#readOptions(request, tools);
    besideOf(targets, tools, options);
    const evaluators = await evaluatorsOf(this.#options, options.models).catch(() => []);
    const stock = await readToolData(this.#options, tools, options, evaluators);
    refuseKnown(stock, options);
    return estimateJob({
      options,
      tools: stock,
      recent: await runs.recent(MOST_RECENT),
      evaluators,
      concurrency,
    });
  }

  /** Resolves when the work has begun, not when it is done. */
  async start(request: JobRequest): Promise<OptimizationJob> {
    const { targets, candidates, owner, jobs } = this.#options;
    this.#refuseWhileOff();
    const tools = selectTools(targets, request);
    const options = this.#readOptions(request, tools);
    for (const id of options.candidateIds ?? []) {
      const [{ server, tool } = { server: "", tool: "" }] = tools;
      const { toolName } = await candidates.resolve(server, id);
      if (toolName !== tool) {
        throw new GatewayError("INVALID_ARGUMENTS", {
          message: `Cannot optimize "${server}.${tool}": candidate "${id}" is for "${toolName}"`,
        });
      }
    }
    // Better said at once than by a job that has failed.
    const beside = besideOf(targets, tools, options);
    const evaluators = await evaluatorsOf(this.#options, options.models);
    if (isDecidedBySaved(options)) {
      refuseKnown(await readToolData(this.#options, tools, options, evaluators), options);
    }
    await checkAll(evaluators);
    refuseUnfit(evaluators, options);
    await this.#controls.refuseBusy(tools);
    const now = new Date().toISOString();
    const job = OptimizationJob.parse({
      id: newId("job"),
      status: "running",
      phase: "queued",
      options,
      ...(beside === undefined ? {} : { beside }),
      tools: tools.map(({ server, tool }) => {
        const evaluationId = newId("evaluation");
        return JobTool.parse({ server, toolName: tool, phase: "queued", evaluationId });
      }),
      createdAt: now,
      updatedAt: now,
      owner,
      by: request.by,
    });
    const versionstamp = await jobs.save(job, null);
    try {
      // Again, now that others see this one: of two that start at once, none is unseen.
      await this.#controls.refuseBusy(tools, job.id);
    } catch (error) {
      await jobs.delete(job.id);
      throw error;
    }
    const { autoPromote, maxCostUsd } = options;
    this.#note("start", job, { tools: job.tools.length, autoPromote, maxCostUsd });
    this.#begin({ value: job, versionstamp });
    return job;
  }

  async get(id: string): Promise<OptimizationJob> {
    return this.#working.get(id)?.record.job ?? (await this.#controls.resolve(id)).value;
  }

  async list(limit = 50): Promise<OptimizationJob[]> {
    const stored = await Array.fromAsync(this.#options.jobs.list({ reverse: true, limit }));
    return stored.map(({ value }) => this.#working.get(value.id)?.record.job ?? value);
  }

  pause(id: string): Promise<OptimizationJob> {
    return this.#stop(id, "pause");
  }

  cancel(id: string): Promise<OptimizationJob> {
    return this.#stop(id, "cancel");
  }

  async resume(id: string): Promise<OptimizationJob> {
    this.#refuseWhileOff();
    const stored = await this.#controls.claimPaused(id);
    if (stored) {
      this.#note("resume", stored.value);
      this.#begin(stored);
    }
    return await this.get(id);
  }

  /** Resolves when the job has ended or waits for somebody, or after so long. */
  async wait(id: string, ms: number, signal: AbortSignal): Promise<OptimizationJob> {
    const until = performance.now() + ms;
    while (true) {
      signal.throwIfAborted();
      const job = await this.get(id);
      const left = until - performance.now();
      if (job.status !== "running" || left <= 0) return job;
      await settledWithin(this.#working.get(id)?.done, Math.min(POLL_MS, left), signal);
    }
  }

  /** Takes up jobs whose process is gone; called at start and now and then. */
  async takeOver(): Promise<void> {
    const { jobs, isEnabled, signal, onChange } = this.#options;
    for await (const stored of jobs.list(RECENT)) {
      if (this.#isClosed || signal.aborted) return;
      const { id, status } = stored.value;
      if (status !== "running" || !await this.#controls.isAbandoned(stored.value)) continue;
      if (!isEnabled()) {
        onChange(await this.#controls.stop(id, "pause", SWITCHED_OFF));
        continue;
      }
      const claimed = await this.#controls.claim(stored);
      if (claimed) this.#begin(claimed);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#working.values()];
    for (const { stopping } of all) stopping.abort(new Error("The gateway is stopping"));
    await Promise.all(all.map(({ done }) => done));
  }

  async #stop(id: string, control: JobControl): Promise<OptimizationJob> {
    const { status } = (await this.#controls.resolve(id)).value;
    const job = await this.#controls.stop(id, control);
    if (status !== job.status) this.#note(control, job);
    const work = this.#working.get(id);
    if (!work) {
      this.#options.onChange(job);
      return job;
    }
    await work.record.check();
    await settledWithin(work.done, STOP_LIMIT_MS);
    return await this.get(id);
  }

  #note(action: "start" | "resume" | JobControl, job: OptimizationJob, after: object = {}): void {
    const [first, ...others] = job.tools;
    const tool = first ? `${first.server}.${first.toolName}` : job.id;
    this.#options.onAudit?.({
      action: `optimization.${action}`,
      subject: others.length === 0 ? tool : `${tool} and ${others.length} more`,
      after: { job: job.id, ...after },
    });
  }

  #begin(stored: Stored<OptimizationJob>): void {
    const { jobs, owner, onChange, onWarning, signal } = this.#options;
    const stopping = new AbortController();
    const record = new JobRecord({
      jobs,
      stored,
      owner,
      onChange,
      onStop: (reason) => stopping.abort(new Error(`The job was ${reason}`)),
      onWarning,
    });
    const { id } = stored.value;
    const work: Work = { record, stopping, done: Promise.resolve() };
    this.#working.set(id, work);
    if (this.#isClosed) stopping.abort(new Error("The gateway is stopping"));
    onChange(stored.value);
    work.done = this.#work(record, AbortSignal.any([stopping.signal, signal]))
      .finally(() => this.#working.delete(id));
  }

  /** Never throws: there is nobody to catch it. */
  async #work(record: JobRecord, signal: AbortSignal): Promise<void> {
    const { id } = record.job;
    let checking: Promise<void> | undefined;
    const checks = setInterval(() => {
      checking ??= this.#check(record, signal).finally(() => checking = undefined);
    }, CHECK_MS);
    const end = await this.#endOf(record, signal);
    clearInterval(checks);
    await checking;
    try {
      // What somebody decided about the job in the meantime stands.
      await record.end((job) => job.status === "running" ? { ...job, ...end } : job);
      this.#dropped.delete(id);
    } catch (error) {
      this.#dropped.add(id);
      this.#options.onWarning("Cannot save the progress of an optimization job", { error });
    }
  }

  /** Nothing where somebody is to go on with it. */
  async #endOf(record: JobRecord, signal: AbortSignal): Promise<Partial<OptimizationJob>> {
    const ended = () => ({ endedAt: new Date().toISOString() });
    try {
      const end = await runJob(this.#options, { record, models: this.#models, signal });
      return { ...end, phase: "complete", ...ended() };
    } catch (error) {
      if (signal.aborted) return {};
      this.#options.onWarning("An optimization job stopped unexpectedly", { error });
      if (isStorageError(error)) return {};
      const note = error instanceof GatewayError
        ? error.message
        : "Internal gateway error; see the gateway's log";
      return { status: "failed", note, ...ended() };
    }
  }

  async #check(record: JobRecord, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    try {
      if (!this.#options.isEnabled()) {
        await this.#controls.stop(record.job.id, "pause", SWITCHED_OFF);
      }
      await record.check();
    } catch (error) {
      this.#options.onWarning("Cannot reload an optimization job", { error });
    }
  }

  /** With the models of today: after a restart it asks the same. */
  #readOptions(request: JobRequest, tools: readonly SelectedTool[]): JobOptions {
    const read = readJobOptions(request, tools);
    const { defaultModels: models, targets } = this.#options;
    const surface = namedSurface(read.surface, () => targets.equippedName(request.principal));
    const options = { ...read, surface };
    if (options.models !== undefined || models === undefined) return options;
    return { ...options, models: [...models] };
  }

  #refuseWhileOff(): void {
    if (this.#isClosed) {
      throw new GatewayError("OPTIMIZATION_DISABLED", { message: "The gateway is stopping" });
    }
    if (!this.#options.isEnabled()) throw new GatewayError("OPTIMIZATION_DISABLED");
  }
}
