import { GatewayError } from "../core/errors.ts";
import { Evaluation } from "../core/optimization.ts";
import { commitBatches } from "./commit_batches.ts";
import { keyPart } from "./key_part.ts";
import { keys } from "./keys.ts";
import { listParsed, readParsed } from "./parsed_records.ts";
import type { Store } from "./store.ts";

const KIND = { noun: "evaluation", schema: Evaluation };

/** What all descriptions of a tool came to, each time they were compared. */
export class EvaluationsRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Once, when it has ended. */
  async save(evaluation: Evaluation): Promise<void> {
    const { server, toolName, id } = evaluation;
    const key = keyOf(server, toolName, id);
    const saved = await this.#store.tryCommit({
      checks: [{ key, versionstamp: null }],
      sets: [{ key, value: evaluation }],
      announce: false,
    });
    if (saved !== undefined) return;
    throw new GatewayError("CONFLICT", {
      message: `There is an evaluation "${id}" of "${server}.${toolName}" already`,
      recoveryAction: "Save it under an id of its own",
    });
  }

  /** Newest first. */
  async list(server: string, tool?: string): Promise<Evaluation[]> {
    const all = keys.evaluations(keyPart(server));
    const prefix = tool === undefined ? all : [...all, keyPart(tool)];
    return newestFirst(await Array.fromAsync(listParsed(this.#store, prefix, KIND)));
  }

  /** Those of every server, as list() has them: one read for all of many servers. */
  async byServer(): Promise<Map<string, Evaluation[]>> {
    const all = await Array.fromAsync(listParsed(this.#store, keys.allEvaluations(), KIND));
    const grouped = Map.groupBy(all, ({ server }) => server);
    return new Map([...grouped].map(([server, own]) => [server, newestFirst(own)]));
  }

  /** Deletes all but the newest so many of each tool; answers how many went. */
  async prune({ mostPerTool }: { mostPerTool: number }): Promise<number> {
    const all = await Array.fromAsync(listParsed(this.#store, keys.allEvaluations(), KIND));
    const byTool = Map.groupBy(all, ({ server, toolName }) => JSON.stringify([server, toolName]));
    const deleted = [...byTool.values()].flatMap((own) => newestFirst(own).slice(mostPerTool))
      .map(({ server, toolName, id }) => keyOf(server, toolName, id));
    for (const deletes of commitBatches(deleted, (key) => key)) {
      await this.#store.commit({ deletes, announce: false });
    }
    return deleted.length;
  }

  async find(server: string, tool: string, id: string): Promise<Evaluation | undefined> {
    return (await readParsed(this.#store, keyOf(server, tool, id), KIND))?.value;
  }
}

/** Not by id: one that was begun before another may have ended after it. */
function newestFirst(evaluations: readonly Evaluation[]): Evaluation[] {
  const order = ({ endedAt, id }: Evaluation) => new Date(endedAt).toISOString() + id;
  return evaluations.toSorted((one, other) => order(one) < order(other) ? 1 : -1);
}

function keyOf(server: string, tool: string, id: string) {
  return keys.evaluation(keyPart(server), keyPart(tool), keyPart(id));
}
