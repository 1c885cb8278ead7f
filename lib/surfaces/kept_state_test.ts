import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { LinkClosed } from "../downstream/link.ts";
import { KeptState } from "./kept_state.ts";

const DONE = '{"jsonrpc":"2.0","id":1,"result":{}}';
const REFUSED = '{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"No such resource"}}';

/** What it asks of a connection that answers like this. */
async function restored(kept: KeptState, answer = () => Promise.resolve({ id: 1, text: DONE })) {
  const asked: string[] = [];
  await kept.restore({
    call({ method, params }) {
      asked.push(`${method} ${params}`);
      return answer();
    },
  });
  return asked;
}

function subscribe(kept: KeptState, uri: string, answer = DONE): void {
  const call = { method: "resources/subscribe", params: JSON.stringify({ uri }) };
  kept.asked(call);
  kept.answered(call, answer);
}

function setLevel(kept: KeptState, level: string, answer = DONE): void {
  kept.answered({ method: "logging/setLevel", params: JSON.stringify({ level }) }, answer);
}

function unsubscribe(kept: KeptState, uri: string): void {
  kept.asked({ method: "resources/unsubscribe", params: JSON.stringify({ uri }) });
}

Deno.test("KeptState.restore() asks for the last level and each subscription that is left", async () => {
  const kept = new KeptState();
  assert.ok(kept.isEmpty);
  setLevel(kept, "info");
  setLevel(kept, "error");
  setLevel(kept, "loud", REFUSED);
  assert.ok(!kept.isEmpty && !kept.hasSubscriptions);
  for (const uri of ["a:1", "a:2", "a:1"]) subscribe(kept, uri);
  subscribe(kept, "a:3", REFUSED);
  unsubscribe(kept, "a:2");
  assert.deepEqual(await restored(kept), [
    'logging/setLevel {"level":"error"}',
    'resources/subscribe {"uri":"a:1"}',
  ]);
});

Deno.test("KeptState.restore() fails where the connection does, and only there", async () => {
  const kept = new KeptState();
  subscribe(kept, "a:1");
  await restored(kept, () => Promise.resolve({ id: 1, text: REFUSED }));
  await restored(kept, () => Promise.reject(new GatewayError("TIMEOUT")));
  const cause = new LinkClosed("session", "forgotten");
  const lost = new GatewayError("SERVER_DISCONNECTED", { cause });
  await assert.rejects(restored(kept, () => Promise.reject(lost)), lost);
  await assert.rejects(restored(kept, () => Promise.reject(cause)), cause);
});

Deno.test("KeptState.asked() has a limit of subscriptions", () => {
  const kept = new KeptState(2);
  subscribe(kept, "a:1");
  subscribe(kept, "a:2");
  subscribe(kept, "a:2");
  assert.throws(
    () => subscribe(kept, "a:3"),
    /subscribe to 2 resources/,
  );
  unsubscribe(kept, "a:1");
  subscribe(kept, "a:3");
});

Deno.test("KeptState.restore() asks a few at a time, and no more once the connection is lost", async () => {
  const kept = new KeptState();
  for (let count = 0; count < 100; count++) subscribe(kept, `a:${count}`);
  let [open, most, answered] = [0, 0, 0];
  const asked = await restored(kept, async () => {
    most = Math.max(most, ++open);
    await Promise.resolve();
    open--;
    return { id: 1, text: DONE };
  });
  assert.equal(new Set(asked).size, 100);
  assert.equal(most, 20);
  const lost = new LinkClosed("lost", "gone");
  const refusing = restored(kept, async () => {
    const isLost = ++answered === 5;
    await Promise.resolve();
    if (isLost) throw lost;
    return { id: 1, text: DONE };
  });
  await assert.rejects(refusing, lost);
  assert.ok(answered < 50, `${answered}`);
});
