import assert from "node:assert/strict";
import { ActivityRepository, emptyDay } from "./activity_repository.ts";
import { Store } from "./store.ts";

const CALL = {
  endpoint: "mcp?default",
  session: "s",
  principal: "p",
  server: "git",
  ms: 3,
  ok: true,
};

Deno.test("ActivityRepository reads records without ids, each under an id that finds it", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const day = emptyDay("2026-01-01");
  await repository.append([{ ...CALL, at: 1_000, tool: "a" }], day, "p");
  await repository.append(
    [{ ...CALL, at: 2_000, tool: "b" }, { ...CALL, at: 2_000, tool: "c" }],
    day,
    "p",
  );
  const calls = await Array.fromAsync(repository.recent(10));
  assert.deepEqual(calls.map(({ tool }) => tool), ["c", "b", "a"]);
  for (const call of calls) assert.deepEqual(await repository.find(call.id), call);
  const older = await Array.fromAsync(repository.recent(10, calls[0]!.id), ({ tool }) => tool);
  assert.deepEqual(older, ["b", "a"]);
});

Deno.test("ActivityRepository reads records that name the endpoint as earlier versions did", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const { endpoint: door, ...call } = CALL;
  const old = { ...call, door, at: 1_000, tool: "a" } as never;
  await repository.append([old], emptyDay("2026-01-01"), "p");
  const [read] = await Array.fromAsync(repository.recent(1));
  assert.equal(read?.endpoint, "mcp?default");
});

Deno.test("ActivityRepository.recent() goes on from a call that is gone", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const day = emptyDay("2026-01-01");
  for (const at of [0, 100_000, 200_000]) {
    await repository.append(
      [{ ...CALL, at, tool: String(at), id: `${at.toString(36)}-x-1` }],
      day,
      "p",
    );
  }
  const gone = `${(100_500).toString(36)}-y-1`;
  const found = await Array.fromAsync(repository.recent(10, gone), ({ tool }) => tool);
  assert.ok(found.includes("0") && !found.includes("200000"), found.join());
  assert.equal(await repository.find(gone), undefined);
});

Deno.test("ActivityRepository.clear() removes calls up to a time, and no counts", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ActivityRepository(store);
  const day = { ...emptyDay("2026-01-01"), calls: 3 };
  for (const at of [1_000, 2_000, 3_000]) {
    await repository.append([{ ...CALL, at, tool: String(at) }], day, "p");
  }
  await repository.clear(2_000);
  const left = await Array.fromAsync(repository.recent(10), ({ tool }) => tool);
  assert.deepEqual(left, ["3000"]);
  assert.equal((await repository.days())[0]?.calls, 3);
});
