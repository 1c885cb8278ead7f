/** One program that was started, for whoever must end it should its owner be killed. */
export interface ProcessRecord {
  id: string;
  /** The lease of the gateway that started it. */
  leaseId: string;
  /** The machine it runs on: nobody else can end it. */
  host: string;
  /** The `NAME=value` in its environment, and in that of all it starts. */
  marker: string;
  /** Its name without arguments, which may hold secrets. */
  command: string;
  /** Missing until it runs: the record is written first. */
  pgid?: number | undefined;
  startTime?: string | undefined;
}

/** Where the records are kept, so that the next gateway finds them. */
export interface ProcessRecords {
  /** Writes the record, in place of the one with the same id. */
  add(record: ProcessRecord): Promise<void>;
  remove(id: string): Promise<void>;
  list(): Promise<ProcessRecord[]>;
}
