import assert from "node:assert/strict";
import type { GoldenPrompt } from "../core/optimization.ts";
import { GoldenPromptsRepository } from "./golden_prompts_repository.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";
import { promptSample } from "./testing/optimization_samples.ts";

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

Deno.test("GoldenPromptsRepository.find() has the newest version unless told", async () => {
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
  assert.equal(error.message, 'Cannot save golden prompt "b": it has a version 1 already');
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
