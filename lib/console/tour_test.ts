import assert from "node:assert/strict";
import type { Gateway } from "../gateway.ts";
import { SettingsRepository } from "../storage/settings_repository.ts";
import { emptyDay } from "../storage/activity_repository.ts";
import { Store } from "../storage/store.ts";
import { stubGateway, type StubInput } from "./testing/stub_gateway.ts";
import { finishTour, tourOf } from "./tour.ts";

const demo = { name: "weather", source: { kind: "demo" } } as const;

async function open(input: StubInput = { servers: [demo] }, clients: object[] = []) {
  const store = await Store.open({ location: ":memory:" });
  const sessions = { list: () => clients.map((clientInfo) => ({ profile: { clientInfo } })) };
  const gateway = {
    ...stubGateway(input),
    store,
    endpoints: { host: { sessions } } as unknown as Gateway["endpoints"],
  };
  return { gateway, store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

Deno.test("tourOf() begins on an empty gateway alone, and goes on while that is filled", async () => {
  await using opened = await open();
  const { gateway, store } = opened;
  assert.deepEqual(await tourOf(gateway), {
    hasServer: false,
    hasChoice: false,
    endpoint: "http://127.0.0.1:3333/mcp",
  });
  await using filled = await open({ servers: [{ name: "mine" }] }, [{ name: "claude-code" }]);
  const tour = await tourOf({ ...filled.gateway, store });
  assert.deepEqual([tour?.hasServer, tour?.client], [true, "claude-code"]);
  assert.equal(await tourOf(filled.gateway), undefined);
});

Deno.test("tourOf() is over where it was finished, or where tools have been called", async () => {
  await using finished = await open();
  await finishTour(new SettingsRepository(finished.store));
  assert.equal(await tourOf(finished.gateway), undefined);
  await using used = await open({
    servers: [demo],
    days: [{ ...emptyDay("2026-01-01"), calls: 1 }],
  });
  assert.equal(await tourOf(used.gateway), undefined);
});
