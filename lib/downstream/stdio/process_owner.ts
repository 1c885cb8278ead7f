import { endProcesses } from "./orphans.ts";
import { startTimeOf } from "./process_group.ts";
import type { ProcessRecord, ProcessRecords } from "./process_records.ts";

const MARKER_NAME = "QUARTERMASTER_OWNER";

export interface ProcessOwnerOptions {
  leaseId: string;
  host: string;
  records: ProcessRecords;
  /** A record that cannot be kept is no reason not to serve. */
  onWarning: (message: string, details: { error: unknown }) => void;
}

/**
 * Keeps account of the programs this gateway started, such that a kill at any moment leaves none
 * that cannot be found: the record with the marker is written before the program starts.
 */
export class ProcessOwner implements AsyncDisposable {
  readonly #options: ProcessOwnerOptions;

  constructor(options: ProcessOwnerOptions) {
    this.#options = options;
  }

  /** The variable that marks every program of this gateway, for their environment. */
  get markerEnv(): Record<string, string> {
    return { [MARKER_NAME]: this.#options.leaseId };
  }

  get marker(): string {
    return `${MARKER_NAME}=${this.#options.leaseId}`;
  }

  /** To be called before the program starts. */
  async announce(command: string): Promise<AnnouncedProcess> {
    const { leaseId, host } = this.#options;
    const record = { id: crypto.randomUUID(), leaseId, host, marker: this.marker, command };
    const announced = new AnnouncedProcess(record, this.#options);
    await announced.keep();
    return announced;
  }

  /** Ends what left its group and so outlived its link; call it when all links are closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await endProcesses([{ marker: this.marker }]);
  }
}

/** The record of one program: with its process once that runs, gone when disposed. */
export class AnnouncedProcess implements AsyncDisposable {
  readonly #record: ProcessRecord;
  readonly #options: Pick<ProcessOwnerOptions, "records" | "onWarning">;
  #kept: Promise<void> = Promise.resolve();

  constructor(
    record: ProcessRecord,
    options: Pick<ProcessOwnerOptions, "records" | "onWarning">,
  ) {
    this.#record = record;
    this.#options = options;
  }

  async keep(process: Pick<ProcessRecord, "pgid" | "startTime"> = {}): Promise<void> {
    const { records, onWarning } = this.#options;
    await records.add({ ...this.#record, ...process }).catch((error) => {
      onWarning(`Cannot record that "${this.#record.command}" runs`, { error });
    });
  }

  /** Adds to the record in the background: the marker suffices until then. */
  started(pgid: number): void {
    this.#kept = startTimeOf(pgid).then((startTime) => {
      if (startTime !== undefined) return this.keep({ pgid, startTime });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { records, onWarning } = this.#options;
    await this.#kept;
    await records.remove(this.#record.id).catch((error) => {
      onWarning(`Cannot record that "${this.#record.command}" has ended`, { error });
    });
  }
}
