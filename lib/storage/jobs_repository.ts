import { OptimizationJob } from "../core/optimization.ts";
import { collection } from "./collection.ts";
import { keys } from "./keys.ts";

/** One that changes is among the newest. */
const MOST_CHANGED = 20;
/** What was longer ago is not news to somebody who has just opened a page. */
const JUST_MS = 10_000;

export class JobsRepository extends collection({
  noun: "optimization job",
  key: keys.optimizationJobs,
  schema: OptimizationJob,
  idOf: ({ id }) => id,
  // Progress changes many times a minute: only pages that show it need to know.
  announce: false,
  news: "jobs",
}) {
  /** Deletes those that have ended except the newest so many; answers how many went. */
  async prune({ mostEnded }: { mostEnded: number }): Promise<number> {
    const ended = (await this.values({ reverse: true }))
      .filter(({ status }) => status !== "running" && status !== "paused");
    const deleted = ended.slice(mostEnded);
    for (const { id } of deleted) await this.delete(id);
    return deleted.length;
  }
}

interface JobChanges {
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
    const found = await Array.fromAsync(this.#jobs.list({ reverse: true, limit: MOST_CHANGED }));
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
