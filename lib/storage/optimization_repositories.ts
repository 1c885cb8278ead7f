import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { EvalRun, Evaluation, GoldenPrompt, ToolCandidate } from "../core/optimization.ts";
import {
  type Collection,
  collection,
  commitBatches,
  deleteAll,
  Repository,
  setAll,
} from "./collection.ts";
import { type KeyPart, keys, type RecordKey } from "./keys.ts";
import type { Store } from "./store.ts";

/** One commit takes no more checks. */
const CHECKED_AT_ONCE = 10;
const Timed = z.object({ timestamp: z.iso.datetime() });

const Candidates = collection({
  noun: "candidate",
  key: keys.candidates,
  schema: ToolCandidate,
  idOf: ({ server, id }) => [server, id],
  announce: false,
});

const Prompts = collection({
  noun: "golden prompt",
  key: keys.goldenPrompts,
  schema: GoldenPrompt,
  idOf: ({ server, id, version }) => [server, id, version],
  announce: false,
});

const Runs = collection({
  noun: "evaluation run",
  key: keys.evalRuns,
  schema: EvalRun,
  idOf: ({ server, toolName, id }) => [server, toolName, id],
  announce: false,
});

const Evaluations = collection({
  noun: "evaluation",
  key: keys.evaluations,
  schema: Evaluation,
  idOf: ({ server, toolName, id }) => [server, toolName, id],
  announce: false,
});

const EndedTest = Evaluation.pick({ server: true, toolName: true, id: true, endedAt: true });
type EndedTest = z.infer<typeof EndedTest>;

const EndedTests = collection({
  noun: "ended test",
  key: keys.endedTests,
  schema: EndedTest,
  idOf: ({ server, toolName, id }) => [server, toolName, id],
  announce: false,
});

/** Records of tools that are added, and never changed. */
abstract class ToolRecords<T extends { server: string; toolName: string }> extends Repository {
  protected abstract readonly records: Collection<T, KeyPart[]>;

  /** In the order of list(), without those that it leaves out. */
  protected arranged(all: T[]): T[] {
    return all;
  }

  async list(server: string, tool?: string): Promise<T[]> {
    return ofTool(this.arranged(await this.records.values({ under: [server] })), tool);
  }

  /** What list() has of every server: one read for all of many servers. */
  async byServer(): Promise<Map<string, T[]>> {
    const grouped = Map.groupBy(await this.records.values(), ({ server }) => server);
    return new Map([...grouped].map(([server, own]) => [server, this.arranged(own)]));
  }
}

/** Descriptions that might be better than a server's own. */
export class CandidatesRepository extends ToolRecords<ToolCandidate> {
  protected readonly records = new Candidates(this.store);

  async save(candidate: ToolCandidate): Promise<void> {
    await this.records.save(candidate);
  }

  async find(server: string, id: string): Promise<ToolCandidate | undefined> {
    return (await this.records.find([server, id]))?.value;
  }

  async resolve(server: string, id: string): Promise<ToolCandidate> {
    const found = await this.find(server, id);
    if (found !== undefined) return found;
    throw new GatewayError("NOT_FOUND", {
      message: `There is no candidate "${id}" for server "${server}"`,
      recoveryAction: "Use the ID of a saved candidate",
      recoverySteps: [
        "Look up the IDs in the tool's results",
        "Or save the description as a candidate, which gives it an ID",
      ],
      suggestedTools: ["get_eval_results", "propose_candidate"],
    });
  }
}

/** Prompts that descriptions are tested with. Versions never change, so that old runs keep their meaning. */
export class GoldenPromptsRepository extends ToolRecords<GoldenPrompt> {
  protected readonly records = new Prompts(this.store);

  /** Adds versions; if one of them exists, none is saved. */
  async save(prompts: readonly GoldenPrompt[]): Promise<void> {
    const entries = prompts.map((value) => ({
      key: keys.goldenPrompts(value.server, value.id, value.version),
      value,
    }));
    const seen = new Set<string>();
    for (const { key, value } of entries) {
      const name = JSON.stringify(key);
      if (seen.has(name) || await this.store.read(key) !== undefined) throw promptConflict(value);
      seen.add(name);
    }
    await saveNew(this.store, entries);
  }

  /** The newest version of each that is not retired, oldest prompt first. */
  protected override arranged(versions: GoldenPrompt[]): GoldenPrompt[] {
    const newest = new Map(versions.map((prompt) => [prompt.id, prompt]));
    return [...newest.values()].filter(({ retired }) => !retired);
  }

  async all(server: string, tool?: string): Promise<GoldenPrompt[]> {
    return ofTool(await this.records.values({ under: [server] }), tool);
  }

  async find(server: string, id: string, version?: number): Promise<GoldenPrompt | undefined> {
    if (version !== undefined) return (await this.records.find([server, id, version]))?.value;
    return (await this.records.values({ under: [server, id], reverse: true, limit: 1 }))[0];
  }
}

/** What came of each prompt that was put to a description. Ids sort by time. */
export class EvalRunsRepository extends Repository {
  readonly #records = new Runs(this.store);

  async save(run: EvalRun): Promise<void> {
    await this.#records.save(run);
  }

  async list(
    server: string,
    tool: string,
    filter: { evaluationId?: string; candidateId?: string } = {},
  ): Promise<EvalRun[]> {
    const all = await this.#records.values({ under: [server, tool] });
    return all.filter(({ evaluationId, candidateId }) =>
      (filter.evaluationId ?? evaluationId) === evaluationId &&
      (filter.candidateId ?? candidateId) === candidateId
    );
  }

  async recent(limit: number): Promise<EvalRun[]> {
    let runs: EvalRun[] = [];
    for (const { id, prefix } of await this.#tools()) {
      const oldest = runs.length < limit ? undefined : runs.at(-1)?.id;
      // Of this tool and those behind it, none is newer than what is already there.
      if (oldest !== undefined && id < oldest) break;
      for await (const { value } of this.#records.list({ prefix, reverse: true, limit })) {
        if (oldest !== undefined && value.id < oldest) break;
        runs.push(value);
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
    for await (const { key, value } of this.store.list({ prefix: keys.evalRuns() })) {
      const timed = Timed.safeParse(value);
      if (timed.success) runs.push({ key, at: Date.parse(timed.data.timestamp) });
    }
    const deleted = runs.sort((one, other) => other.at - one.at)
      .filter(({ at }, index) => index >= most || at < now - olderThanMs);
    return await deleteAll(this.store, deleted.map(({ key }) => key));
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
    const prefix = keys.evalRuns();
    const selector = before === undefined ? { prefix } : { prefix, end: before };
    const last = this.store.list(selector, { reverse: true, limit: 1 });
    for await (const { key } of last) return key;
  }
}

/** What all descriptions of a tool came to, each time they were compared. */
export class EvaluationsRepository extends ToolRecords<Evaluation> {
  protected readonly records = new Evaluations(this.store);
  readonly #ended = new EndedTests(this.store);
  /** How many this process has saved. */
  saves = 0;

  async save(evaluation: Evaluation): Promise<void> {
    await this.records.save(evaluation);
    this.saves++;
  }

  /** In one commit, if one can hold and check them. */
  async saveWith({ prompts, candidates, evaluations }: {
    prompts: readonly GoldenPrompt[];
    candidates: readonly ToolCandidate[];
    evaluations: readonly Evaluation[];
  }): Promise<void> {
    const records = [
      ...prompts.map((value) => ({
        key: keys.goldenPrompts(value.server, value.id, value.version),
        value,
      })),
      ...candidates.map((value) => ({ key: keys.candidates(value.server, value.id), value })),
      ...evaluations.map((value) => ({
        key: keys.evaluations(value.server, value.toolName, value.id),
        value,
      })),
    ];
    await saveNew(this.store, records);
    this.saves += evaluations.length;
  }

  override async list(server: string, tool?: string): Promise<Evaluation[]> {
    const under = tool === undefined ? [server] : [server, tool];
    return this.arranged(await this.records.values({ under }));
  }

  /** Newest first. Not by id: one that was begun before another may have ended after it. */
  protected override arranged(evaluations: Evaluation[]): Evaluation[] {
    const order = ({ endedAt, id }: Evaluation) => new Date(endedAt).toISOString() + id;
    return evaluations.toSorted((one, other) => order(one) < order(other) ? 1 : -1);
  }

  /**
   * Those that could have promoted something, including deleted ones: they share an error probability.
   * Takes what list() has of the same server and tool, if that was read already.
   */
  async tests(
    server: string,
    tool?: string,
    listed: Evaluation[] | Promise<Evaluation[]> = this.list(server, tool),
  ): Promise<EndedTest[]> {
    const under = tool === undefined ? [server] : [server, tool];
    const kept = (await listed).filter(isTest);
    const all = [...await this.#ended.values({ under }), ...kept];
    // An evaluation can be in both lists: its time is saved just before it is deleted.
    return [...new Map(all.map((one) => [one.id, endedOf(one)])).values()];
  }

  /**
   * Deletes all but the newest so many of each tool; answers how many went. Of tests, the time is kept
   * for so long.
   */
  async prune(
    { mostPerTool, testsForMs }: { mostPerTool: number; testsForMs: number },
    now = Date.now(),
  ): Promise<number> {
    const byTool = Map.groupBy(
      await this.records.values(),
      ({ server, toolName }) => JSON.stringify([server, toolName]),
    );
    const deleted = [...byTool.values()].flatMap((own) => this.arranged(own).slice(mostPerTool));
    const isOld = ({ endedAt }: EndedTest) => Date.parse(endedAt) < now - testsForMs;
    const counted = deleted.filter((one) => isTest(one) && !isOld(one)).map(endedOf);
    await setAll(
      this.store,
      counted.map((value) => ({ key: endedKey(value), value })),
    );
    const old = (await this.#ended.values()).filter(isOld);
    await deleteAll(this.store, old.map(endedKey));
    return await deleteAll(
      this.store,
      deleted.map(({ server, toolName, id }) => keys.evaluations(server, toolName, id)),
    );
  }

  async find(server: string, tool: string, id: string): Promise<Evaluation | undefined> {
    return (await this.records.find([server, tool, id]))?.value;
  }
}

/** Whether it could have promoted something. */
export function isTest({ depth, runs, void: voided }: Evaluation): boolean {
  return depth === "thorough" && voided === undefined && runs > 0;
}

function endedOf({ server, toolName, id, endedAt }: EndedTest): EndedTest {
  return { server, toolName, id, endedAt };
}

function endedKey({ server, toolName, id }: EndedTest): RecordKey {
  return keys.endedTests(server, toolName, id);
}

function ofTool<T extends { toolName: string }>(all: T[], tool: string | undefined): T[] {
  return tool === undefined ? all : all.filter(({ toolName }) => toolName === tool);
}

interface NewRecord {
  key: RecordKey;
  value: GoldenPrompt | ToolCandidate | Evaluation;
}

/** If a version of a prompt exists, neither it nor what is committed with it is saved. */
async function saveNew(store: Store, records: readonly NewRecord[]): Promise<void> {
  for await (const sets of commitBatches(records)) {
    const later = sets.filter(isLaterVersion);
    const others = sets.filter((record) => !isLaterVersion(record));
    do {
      const checked = later.splice(0, CHECKED_AT_ONCE);
      const checks = checked.map(({ key }) => ({ key, versionstamp: null }));
      const batch = later.length === 0 ? [...checked, ...others] : checked;
      const saved = await store.tryCommit({ checks, sets: batch, announce: false });
      if (saved === undefined) throw promptConflict(checked[0]?.value);
    } while (later.length > 0);
  }
}

// A first version has an id that was made for it; a later one may be somebody else's, too.
function isLaterVersion(record: NewRecord): record is NewRecord & { value: GoldenPrompt } {
  return "version" in record.value && record.value.version > 1;
}

function promptConflict(prompt?: GoldenPrompt): GatewayError {
  return new GatewayError("CONFLICT", {
    message: `Cannot save golden prompt "${prompt?.id}": ` +
      `version ${prompt?.version} already exists`,
    recoveryAction: "Reload the prompts, then make the change again",
  });
}
