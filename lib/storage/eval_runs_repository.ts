import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { EvalRun } from "../core/optimization.ts";
import { commitBatches } from "./commit_batches.ts";
import { keyPart } from "./key_part.ts";
import { keys, type RecordKey } from "./keys.ts";
import { listParsed } from "./parsed_records.ts";
import type { Store } from "./store.ts";

const KIND = { noun: "run of an evaluation", schema: EvalRun };
const Timed = z.object({ timestamp: z.iso.datetime() });

/** What came of each prompt that was put to a description. Ids sort by time. */
export class EvalRunsRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async save(run: EvalRun): Promise<void> {
    const key = keys.evalRun(keyPart(run.server), keyPart(run.toolName), keyPart(run.id));
    const saved = await this.#store.tryCommit({
      checks: [{ key, versionstamp: null }],
      sets: [{ key, value: run }],
      announce: false,
    });
    if (saved !== undefined) return;
    throw new GatewayError("CONFLICT", {
      message: `There is a run "${run.id}" of "${run.server}.${run.toolName}" already`,
      recoveryAction: "Save it under an id of its own",
    });
  }

  /** Oldest first. */
  async list(
    server: string,
    tool: string,
    filter: { evaluationId?: string; candidateId?: string } = {},
  ): Promise<EvalRun[]> {
    const prefix = keys.evalRuns(keyPart(server), keyPart(tool));
    const all = await Array.fromAsync(listParsed(this.#store, prefix, KIND));
    return all.filter(({ evaluationId, candidateId }) =>
      (filter.evaluationId ?? evaluationId) === evaluationId &&
      (filter.candidateId ?? candidateId) === candidateId
    );
  }

  /** The newest of all tools, newest first. */
  async recent(limit: number): Promise<EvalRun[]> {
    let runs: EvalRun[] = [];
    for (const { id, prefix } of await this.#tools()) {
      const oldest = runs.length < limit ? undefined : runs.at(-1)?.id;
      // Of this tool and those behind it, none is newer than what is already there.
      if (oldest !== undefined && id < oldest) break;
      for await (const run of listParsed(this.#store, prefix, KIND, { reverse: true, limit })) {
        if (oldest !== undefined && run.id < oldest) break;
        runs.push(run);
      }
      runs = runs.sort((one, other) => one.id < other.id ? 1 : -1).slice(0, limit);
    }
    return runs;
  }

  /** Deletes what is older than that, and all but the newest so many; answers how many went. */
  async prune(
    { olderThanMs, most }: { olderThanMs: number; most: number },
    now = Date.now(),
  ): Promise<number> {
    const runs: { key: RecordKey; at: number }[] = [];
    for await (const { key, value } of this.#store.list({ prefix: [...keys.allEvalRuns()] })) {
      const timed = Timed.safeParse(value);
      if (timed.success) runs.push({ key, at: Date.parse(timed.data.timestamp) });
    }
    const deleted = runs.sort((one, other) => other.at - one.at)
      .filter(({ at }, index) => index >= most || at < now - olderThanMs);
    for (const batch of commitBatches(deleted, ({ key }) => key)) {
      await this.#store.commit({ deletes: batch.map(({ key }) => key), announce: false });
    }
    return deleted.length;
  }

  /** Each tool that has runs, with its newest run's id; that of the newest run first. */
  async #tools(): Promise<{ prefix: RecordKey; id: string }[]> {
    const tools: { prefix: RecordKey; id: string }[] = [];
    // From tool to tool, not from run to run: there may be thousands of each tool's.
    for (let last = await this.#lastKey(); last; last = await this.#lastKey(last.slice(0, -1))) {
      tools.push({ prefix: last.slice(0, -1), id: String(last.at(-1)) });
    }
    return tools.sort((one, other) => one.id < other.id ? 1 : -1);
  }
  async #lastKey(before?: RecordKey): Promise<RecordKey | undefined> {
    const prefix = [...keys.allEvalRuns()];
    const selector = before === undefined ? { prefix } : { prefix, end: [...before] };
    const last = this.#store.list(selector, { reverse: true, limit: 1 });
    for await (const { key } of last) return key;
  }
}
