import assert from "node:assert/strict";
import { Cancellation } from "../core/async.ts";
import { keys } from "../storage/keys.ts";
import type { Mailbox, MessageHandler } from "../storage/mailbox.ts";
import type { Store } from "../storage/store.ts";
import { twoMailboxes } from "../storage/testing/two_mailboxes.ts";
import { DesiredState, type DesiredStateInput } from "./desired_state.ts";

const TOPIC = "generation";

/** With what it needs to wait for others and to be waited for. */
function stateOn(mailbox: Mailbox, store: Store, signal = new AbortController().signal) {
  const onWarning = (message: string) => assert.fail(message);
  return new DesiredState({ mailbox, store, signal, onWarning } as unknown as DesiredStateInput);
}

Deno.test("DesiredState.othersFollow() waits once for a gateway that does not answer", async () => {
  await using mailboxes = await twoMailboxes();
  const { here, there, store } = mailboxes;
  let asks = 0;
  const hung = Promise.withResolvers<string>();
  there.handle(TOPIC, () => {
    asks++;
    return hung.promise;
  });
  const state = stateOn(here, store);
  const change = async () => {
    await store.commit({ sets: [{ key: keys.settings("a"), value: asks }] });
    await state.othersFollow();
  };
  await change();
  await change();
  await change();
  assert.equal(asks, 1);
  hung.resolve("");
  for (let left = 1_000; left > 0 && asks === 1; left--) {
    await change();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(asks, 2, "it is asked again once it has answered");
});

Deno.test("DesiredState stops making others wait when it stops, or they no longer wait", async () => {
  await using mailboxes = await twoMailboxes();
  const { here, there, store } = mailboxes;
  const handled: Promise<string>[] = [];
  const handle = there.handle.bind(there);
  there.handle = (topic: string, handler: MessageHandler) =>
    handle(topic, (body, exchange) => {
      handled.push(handler(body, exchange));
      return handled.at(-1)!;
    });
  const stop = new AbortController();
  stateOn(there, store, stop.signal);
  const left = new Cancellation();
  const asked = here.ask(there.id, TOPIC, "1000", { signal: left });
  for (let tries = 1_000; tries > 0 && handled.length === 0; tries--) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  left.abort(new Error("left"));
  await assert.rejects(asked, /left/);
  assert.equal(await handled[0], "");
  const second = here.ask(there.id, TOPIC, "1000");
  for (let tries = 1_000; tries > 0 && handled.length === 1; tries--) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  stop.abort();
  assert.equal(await second, "");
});
