import assert from "node:assert/strict";
import { Store } from "../storage/store.ts";
import { listed, openReview } from "./testing/open_review.ts";

Deno.test("ReviewBook pins what a held server lists first, and serves that from then on", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const first = openReview(store, { s: "hold" });
  await first.load();
  await first.list("s", listed("a"), listed("b"));
  assert.deepEqual(first.names("s"), ["a", "b"]);
  await first.list("s", listed("a", "Does worse"), listed("b"), listed("c"));
  assert.deepEqual(first.names("s"), ["a", "b"]);
  assert.equal(first.shown("s", "a"), listed("a"));
  assert.deepEqual(first.catalog.heldOf("s").map(({ kind, name }) => [kind, name]), [
    ["changed", "a"],
    ["added", "c"],
  ]);

  // The same after a start, and where the server's list is only recalled.
  const second = openReview(store, { s: "hold" });
  await second.load();
  await second.list("s", listed("a", "Does worse"), listed("b"), listed("c"));
  assert.equal(second.shown("s", "a"), listed("a"));
  assert.deepEqual(second.names("s"), ["a", "b"]);
});

Deno.test("ReviewBook takes an empty list for no first sight", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "hold" });
  await review.load();
  await review.list("s");
  await review.list("s", listed("a"));
  assert.deepEqual(review.names("s"), ["a"]);
});

Deno.test("ReviewBook pins what clients know where a server is held from now on", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "notify" });
  await review.load();
  await review.list("s", listed("a"));
  await review.load({ s: "hold" });
  await review.list("s", listed("a", "Does worse"));
  assert.equal(review.shown("s", "a"), listed("a"));
});

Deno.test("ReviewBook.load() lets everything through once the policy is to allow it", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "hold" });
  await review.load();
  await review.list("s", listed("a"));
  await review.list("s", listed("a", "Does worse"), listed("b"));
  await review.load({ s: "allow" });
  assert.deepEqual(review.names("s"), ["a", "b"]);
  await review.load({ s: "hold" });
  assert.equal(review.shown("s", "a"), listed("a"));
});

Deno.test("ReviewBook passes a change on and keeps a notice of it until it is seen", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "notify" });
  await review.load();
  await review.list("s", listed("a"), listed("b", "Reads files"));
  assert.deepEqual(review.book.reviewsOf("s").notices, []);
  await review.list("s", listed("a", "Does more"), listed("z", "Reads files"), listed("c"));
  assert.deepEqual(review.names("s"), ["a", "z", "c"]);
  const notices = review.book.reviewsOf("s").notices;
  assert.deepEqual(
    notices.map(({ tool, from, before }) => [tool, from, before?.text]),
    [
      ["a", undefined, listed("a")],
      ["z", "b", listed("b", "Reads files")],
      ["c", undefined, undefined],
    ],
  );
  // As it was when it was last seen: what came in between is told as one change.
  await review.list("s", listed("a", "Does most"), listed("z", "Reads files"), listed("c"));
  const [first] = review.book.reviewsOf("s").notices;
  assert.deepEqual([first?.text, first?.before?.text], [listed("a", "Does most"), listed("a")]);
  await review.list("s", listed("a"), listed("z", "Reads files"), listed("c"));
  assert.deepEqual(review.book.reviewsOf("s").notices.map(({ tool }) => tool), ["z", "c"]);
});

Deno.test("ReviewBook.edit() is seen by another gateway on the same store", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const [one, two] = [openReview(store, { s: "hold" }), openReview(store, { s: "hold" })];
  for (const review of [one, two]) {
    await review.load();
    await review.list("s", listed("a"));
    await review.list("s", listed("a", "Does worse"));
  }
  await one.book.edit("s", (_, pins) => ({ pins: { ...pins, tools: [] } }));
  assert.deepEqual(one.names("s"), []);
  assert.deepEqual(two.names("s"), ["a"]);
  await two.load();
  assert.deepEqual(two.names("s"), []);
});

Deno.test("ReviewBook.edit() loses nothing of what others change at the same time", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const reviews = Array.from({ length: 4 }, () => openReview(store, { s: "notify" }));
  await Promise.all(reviews.map((review) => review.load()));
  await Promise.all(reviews.map((review, index) =>
    review.book.edit("s", (known) => ({
      reviews: {
        ...known,
        rejected: [...known.rejected, { tool: `t${index}`, fingerprint: "f", at: 1 }],
      },
    }))
  ));
  await reviews[0]!.load();
  const { rejected } = reviews[0]!.book.reviewsOf("s");
  assert.deepEqual(rejected.map(({ tool }) => tool).sort(), ["t0", "t1", "t2", "t3"]);
});

Deno.test("ReviewBook.prepare() holds everything where pins cannot be kept", async () => {
  const store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "hold" });
  await review.load();
  await store[Symbol.asyncDispose]();
  await review.book.prepare("s", [listed("a")]);
  review.catalog.setListed("s", [listed("a")]);
  assert.deepEqual(review.names("s"), []);
  assert.match(review.warnings.join(), /all its tools are held/);
});

Deno.test("ReviewBook.take() forgets a server, and putBack() knows it as before", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "hold" });
  await review.load();
  await review.list("s", listed("a"));
  await review.list("s", listed("a", "Does worse"));
  const taken = await review.book.take("s");
  assert.equal(await review.pins.find("s"), undefined);
  await review.book.putBack("s", taken);
  await review.load();
  assert.equal(review.shown("s", "a"), listed("a"));
});

Deno.test("ReviewBook.renew() quarantines what looks like an attack by other rules", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "notify" });
  await review.load();
  await review.list("s", listed("a"), listed("b", "says WORSE"));
  assert.deepEqual(review.names("s"), ["a", "b"]);
  review.setWords("WORSE");
  await review.book.renew();
  assert.deepEqual(review.names("s"), ["a"]);
});

Deno.test("ReviewBook.renew() has the lists of single clients judged anew", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "notify" });
  await review.load();
  await review.list("s", listed("a"));
  const own = [listed("own", "says WORSE")];
  const published = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = review.catalog.onChange(() => {
      stop();
      resolve();
    });
    return promise;
  };
  const first = published();
  review.catalog.read("s", own);
  await first;
  assert.deepEqual(review.catalog.read("s", own).tools.map(({ name }) => name), ["own"]);
  review.setWords("WORSE");
  let isTold = false;
  review.catalog.onChange(() => isTold = true);
  await review.book.renew();
  assert.ok(isTold, "whoever has a list of its own reads it anew");
  const second = published();
  assert.deepEqual(review.catalog.read("s", own).tools, []);
  await second;
  const { tools, quarantined = [] } = review.catalog.read("s", own);
  assert.deepEqual([tools.length, quarantined.map(({ tool }) => tool.name)], [0, ["own"]]);
});

Deno.test("ReviewBook.load() takes over nothing of a server whose pins cannot be read", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "hold" });
  await review.load();
  await review.list("s", listed("a"));
  await review.load({ s: "allow" });
  await review.list("s", listed("a", "Does worse"));
  const find = review.pins.find.bind(review.pins);
  review.pins.find = () => Promise.reject(new Error("The store is away"));
  await assert.rejects(review.load({ s: "hold" }), /The store is away/);
  assert.equal(review.book.policyOf("s"), "allow");
  review.pins.find = find;
  await review.load({ s: "hold" });
  assert.equal(review.book.policyOf("s"), "hold");
  assert.equal(review.shown("s", "a"), listed("a"));
});

Deno.test("ReviewBook.putBack() counts more than what was pinned meanwhile", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "hold" });
  await review.load();
  await review.list("s", listed("a"));
  const taken = await review.book.take("s");
  const second = openReview(store, { s: "hold" });
  await second.load();
  await second.canonical.removeServer("s");
  await second.list("s", listed("a", "Does worse"));
  assert.equal(second.shown("s", "a"), listed("a", "Does worse"));
  await second.book.putBack("s", taken);
  assert.equal(second.shown("s", "a"), listed("a"));
});

Deno.test("ReviewBook.forget() counts more than what was being read of the server", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "hold" });
  await review.load();
  await review.list("s", listed("a"));
  const find = review.pins.find.bind(review.pins);
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  review.pins.find = async (server) => {
    asked.resolve();
    await answer.promise;
    return await find(server);
  };
  const loading = review.load({ s: "notify" });
  await asked.promise;
  review.book.forget("s");
  answer.resolve();
  await loading;
  // Whatever is loaded after it comes after it.
  await review.load({});
  assert.equal(review.guard.rulesOf("s"), undefined);
  assert.deepEqual(review.book.reviewsOf("s").pinsRevision, 0);
});
