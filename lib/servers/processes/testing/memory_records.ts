import type { ProcessRecord, ProcessRecords } from "../process_owner.ts";

export class MemoryRecords implements ProcessRecords {
  readonly #records: Map<string, ProcessRecord>;

  constructor(records: ProcessRecord[] = []) {
    this.#records = new Map(records.map((record) => [record.id, record]));
  }

  add(record: ProcessRecord): Promise<void> {
    this.#records.set(record.id, record);
    return Promise.resolve();
  }

  remove(id: string): Promise<void> {
    this.#records.delete(id);
    return Promise.resolve();
  }

  list(): Promise<ProcessRecord[]> {
    return Promise.resolve([...this.#records.values()]);
  }
}
