import assert from "node:assert/strict";
import { join } from "node:path";
import { followNews } from "./follow.ts";
import { Store } from "./store.ts";

/** Two stores on one file, as two processes have them. */
async function twoStores() {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_news_" });
  const stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const location = join(folder, "kv.sqlite");
  const here = stack.use(await Store.open({ location }));
  const there = stack.use(await Store.open({ location }));
  return { here, there, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

Deno.test("Store.newsElsewhere() counts what others said, and not what this one did", async () => {
  await using stores = await twoStores();
  const { here, there } = stores;
  await here.commit({ announce: false, news: "calls" });
  await there.commit({ announce: false, news: "calls" });
  await there.commit({ announce: false, news: "jobs" });
  const key = ["settings", "x"];
  const checks = [{ key, versionstamp: "1".repeat(20) }];
  assert.equal(await here.tryCommit({ announce: false, news: "jobs", checks }), undefined);
  assert.deepEqual(await here.newsElsewhere(), {
    calls: 1n,
    cleared: 0n,
    jobs: 1n,
    optimization: 0n,
  });
  assert.equal(await here.generation(), 0n, "no gateway has to take it up");
});

Deno.test("followNews() tells others' news once it is wanted, with how much there was", async () => {
  await using stores = await twoStores();
  const { here, there } = stores;
  const end = new AbortController();
  const wanted = Promise.withResolvers<void>();
  const isAsked = Promise.withResolvers<void>();
  const heard: [string, number][] = [];
  let enough = Promise.withResolvers<void>();
  let isBroken = true;
  const following = followNews(here, {
    signal: end.signal,
    whenWanted() {
      isAsked.resolve();
      return wanted.promise;
    },
    onNews(kind, times) {
      if (isBroken) {
        isBroken = false;
        throw new Error("It could not be read");
      }
      heard.push([kind, times]);
      enough.resolve();
    },
  });
  await isAsked.promise;
  await there.commit({ announce: false, news: "calls" });
  await there.commit({ announce: false, news: "calls" });
  assert.deepEqual(heard, []);
  wanted.resolve();
  await enough.promise;
  assert.deepEqual(heard, [["calls", 2]], "tried again after a failure");
  enough = Promise.withResolvers();
  await here.commit({ announce: false, news: "calls" });
  await there.commit({ announce: false, news: "optimization" });
  await enough.promise;
  assert.deepEqual(heard.slice(1), [["optimization", 1]]);
  end.abort();
  await following;
});

Deno.test("followNews() does not take what this process writes for the news of another", async () => {
  await using stores = await twoStores();
  const { here } = stores;
  const end = new AbortController();
  const none = { cleared: 0n, jobs: 0n, optimization: 0n };
  // One less while a commit of our own is under way.
  const counts = [5n, 4n, 5n, 7n].map((calls) => ({ ...none, calls }));
  here.newsElsewhere = () =>
    Promise.resolve({ ...counts.length > 1 ? counts.shift()! : counts[0]! });
  const heard: number[] = [];
  await followNews(here, {
    signal: end.signal,
    whenWanted: () => Promise.resolve(),
    onNews(_, times) {
      heard.push(times);
      if (counts.length === 1) end.abort();
    },
  });
  assert.deepEqual(heard, [2]);
});

Deno.test("followNews() has nothing to follow where nobody else can write", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const { signal } = new AbortController();
  await followNews(store, { signal, whenWanted: () => assert.fail(), onNews: () => assert.fail() });
});
