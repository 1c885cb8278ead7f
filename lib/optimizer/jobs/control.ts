import { setTimeout as sleep } from "node:timers/promises";
import { defined } from "../../core/defined.ts";
import { GatewayError } from "../../core/errors.ts";
import type { OptimizationJob } from "../../core/optimization.ts";
import type { Stored } from "../../storage/records.ts";
import type { JobsOptions } from "./run.ts";
import { isConflict, ownerless } from "./record.ts";
import type { SelectedTool } from "./selection.ts";

/** Whoever works on a job writes into its record about once a second. */
const MOST_RACES = 50;
const POLL_MS = 100;
const LET_GO_MS = 10_000;

/** Jobs that run are among these: each is the newest when it begins, and ends or waits. */
export const RECENT = { reverse: true, limit: 200 };

export type JobControl = "pause" | "cancel";

export class JobControls {
  readonly #options: JobsOptions;
  readonly #isDropped: (id: string) => boolean;

  constructor(options: JobsOptions, isDropped: (id: string) => boolean) {
    this.#options = options;
    this.#isDropped = isDropped;
  }

  async resolve(id: string): Promise<Stored<OptimizationJob>> {
    const found = await this.#options.jobs.find(id);
    if (found) return found;
    throw new GatewayError("NOT_FOUND", {
      message: `There is no optimization job "${id}"`,
      recoveryAction: "Use the ID returned when the job was started, or list the jobs",
    });
  }

  async stop(id: string, control: JobControl, note?: string): Promise<OptimizationJob> {
    for (let race = 0; race < MOST_RACES; race++) {
      const stored = await this.resolve(id);
      const { status } = stored.value;
      const wanted = control === "pause" ? "paused" : "cancelled";
      if (status === wanted) return stored.value;
      if (status !== "running" && !(control === "cancel" && status === "paused")) {
        throw new GatewayError("CONFLICT", {
          message: `Cannot ${control} job "${id}": it is already ${status}`,
          recoveryAction: "No action is needed",
        });
      }
      const { note: _, ...job } = stored.value;
      const updatedAt = new Date().toISOString();
      const endedAt = control === "cancel" ? updatedAt : undefined;
      const stopped = { ...job, status: wanted, updatedAt, ...defined({ endedAt, note }) } as const;
      const next = await this.isAbandoned(job) ? ownerless(stopped) : stopped;
      if (await this.#save(next, stored.versionstamp) !== undefined) return next;
    }
    throw busy(id);
  }

  async claimPaused(id: string): Promise<Stored<OptimizationJob> | undefined> {
    const { signal } = this.#options;
    const until = performance.now() + LET_GO_MS;
    while (performance.now() < until) {
      const stored = await this.resolve(id);
      const { note: _, ...job } = stored.value;
      if (job.status === "running") return undefined;
      if (job.status !== "paused") {
        throw new GatewayError("CONFLICT", {
          message: `Cannot resume job "${id}": it is already ${job.status}`,
          recoveryAction: "Start a new job",
        });
      }
      // Its runs are still being stopped: two processes must not work on it.
      if (await this.isAbandoned(job)) {
        await this.refuseBusy(job.tools.map((tool) => ({ ...tool, tool: tool.toolName })), id);
        const value: OptimizationJob = { ...job, status: "running" };
        const claimed = await this.claim({ ...stored, value });
        if (claimed) return claimed;
      }
      await sleep(POLL_MS, undefined, { signal });
    }
    throw busy(id);
  }

  async claim(stored: Stored<OptimizationJob>): Promise<Stored<OptimizationJob> | undefined> {
    const value = { ...stored.value, owner: this.#options.owner };
    const versionstamp = await this.#save(value, stored.versionstamp);
    return versionstamp === undefined ? undefined : { value, versionstamp };
  }

  async isAbandoned({ id, owner }: OptimizationJob): Promise<boolean> {
    if (owner === undefined) return true;
    // A process knows best what it does itself; its record may be about to say so.
    if (owner === this.#options.owner) return this.#isDropped(id);
    return !await this.#options.isOwnerAlive(owner);
  }

  /** One job at a time works on a tool. */
  async refuseBusy(tools: readonly SelectedTool[], except?: string): Promise<void> {
    const names = new Set(tools.map(({ server, tool }) => `${server}.${tool}`));
    for await (const { value: job } of this.#options.jobs.list(RECENT)) {
      if (job.status !== "running" || job.id === except) continue;
      const taken = job.tools.find(({ server, toolName, phase }) =>
        phase !== "complete" && names.has(`${server}.${toolName}`)
      );
      if (!taken) continue;
      throw new GatewayError("OPERATION_IN_PROGRESS", {
        message: `Cannot optimize "${taken.server}.${taken.toolName}": ` +
          `job "${job.id}" is already working on it`,
        recoveryAction: "Wait for that job to end, or cancel it",
      });
    }
  }

  async #save(job: OptimizationJob, versionstamp: string): Promise<string | undefined> {
    try {
      return await this.#options.jobs.save(job, versionstamp);
    } catch (error) {
      if (isConflict(error)) return undefined;
      throw error;
    }
  }
}

function busy(id: string): GatewayError {
  return new GatewayError("OPERATION_IN_PROGRESS", {
    message: `Cannot change job "${id}": another request is still stopping or changing it`,
    recoveryAction: "Try again in a moment",
  });
}
