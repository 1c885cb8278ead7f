import assert from "node:assert/strict";
import { ActivityRepository, emptyDay } from "../storage/activity_repository.ts";
import { Store } from "../storage/store.ts";
import { ActivityLog } from "./activity_log.ts";
import { PeerCalls } from "./peer_calls.ts";

const CALL = {
  endpoint: "mcp?",
  session: "s",
  principal: "everyone",
  server: "git",
  ms: 5,
  ok: true,
};

async function bench() {
  const stack = new AsyncDisposableStack();
  const store = stack.use(await Store.open({ location: ":memory:" }));
  const repository = new ActivityRepository(store);
  const log = stack.use(
    new ActivityLog({ repository, processId: "here", onWarning: assert.fail }),
  );
  const elsewhere = new PeerCalls({ repository, log });
  /** Writes calls as another process would. */
  const write = (tools: string[], at = Date.now()) =>
    repository.append(
      tools.map((tool, index) => ({ ...CALL, tool, at: at + index, id: `${at}-other-${tool}` })),
      emptyDay("2026-01-01"),
      "there",
    );
  const look = async (batches: number) =>
    (await elsewhere.look(batches)).map(({ tool }) => tool).join(" ");
  return { log, repository, write, look, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

Deno.test("CallsElsewhere.look() finds what others wrote, each once and in its order", async () => {
  await using test = await bench();
  test.log.record({ ...CALL, tool: "own" });
  await test.log.flush();
  const now = Date.now();
  await test.write(["c"], now + 20);
  await test.write(["a", "b"], now);
  assert.equal(await test.look(2), "a b c");
  await test.write(["d"], now + 5);
  assert.equal(await test.look(1), "d");
  assert.equal(await test.look(0), "");
});

Deno.test("CallsElsewhere.look() looks further back where less came than was said", async () => {
  await using test = await bench();
  await test.write(["late"], Date.now() - 60_000);
  assert.equal(await test.look(0), "");
  assert.equal(await test.look(1), "late");
  assert.equal(await test.look(1), "", "and not a second time");
});

Deno.test("CallsElsewhere.look() loses nothing where the store fails midway", async () => {
  await using test = await bench();
  const { repository } = test;
  const now = Date.now();
  await test.write(["a"], now);
  await test.write(["b"], now + 20);
  const batches = repository.batches.bind(repository);
  repository.batches = async function* (since) {
    for await (const batch of batches(since)) {
      yield batch;
      throw new Error("The store is away");
    }
  };
  await assert.rejects(test.look(2), /The store is away/);
  repository.batches = batches;
  assert.equal(await test.look(2), "a b");
});
