import { z } from "zod";
import { Collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

/** One program a gateway started, so that the next one can end it should this one be killed. */
const ProcessEntry = z.strictObject({
  id: z.string(),
  leaseId: z.string(),
  host: z.string(),
  marker: z.string(),
  command: z.string(),
  pgid: z.int().optional(),
  startTime: z.string().optional(),
});
type ProcessEntry = z.infer<typeof ProcessEntry>;

export class ProcessesRepository {
  readonly #store: Store;
  readonly #entries: Collection<ProcessEntry>;

  constructor(store: Store) {
    this.#store = store;
    this.#entries = new Collection(store, {
      noun: "process",
      prefix: keys.processes(),
      key: keys.process,
      schema: ProcessEntry,
      idOf: ({ id }) => id,
      announce: false,
    });
  }

  /** Writes the record, in place of the one with the same id. */
  async add(record: ProcessEntry): Promise<void> {
    await this.#store.commit({
      sets: [{ key: keys.process(record.id), value: record }],
      announce: false,
    });
  }

  async remove(id: string): Promise<void> {
    await this.#entries.delete(id);
  }

  async list(): Promise<ProcessEntry[]> {
    return (await Array.fromAsync(this.#entries.list())).map(({ value }) => value);
  }
}
