import assert from "node:assert/strict";
import { Store } from "../storage/store.ts";
import { listed, openReview } from "./testing/open_review.ts";
import { INSTRUCTIONS } from "./text_screen.ts";

Deno.test("TextScreen.instructions() holds back what looks like an attack, until it is waived", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const { screen, book, load } = openReview(store, { s: "notify" });
  await load();
  assert.equal(await screen.instructions("s", "Be kind"), "Be kind");
  assert.equal(await screen.instructions("s", undefined), undefined);
  assert.equal(await screen.instructions("s", "Be EVIL"), undefined);
  const [found] = screen.found("s");
  assert.deepEqual([found?.subject, found?.isQuarantined], [INSTRUCTIONS, true]);
  const { fingerprint } = found!;
  await book.edit("s", (reviews) => ({
    reviews: {
      ...reviews,
      waivers: [{ tool: INSTRUCTIONS, rule: "evil", fingerprint, reason: "mine", at: 1 }],
    },
  }));
  assert.equal(await screen.instructions("s", "Be EVIL"), "Be EVIL");
  assert.equal(await screen.instructions("s", "Be EVIL too"), undefined);
  // Nobody knows which part of it is odd: none of it is passed on.
  assert.equal(await screen.instructions("s", "An ODD one"), undefined);
  assert.deepEqual(screen.found("s").map(({ isQuarantined }) => isQuarantined), [false]);
});

Deno.test("TextScreen.instructions() need not look again after a start", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const first = openReview(store, {});
  await first.screen.instructions("s", "Be kind");
  const second = openReview(store, {});
  assert.equal(await second.screen.instructions("s", "Be kind"), "Be kind");
  assert.equal(second.loads(), 0);
});

Deno.test("TextScreen.list() leaves out hostile entries, and every other byte as it came", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const { screen } = openReview(store, {});
  const plain = '{ "prompts": [{"name":"one","n":12345678901234567890}], "x": 1.50 }';
  assert.equal(await screen.list("s", "prompts", plain), plain);
  const hostile =
    '{"prompts":[{"name":"one"},{"name":"two","arguments":[{"name":"a","description":"EVIL"}]}],"nextCursor":"c"}';
  assert.equal(
    await screen.list("s", "prompts", hostile),
    '{"prompts":[{"name":"one"}],"nextCursor":"c"}',
  );
  assert.deepEqual(screen.found("s").map(({ subject }) => subject), ["(prompt) two"]);
  const resources = '{"resources":[{"uri":"file:///a","name":"EVIL"}]}';
  assert.equal(await screen.list("s", "resources", resources), '{"resources":[]}');
  assert.equal(await screen.list("s", "resources", '{"other":1}'), '{"other":1}');
});

Deno.test("TextScreen.renew() looks at the instructions again, and at what is listed next", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const review = openReview(store, { s: "notify" });
  const { screen, setWords } = review;
  await review.load();
  await review.list("s", listed("a"));
  const prompts = '{"prompts":[{"name":"WORSE"}]}';
  assert.equal(await screen.instructions("s", "Be WORSE"), "Be WORSE");
  assert.equal(await screen.list("s", "prompts", prompts), prompts);
  setWords("WORSE");
  await review.book.renew();
  assert.deepEqual(screen.found("s").map(({ subject }) => subject), [INSTRUCTIONS]);
  assert.equal(await screen.instructions("s", "Be WORSE"), undefined);
  assert.equal(await screen.list("s", "prompts", prompts), '{"prompts":[]}');
});

Deno.test("TextScreen.list() keeps what two lists at once have, and nothing of a server that went", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const { screen } = openReview(store, {});
  const prompts = '{"prompts":[{"name":"EVIL"}]}';
  const resources = '{"resources":[{"uri":"file:///EVIL"}]}';
  await Promise.all([
    screen.list("s", "prompts", prompts),
    screen.list("s", "resources", resources),
  ]);
  assert.deepEqual(
    screen.found("s").map(({ subject }) => subject).sort(),
    ["(prompt) EVIL", "(resource) file:///EVIL"],
  );
  const listing = screen.list("gone", "prompts", prompts);
  screen.forget("gone");
  assert.equal(await listing, '{"prompts":[]}');
  assert.deepEqual(screen.servers(), ["s"]);
});
