import type { ProcessRecord } from "../../../storage/leases_repository.ts";
import type { ProcessRecords } from "../process_owner.ts";

export class MemoryRecords implements ProcessRecords {
  readonly #records: Map<string, ProcessRecord>;

  constructor(records: ProcessRecord[] = []) {
    this.#records = new Map(records.map((record) => [record.id, record]));
  }

  replace(record: ProcessRecord): Promise<void> {
    this.#records.set(record.id, record);
    return Promise.resolve();
  }

  delete(id: string): Promise<void> {
    this.#records.delete(id);
    return Promise.resolve();
  }

  values(): Promise<ProcessRecord[]> {
    return Promise.resolve([...this.#records.values()]);
  }
}
