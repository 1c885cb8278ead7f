import { OptimizationJob } from "../core/optimization.ts";
import { Collection } from "./collection.ts";
import { keyPart } from "./key_part.ts";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

/** What is being optimized and how far it is, so that another process can go on with it. */
export class JobsRepository extends Collection<OptimizationJob> {
  constructor(store: Store) {
    super(store, {
      noun: "optimization job",
      prefix: keys.optimizationJobs(),
      key: (id) => keys.optimizationJob(keyPart(id)),
      schema: OptimizationJob,
      idOf: ({ id }) => id,
      // Its progress changes many times a minute: news for whoever shows it, and for nobody else.
      announce: false,
      news: "jobs",
    });
  }

  /** Deletes those that have ended but for the newest so many; answers how many went. */
  async prune({ mostEnded }: { mostEnded: number }): Promise<number> {
    const ended: string[] = [];
    for await (const { value: { id, status } } of this.list({ reverse: true })) {
      if (status !== "running" && status !== "paused") ended.push(id);
    }
    const deleted = ended.slice(mostEnded);
    for (const id of deleted) await this.delete(id);
    return deleted.length;
  }
}
