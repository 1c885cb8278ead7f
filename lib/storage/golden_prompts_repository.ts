import { GatewayError } from "../core/errors.ts";
import { GoldenPrompt } from "../core/optimization.ts";
import { commitBatches } from "./commit_batches.ts";
import { keyPart } from "./key_part.ts";
import { keys, type RecordKey } from "./keys.ts";
import { listParsed, readParsed } from "./parsed_records.ts";
import type { Store } from "./store.ts";

const KIND = { noun: "golden prompt", schema: GoldenPrompt };
/** One commit takes no more checks. */
const CHECKED_AT_ONCE = 10;

interface Entry {
  key: RecordKey;
  value: GoldenPrompt;
}

/** What descriptions are tried with. Versions are never changed, so that old runs keep their meaning. */
export class GoldenPromptsRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Adds versions; where one of them exists, none is saved. */
  async save(prompts: readonly GoldenPrompt[]): Promise<void> {
    const entries = prompts.map((value) => ({
      key: keyOf(value.server, value.id, value.version),
      value,
    }));
    await this.#refuseExisting(entries);
    // A first version has an id that was made for it; a later one may be somebody else's, too.
    const later = entries.filter(({ value }) => value.version > 1);
    for (let start = 0; start < later.length; start += CHECKED_AT_ONCE) {
      const sets = later.slice(start, start + CHECKED_AT_ONCE);
      const saved = await this.#store.tryCommit({
        checks: sets.map(({ key }) => ({ key, versionstamp: null })),
        sets,
        announce: false,
      });
      if (saved === undefined) throw conflict(sets[0]?.value);
    }
    const first = entries.filter(({ value }) => value.version === 1);
    for (const sets of commitBatches(first, ({ key }) => key, bytesOf)) {
      await this.#store.commit({ sets, announce: false });
    }
  }

  /** The newest version of each that is still asked, oldest prompt first. */
  async list(server: string, tool?: string): Promise<GoldenPrompt[]> {
    return stillAsked(await this.all(server))
      .filter(({ toolName }) => tool === undefined || toolName === tool);
  }

  /** Those of every server, as list() has them: one read for all of many servers. */
  async byServer(): Promise<Map<string, GoldenPrompt[]>> {
    const all = await Array.fromAsync(listParsed(this.#store, keys.allGoldenPrompts(), KIND));
    const grouped = Map.groupBy(all, ({ server }) => server);
    return new Map([...grouped].map(([server, prompts]) => [server, stillAsked(prompts)]));
  }

  /** Every version of each, oldest prompt first. */
  async all(server: string, tool?: string): Promise<GoldenPrompt[]> {
    const all = await Array.fromAsync(
      listParsed(this.#store, keys.goldenPrompts(keyPart(server)), KIND),
    );
    return tool === undefined ? all : all.filter(({ toolName }) => toolName === tool);
  }

  /** The newest version, or the one that is named. */
  async find(server: string, id: string, version?: number): Promise<GoldenPrompt | undefined> {
    if (version !== undefined) {
      return (await readParsed(this.#store, keyOf(server, id, version), KIND))?.value;
    }
    const prefix = [...keys.goldenPrompts(keyPart(server)), keyPart(id)];
    const newest = listParsed(this.#store, prefix, KIND, { reverse: true, limit: 1 });
    return (await newest.next()).value ?? undefined;
  }

  async #refuseExisting(entries: readonly Entry[]): Promise<void> {
    const seen = new Set<string>();
    for (const { key, value } of entries) {
      const name = JSON.stringify(key);
      if (seen.has(name) || await this.#store.read(key) !== undefined) throw conflict(value);
      seen.add(name);
    }
  }
}

/** The newest version of each, where that is not retired. */
function stillAsked(versions: readonly GoldenPrompt[]): GoldenPrompt[] {
  const newest = new Map<string, GoldenPrompt>();
  for (const prompt of versions) newest.set(prompt.id, prompt);
  return [...newest.values()].filter(({ retired }) => !retired);
}

function keyOf(server: string, id: string, version: number) {
  return keys.goldenPrompt(keyPart(server), keyPart(id), version);
}

function conflict(prompt?: GoldenPrompt): GatewayError {
  return new GatewayError("CONFLICT", {
    message: `Cannot save golden prompt "${prompt?.id}": ` +
      `it has a version ${prompt?.version} already`,
    recoveryAction: "Load the prompts again and repeat the change",
  });
}

/** Nearly all that a record takes, were every character a long one. */
function bytesOf({ value }: Entry): number {
  const { prompt, toolName, expectedBehavior: { notes = "", expectedTool = "" } } = value;
  return 500 + 3 * (prompt.length + toolName.length + notes.length + expectedTool.length);
}
