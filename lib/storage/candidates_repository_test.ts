import assert from "node:assert/strict";
import { newId, type ToolCandidate } from "../core/optimization.ts";
import { CandidatesRepository } from "./candidates_repository.ts";
import { keys } from "./keys.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";

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
  assert.equal(error.message, 'There is a candidate "c1" for server "git" already');
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
  await store.commit({ sets: [{ key: keys.candidate("git", "c2"), value: broken }] });
  assert.deepEqual(await repository.list("git"), [candidate("c1")]);
  assert.deepEqual(warnings, ["A candidate cannot be read and is left out"]);
  await failure(repository.find("git", "c2"), "STORAGE_CORRUPT");
});
