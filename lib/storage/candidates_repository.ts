import { GatewayError } from "../core/errors.ts";
import { ToolCandidate } from "../core/optimization.ts";
import { keyPart } from "./key_part.ts";
import { keys } from "./keys.ts";
import { listParsed, readParsed } from "./parsed_records.ts";
import type { Store } from "./store.ts";

const KIND = { noun: "candidate", schema: ToolCandidate };

/** Descriptions that might be better than a server's own. They are added, never changed. */
export class CandidatesRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async save(candidate: ToolCandidate): Promise<void> {
    const key = keyOf(candidate.server, candidate.id);
    const saved = await this.#store.tryCommit({
      checks: [{ key, versionstamp: null }],
      sets: [{ key, value: candidate }],
      announce: false,
    });
    if (saved !== undefined) return;
    throw new GatewayError("CONFLICT", {
      message: `There is a candidate "${candidate.id}" for server "${candidate.server}" already`,
      recoveryAction: "Save it under an id of its own",
    });
  }

  /** Oldest first. */
  async list(server: string, tool?: string): Promise<ToolCandidate[]> {
    const all = await Array.fromAsync(
      listParsed(this.#store, keys.candidates(keyPart(server)), KIND),
    );
    return tool === undefined ? all : all.filter(({ toolName }) => toolName === tool);
  }

  /** Those of every server, as list() has them: one read for all of many servers. */
  async byServer(): Promise<Map<string, ToolCandidate[]>> {
    const all = await Array.fromAsync(listParsed(this.#store, keys.allCandidates(), KIND));
    return Map.groupBy(all, ({ server }) => server);
  }

  async find(server: string, id: string): Promise<ToolCandidate | undefined> {
    return (await readParsed(this.#store, keyOf(server, id), KIND))?.value;
  }

  async resolve(server: string, id: string): Promise<ToolCandidate> {
    const found = await this.find(server, id);
    if (found !== undefined) return found;
    throw new GatewayError("NOT_FOUND", {
      message: `There is no candidate "${id}" for server "${server}"`,
      recoveryAction: "Take the id from what propose_candidate or get_eval_results answered",
    });
  }
}

function keyOf(server: string, id: string) {
  return keys.candidate(keyPart(server), keyPart(id));
}
