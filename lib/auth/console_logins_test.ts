import assert from "node:assert/strict";
import type { ConsoleLogin } from "../core/access.ts";
import { ConsoleLoginsRepository } from "../storage/access_repositories.ts";
import { Store } from "../storage/store.ts";
import { ConsoleLogins } from "./console_logins.ts";

const NOW = 1_000_000;

/** A repository whose lists are those of the moment they were asked for, however late they come. */
class SlowRepository extends ConsoleLoginsRepository {
  /** Opened by the test. */
  gate = Promise.withResolvers<void>();

  override async *list() {
    const listed = await Array.fromAsync(super.list());
    await this.gate.promise;
    yield* listed;
  }
}

Deno.test("ConsoleLogins.find() knows a login until it ends or runs out", async () => {
  await using store = await Store.open({ location: ":memory:" });
  let now = NOW;
  const logins = new ConsoleLogins(new ConsoleLoginsRepository(store), () => now);
  const { cookie, seconds } = await logins.begin("token:a");
  assert.equal(logins.find(cookie), "token:a");
  assert.equal(logins.find(`${cookie}x`), undefined);
  const kept: ConsoleLogin[] = [];
  for await (const { value } of new ConsoleLoginsRepository(store).list()) kept.push(value);
  assert.ok(!JSON.stringify(kept).includes(cookie), "the cookie itself is not kept");
  now += seconds * 1000;
  assert.equal(logins.find(cookie), undefined);
  await logins.load();
  assert.deepEqual(await Array.fromAsync(new ConsoleLoginsRepository(store).list()), []);
});

Deno.test("ConsoleLogins.begin() makes a login that ends with what it was made by", async () => {
  await using store = await Store.open({ location: ":memory:" });
  let now = NOW;
  const repository = new ConsoleLoginsRepository(store);
  const logins = new ConsoleLogins(repository, () => now);
  const { cookie, seconds } = await logins.begin("oauth:ann#1", NOW + 90_500);
  assert.equal(seconds, 90);
  // Somebody comes with another token of the same person's, which lasts longer.
  await logins.begin("oauth:ann#1", NOW + 90_500 + 1);
  now = NOW + 90_499;
  assert.equal(logins.find(cookie), "oauth:ann#1");
  now = NOW + 90_500;
  assert.equal(logins.find(cookie), undefined);
  now++;
  await logins.load();
  assert.deepEqual(await Array.fromAsync(repository.list()), []);
  assert.equal((await logins.begin("token:a")).seconds, 7 * 24 * 60 * 60);
});

Deno.test("ConsoleLogins.endAll() ends all of one owner's, on other instances too", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new ConsoleLoginsRepository(store);
  const [here, there] = [new ConsoleLogins(repository), new ConsoleLogins(repository)];
  const [one, two, other] = [
    await here.begin("token:a"),
    await here.begin("token:a"),
    await here.begin("token:b"),
  ];
  await there.load();
  assert.equal(there.find(two.cookie), "token:a");
  await here.endAll("token:a");
  await there.load();
  for (const logins of [here, there]) {
    assert.equal(logins.find(one.cookie), undefined);
    assert.equal(logins.find(two.cookie), undefined);
    assert.equal(logins.find(other.cookie), "token:b");
  }
});

Deno.test("ConsoleLogins.load() neither revives what ended meanwhile nor drops what began", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new SlowRepository(store);
  const logins = new ConsoleLogins(repository);
  const ended = await logins.begin("token:a");
  const loading = logins.load();
  await new Promise((resolve) => setTimeout(resolve, 10));
  await logins.end(ended.cookie);
  const begun = await logins.begin("token:b");
  repository.gate.resolve();
  await loading;
  assert.equal(logins.find(ended.cookie), undefined);
  assert.equal(logins.find(begun.cookie), "token:b");
});
