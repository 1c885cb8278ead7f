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
      // Its progress changes many times a minute; whoever shows it asks.
      announce: false,
    });
  }
}
