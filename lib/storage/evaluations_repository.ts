import { Evaluation } from "../core/optimization.ts";
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

  /** An evaluation that goes on after a restart is saved over what it was. */
  async save(evaluation: Evaluation): Promise<void> {
    const key = keyOf(evaluation.server, evaluation.toolName, evaluation.id);
    await this.#store.commit({ sets: [{ key, value: evaluation }], announce: false });
  }

  /** Newest first. */
  async list(server: string, tool?: string): Promise<Evaluation[]> {
    const all = keys.evaluations(keyPart(server));
    const prefix = tool === undefined ? all : [...all, keyPart(tool)];
    const found = await Array.fromAsync(listParsed(this.#store, prefix, KIND));
    // Not by id: one that was begun before another may have ended after it.
    const order = ({ endedAt, id }: Evaluation) => new Date(endedAt).toISOString() + id;
    return found.sort((one, other) => order(one) < order(other) ? 1 : -1);
  }

  async find(server: string, tool: string, id: string): Promise<Evaluation | undefined> {
    return (await readParsed(this.#store, keyOf(server, tool, id), KIND))?.value;
  }
}

function keyOf(server: string, tool: string, id: string) {
  return keys.evaluation(keyPart(server), keyPart(tool), keyPart(id));
}
