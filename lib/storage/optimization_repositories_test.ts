import assert from "node:assert/strict";
import {
  type EvalRun,
  type Evaluation,
  type GoldenPrompt,
  newId,
  type ToolCandidate,
} from "../core/optimization.ts";
import {
  CandidatesRepository,
  EvalRunsRepository,
  EvaluationsRepository,
  GoldenPromptsRepository,
} from "./optimization_repositories.ts";
import { keys } from "./keys.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";
import { evaluationSample, promptSample, runSample } from "./testing/optimization_samples.ts";

function candidate(id: string, toolName = "status", server = "git"): ToolCandidate {
  const description = `Description of ${id}`;
  return {
    id,
    server,
    toolName,
    description,
    charCount: description.length,
    createdAt: "2026-01-01T00:00:00.000Z",
    origin: "person",
  };
}

Deno.test("CandidatesRepository.list() has those of a server or a tool, oldest first", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new CandidatesRepository(store);
  const [first, second, third] = [1, 2, 3].map((time) => newId("candidate", time));
  await repository.save(candidate(third!));
  await repository.save(candidate(second!, "log"));
  await repository.save(candidate(first!));
  await repository.save(candidate(first!, "status", "git2"));
  const ids = (list: ToolCandidate[]) => list.map(({ id }) => id);
  assert.deepEqual(ids(await repository.list("git")), [first, second, third]);
  assert.deepEqual(ids(await repository.list("git", "status")), [first, third]);
  assert.deepEqual(await repository.list("hub"), []);
  const all = await repository.byServer();
  assert.deepEqual([...all.keys()], ["git", "git2"]);
  for (const [server, own] of all) assert.deepEqual(own, await repository.list(server));
  assert.deepEqual(await repository.find("git", first!), candidate(first!));
  assert.equal(await store.generation(), 0n, "it is nobody's news");
});

Deno.test("CandidatesRepository.save() never overwrites", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new CandidatesRepository(store);
  await repository.save(candidate("c1"));
  const error = await failure(repository.save(candidate("c1", "log")), "CONFLICT");
  assert.equal(error.message, 'The candidate "git.c1" already exists');
  assert.deepEqual(await repository.list("git"), [candidate("c1")]);
});

Deno.test("CandidatesRepository.resolve() says what is missing, however long its name", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new CandidatesRepository(store);
  const error = await failure(repository.resolve("git", "c1"), "NOT_FOUND");
  assert.equal(error.message, 'There is no candidate "c1" for server "git"');
  await failure(repository.resolve("git".repeat(3_000), "c".repeat(3_000)), "NOT_FOUND");
  await repository.save(candidate("c1"));
  assert.deepEqual(await repository.resolve("git", "c1"), candidate("c1"));
});

Deno.test("CandidatesRepository leaves out what it cannot read, and says so", async () => {
  const warnings: string[] = [];
  await using store = await Store.open({
    location: ":memory:",
    onWarning: (message) => warnings.push(message),
  });
  const repository = new CandidatesRepository(store);
  await repository.save(candidate("c1"));
  const broken = { ...candidate("c2"), description: "x".repeat(281) };
  await store.commit({ sets: [{ key: keys.candidates("git", "c2"), value: broken }] });
  assert.deepEqual(await repository.list("git"), [candidate("c1")]);
  assert.deepEqual(warnings, ["Skipped an unreadable candidate"]);
  await failure(repository.find("git", "c2"), "STORAGE_CORRUPT");
});

const names = (prompts: GoldenPrompt[]) => prompts.map(({ id, version }) => `${id}/${version}`);

Deno.test("GoldenPromptsRepository.list() has the newest version of what is still asked", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new GoldenPromptsRepository(store);
  await repository.save(["a", "b", "c"].map((id) => promptSample({ id })));
  await repository.save([promptSample({ id: "d", toolName: "log" })]);
  for (let version = 2; version <= 11; version++) {
    await repository.save([promptSample({ id: "a", version })]);
  }
  await repository.save([promptSample({ id: "b", version: 2, retired: true })]);
  assert.deepEqual(names(await repository.list("git")), ["a/11", "c/1", "d/1"]);
  assert.deepEqual(names(await repository.list("git", "status")), ["a/11", "c/1"]);
  assert.equal((await repository.all("git")).length, 15);
  assert.deepEqual(names(await repository.all("git", "log")), ["d/1"]);
  assert.deepEqual(await repository.list("git2"), []);
  const all = await repository.byServer();
  assert.deepEqual([...all.keys()], ["git"]);
  assert.deepEqual(all.get("git"), await repository.list("git"));
  assert.equal(await store.generation(), 0n, "it is nobody's news");
});

Deno.test("GoldenPromptsRepository.find() returns the newest version by default", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new GoldenPromptsRepository(store);
  const first = promptSample();
  const second = promptSample({ version: 2, prompt: "Show what I have changed" });
  await repository.save([first, second]);
  assert.deepEqual(await repository.find("git", first.id), second);
  assert.deepEqual(await repository.find("git", first.id, 1), first);
  assert.equal(await repository.find("git", first.id, 3), undefined);
  assert.equal(await repository.find("git", "p".repeat(5_000)), undefined);
});

Deno.test("GoldenPromptsRepository.save() saves none where a version exists", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new GoldenPromptsRepository(store);
  await repository.save([promptSample({ id: "b" })]);
  const error = await failure(
    repository.save(["a", "b", "c"].map((id) => promptSample({ id, prompt: "Another text" }))),
    "CONFLICT",
  );
  assert.equal(error.message, 'Cannot save golden prompt "b": version 1 already exists');
  await failure(repository.save([promptSample(), promptSample()]), "CONFLICT");
  assert.deepEqual(await repository.all("git"), [promptSample({ id: "b" })]);
});

Deno.test("GoldenPromptsRepository.save() lets one of two edits through", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new GoldenPromptsRepository(store);
  await repository.save([promptSample()]);
  const edits = ["One person's words", "Another's words"].map((prompt) =>
    repository.save([promptSample({ version: 2, prompt })])
  );
  const outcomes = await Promise.allSettled(edits);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
});

Deno.test("GoldenPromptsRepository.save() takes more than one commit can", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new GoldenPromptsRepository(store);
  const prompt = "数".repeat(4_000);
  const ids = Array.from({ length: 150 }, (_, n) => `p${1_000 + n}`);
  await repository.save(ids.map((id) => promptSample({ id, prompt })));
  await repository.save(ids.map((id) => promptSample({ id, prompt, version: 2 })));
  assert.deepEqual(names(await repository.list("git")), ids.map((id) => `${id}/2`));
});

/** A run at a time of its own. */
function runAt(time: number, changed: Partial<EvalRun> = {}): EvalRun {
  const timestamp = new Date(time).toISOString();
  return runSample({ id: newId("run", time), timestamp, ...changed });
}

const times = (runs: EvalRun[]) => runs.map(({ timestamp }) => Date.parse(timestamp));

Deno.test("EvalRunsRepository.list() has a tool's runs, oldest first, all or some", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvalRunsRepository(store);
  await repository.save(runAt(3, { evaluationId: "e1", candidateId: "c1" }));
  await repository.save(runAt(1, { evaluationId: "e1" }));
  await repository.save(runAt(2, { candidateId: "c1" }));
  await repository.save(runAt(4, { toolName: "log" }));
  const list = async (filter?: { evaluationId?: string; candidateId?: string }) =>
    times(await repository.list("git", "status", filter));
  assert.deepEqual(await list(), [1, 2, 3]);
  assert.deepEqual(await list({ evaluationId: "e1" }), [1, 3]);
  assert.deepEqual(await list({ candidateId: "c1" }), [2, 3]);
  assert.deepEqual(await list({ evaluationId: "e1", candidateId: "c1" }), [3]);
  assert.equal(await store.generation(), 0n, "it is nobody's news");
});

Deno.test("EvalRunsRepository keeps apart tools whose names are too long for a key", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvalRunsRepository(store);
  const [one, other] = ["a", "b"].map((end) => "t".repeat(5_000) + end);
  await repository.save(runAt(1, { toolName: one! }));
  await repository.save(runAt(2, { toolName: other! }));
  assert.deepEqual(times(await repository.list("git", one!)), [1]);
  assert.deepEqual(times(await repository.list("git", other!)), [2]);
  assert.deepEqual(times(await repository.recent(5)), [2, 1]);
});

Deno.test("EvalRunsRepository.save() never overwrites", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvalRunsRepository(store);
  await repository.save(runSample());
  await failure(repository.save(runSample({ candidateId: "c1" })), "CONFLICT");
  assert.deepEqual(await repository.list("git", "status"), [runSample()]);
});

Deno.test("EvalRunsRepository.recent() has the newest of all tools", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvalRunsRepository(store);
  assert.deepEqual(await repository.recent(3), []);
  for (let time = 1; time <= 30; time++) {
    const where = { server: time % 2 ? "git" : "hub", toolName: `tool-${time % 3}` };
    await repository.save(runAt(time, where));
  }
  await repository.save(runAt(31, { toolName: "alone" }));
  assert.deepEqual(times(await repository.recent(5)), [31, 30, 29, 28, 27]);
  assert.equal((await repository.recent(1_000)).length, 31);
});

Deno.test("EvalRunsRepository.prune() deletes by age and by number, whatever the tool", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvalRunsRepository(store);
  for (let time = 1; time <= 10; time++) {
    await repository.save(runAt(time, { toolName: time % 2 ? "z" : "a" }));
  }
  const most = 1_000;
  assert.equal(await repository.prune({ olderThanMs: 50, most }, 50), 0);
  assert.equal(await repository.prune({ olderThanMs: 47, most }, 50), 2);
  assert.deepEqual(times(await repository.recent(20)), [10, 9, 8, 7, 6, 5, 4, 3]);
  assert.equal(await repository.prune({ olderThanMs: 50, most: 3 }, 50), 5);
  assert.deepEqual(times(await repository.recent(20)), [10, 9, 8]);
});

const ids = (evaluations: Evaluation[]) => evaluations.map(({ id }) => id);

Deno.test("EvaluationsRepository.list() has what ended last first, of a server or a tool", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvaluationsRepository(store);
  await repository.save(evaluationSample({ id: "e1", endedAt: "2026-01-03T00:00:00Z" }));
  await repository.save(evaluationSample({ id: "e2", endedAt: "2026-01-01T00:00:00.000Z" }));
  await repository.save(
    evaluationSample({ id: "e3", toolName: "log", endedAt: "2026-01-02T00:00:00.000Z" }),
  );
  await repository.save(evaluationSample({ id: "e4", server: "hub" }));
  assert.deepEqual(ids(await repository.list("git")), ["e1", "e3", "e2"]);
  assert.deepEqual(ids(await repository.list("git", "status")), ["e1", "e2"]);
  assert.deepEqual(await repository.list("git", "stat"), []);
  const all = await repository.byServer();
  assert.deepEqual([...all.keys()], ["git", "hub"]);
  assert.deepEqual(ids(all.get("git") ?? []), ["e1", "e3", "e2"]);
  assert.equal(await store.generation(), 0n, "it is nobody's news");
});

Deno.test("EvaluationsRepository.save() overwrites nothing", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvaluationsRepository(store);
  await repository.save(evaluationSample({ runs: 1 }));
  await failure(repository.save(evaluationSample({ runs: 2 })), "CONFLICT");
  assert.deepEqual(
    await repository.find("git", "status", "evaluation-1"),
    evaluationSample({ runs: 1 }),
  );
  assert.equal((await repository.list("git")).length, 1);
  assert.equal(await repository.find("git", "status", "e".repeat(5_000)), undefined);
});

Deno.test("EvaluationsRepository.saveWith() overwrites no version of a prompt, however many", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const [evaluations, prompts] = [
    new EvaluationsRepository(store),
    new GoldenPromptsRepository(store),
  ];
  const edit = promptSample({ id: "prompt-14", version: 2, prompt: "Somebody else's" });
  await prompts.save([edit]);
  const imported = Array.from(
    { length: 15 },
    (_, nth) => promptSample({ id: `prompt-${nth}`, version: 2, prompt: `Imported ${nth}` }),
  );
  const rest = { candidates: [candidate("c1")], evaluations: [evaluationSample()] };
  await failure(evaluations.saveWith({ prompts: imported, ...rest }), "CONFLICT");
  assert.deepEqual(await prompts.find("git", "prompt-14"), edit);
  assert.deepEqual(await evaluations.list("git"), []);
  await evaluations.saveWith({ prompts: imported.slice(10, 14), ...rest });
  assert.deepEqual(await prompts.find("git", "prompt-13"), imported[13]);
  assert.deepEqual(ids(await evaluations.list("git")), ["evaluation-1"]);
});

Deno.test("EvaluationsRepository.prune() keeps the newest of each tool", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvaluationsRepository(store);
  for (const [index, id] of ["e3", "e1", "e2"].entries()) {
    await repository.save(evaluationSample({ id, endedAt: `2026-01-0${index + 1}T00:00:00.000Z` }));
  }
  await repository.save(evaluationSample({ id: "other", toolName: "log" }));
  await repository.save(evaluationSample({ id: "else", server: "hub" }));
  const limits = { mostPerTool: 2, testsForMs: 0 };
  assert.equal(await repository.prune(limits), 1);
  assert.deepEqual(ids(await repository.list("git", "status")), ["e2", "e1"]);
  assert.deepEqual(ids(await repository.list("git", "log")), ["other"]);
  assert.deepEqual(ids(await repository.list("hub")), ["else"]);
  assert.equal(await repository.prune(limits), 0);
});

Deno.test("EvaluationsRepository.prune() forgets no test that the year's error probability counts", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvaluationsRepository(store);
  const day = (nth: number) => `2026-01-${String(nth).padStart(2, "0")}T00:00:00.000Z`;
  const test = { depth: "thorough" as const, runs: 60 };
  await repository.save(evaluationSample({ ...test, id: "old", endedAt: day(1) }));
  await repository.save(evaluationSample({ ...test, id: "test", endedAt: day(8) }));
  await repository.save(evaluationSample({ ...test, id: "void", endedAt: day(8), void: "why" }));
  for (let nth = 10; nth < 20; nth++) {
    await repository.save(evaluationSample({ id: `check-${nth}`, runs: 15, endedAt: day(nth) }));
  }
  const limits = { mostPerTool: 3, testsForMs: 14 * 86_400_000 };
  const tests = async () =>
    (await repository.tests("git", "status")).map(({ id, endedAt }) => [id, endedAt]);
  await repository.prune(limits, Date.parse(day(20)));
  assert.deepEqual(ids(await repository.list("git")), ["check-19", "check-18", "check-17"]);
  assert.deepEqual(await tests(), [["test", day(8)]]);
  assert.deepEqual(await repository.tests("git"), await repository.tests("git", "status"));
  assert.deepEqual(await repository.tests("hub"), []);
  await repository.prune(limits, Date.parse(day(23)));
  assert.deepEqual(await tests(), []);
});
