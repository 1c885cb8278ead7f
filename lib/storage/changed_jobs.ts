import type { OptimizationJob } from "../core/optimization.ts";
import type { JobsRepository } from "./optimization_jobs_repository.ts";

/** One that changes is among the newest. */
const MOST_JOBS = 20;
/** What was longer ago is no news to somebody who has just opened a page. */
const JUST_MS = 10_000;

/** What other processes have changed. */
export interface JobChanges {
  /** Changed just now. */
  jobs: OptimizationJob[];
  /** Whether others were, or may have been, before that. */
  hasEarlier: boolean;
}

/** Finds the optimization jobs that other processes have changed since the last look. */
export class ChangedJobs {
  readonly #jobs: JobsRepository;
  readonly #owner: string;
  #known: Map<string, string> | undefined;

  constructor(jobs: JobsRepository, owner: string) {
    this.#jobs = jobs;
    this.#owner = owner;
  }

  async look(): Promise<JobChanges> {
    const found = await Array.fromAsync(this.#jobs.list({ reverse: true, limit: MOST_JOBS }));
    const before = this.#known;
    this.#known = new Map(found.map(({ value, versionstamp }) => [value.id, versionstamp]));
    const changed = found.filter(({ value, versionstamp }) =>
      value.owner !== this.#owner && before?.get(value.id) !== versionstamp
    );
    const since = Date.now() - JUST_MS;
    const jobs = changed.map(({ value }) => value)
      .filter(({ updatedAt }) => Date.parse(updatedAt) >= since);
    return { jobs, hasEarlier: before === undefined || jobs.length < changed.length };
  }
}
