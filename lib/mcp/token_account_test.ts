import assert from "node:assert/strict";
import { EVERYONE } from "../core/access.ts";
import { estimateTokens } from "../core/token_counter.ts";
import { openDirectory } from "./testing/open_directory.ts";
import { answerTokens, savedTokens, TokenAccount } from "./token_account.ts";

const SERVERS = { git: [{ name: "status" }, { name: "push", description: "Pushes ".repeat(50) }] };

Deno.test("TokenAccount counts a session's baseline once, its last list, and each answer", async () => {
  await using opened = await openDirectory({ servers: SERVERS });
  const { directory, tokens, tool } = opened;
  const day = { baseline: 0, listed: 0, answered: 0 };
  const noted = { count: 0, done: Promise.withResolvers<void>() };
  const account = new TokenAccount({
    tokens,
    visible: (principal) => directory.visible(principal),
    onSent(change) {
      day.baseline += change.baseline;
      day.listed += change.listed;
      day.answered += change.answered;
      noted.count++;
      noted.done.resolve();
    },
  });
  const client = { principal: EVERYONE, sent: { baseline: 0, listed: 0, answered: 0 } };
  const list = async (...names: string[]) => {
    noted.done = Promise.withResolvers();
    account.listed(client, { builtins: ["x".repeat(40)], tools: names.map(tool) });
    await noted.done.promise;
  };
  const all = tokens.of(tool("git.status")) + tokens.of(tool("git.push"));
  assert.equal(all, 0, "nothing is counted before it is asked for");
  await list();
  const baseline = await account.baseline(EVERYONE);
  assert.deepEqual(client.sent, { baseline, listed: 10, answered: 0 });

  const answer = { text: "some text", data: { some: "data" } };
  const cost = account.answered(client, answer);
  assert.equal(cost, estimateTokens("some text") + estimateTokens('{"some":"data"}'));
  account.answered(client, answer);
  assert.equal(client.sent.answered, 2 * cost);

  // Equipping lists more; the list before is replaced by it.
  await list("git.push");
  const listed = 10 + tokens.of(tool("git.push"));
  assert.deepEqual(client.sent, { baseline, listed, answered: 2 * cost });
  assert.equal(savedTokens(client.sent), baseline - listed - 2 * cost);
  assert.deepEqual(day, client.sent);
  assert.deepEqual(account.total, client.sent);

  const other = { principal: EVERYONE, sent: { baseline: 0, listed: 0, answered: 0 } };
  account.answered(other, answer);
  assert.equal(account.total.answered, 3 * cost);
  assert.equal(client.sent.answered, 2 * cost, "each session has its own");
});

Deno.test("answerTokens() counts what is sent twice as twice", () => {
  const data = { tools: ["a", "b"] };
  const text = JSON.stringify(data);
  assert.equal(answerTokens({ text, data }), 2 * answerTokens({ text }));
});
