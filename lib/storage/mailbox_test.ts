import assert from "node:assert/strict";
import { Cancellation } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import { keys } from "./keys.ts";
import { Mailbox, PeerGone } from "./mailbox.ts";
import { AesBox } from "./sealing.ts";
import { twoMailboxes } from "./testing/two_mailboxes.ts";
import { Store } from "./store.ts";

Deno.test("Mailbox.ask() gets parts in order, then one answer or an error", async () => {
  await using mail = await twoMailboxes();
  const { here, there, store } = mail;
  there.handle("count", (body, { send }) => {
    for (let nth = 0; nth < 500; nth++) send(String(nth));
    return Promise.resolve(`${body} is done`);
  });
  there.handle("refuse", () => {
    const recoverySteps = ["Ask again"];
    throw new GatewayError("INVALID_PARAMS", { message: "No", recoverySteps });
  });
  const parts: string[] = [];
  assert.equal(
    await here.ask("there", "count", "it", { onPart: (p) => parts.push(p) }),
    "it is done",
  );
  assert.deepEqual(parts, Array.from({ length: 500 }, (_, nth) => String(nth)));
  await assert.rejects(here.ask("there", "refuse", ""), (error) => {
    assert.ok(error instanceof GatewayError);
    assert.deepEqual([error.code, error.message], ["INVALID_PARAMS", "No"]);
    assert.deepEqual(error.toBody().recoverySteps, ["Ask again"]);
    return true;
  });
  await assert.rejects(here.ask("there", "nothing of ours", ""), PeerGone);
  await assert.rejects(here.ask("nobody", "count", ""), PeerGone);
  here.handle("count", () => Promise.resolve("asked itself"));
  await assert.rejects(here.ask("here", "count", ""), PeerGone);
  assert.deepEqual(
    await Array.fromAsync(store.list({ prefix: keys.mail() })),
    [],
    "every message was read and deleted",
  );
});

Deno.test("Mailbox tells each side when the other one cancels or ends", async () => {
  await using mail = await twoMailboxes();
  const { here, there } = mail;
  let left = Promise.withResolvers<void>();
  let asked = Promise.withResolvers<void>();
  there.handle("wait", (_, { signal }) => {
    const { promise, reject } = Promise.withResolvers<string>();
    signal.addEventListener("abort", () => {
      left.resolve();
      reject(signal.reason);
    });
    asked.resolve();
    return promise;
  });
  const leaving = new Cancellation();
  const canceled = here.ask("there", "wait", "", { signal: leaving });
  await asked.promise;
  leaving.abort(new Error("enough"));
  await assert.rejects(canceled, /enough/);
  await left.promise;

  [left, asked] = [Promise.withResolvers(), Promise.withResolvers()];
  const waiting = here.ask("there", "wait", "");
  await asked.promise;
  mail.end("here");
  await left.promise;
  mail.end("there");
  await assert.rejects(waiting, PeerGone);
});

Deno.test("Mailbox answers before it closes, and removes messages to ended processes", async () => {
  await using mail = await twoMailboxes();
  const { here, there, store } = mail;
  const asked = Promise.withResolvers<void>();
  there.handle("wait", () => {
    asked.resolve();
    return new Promise(() => {});
  });
  const waiting = here.ask("there", "wait", "");
  const ended = assert.rejects(waiting, PeerGone);
  await asked.promise;
  await there[Symbol.asyncDispose]();
  await ended;

  const left = here.ask("there", "wait", "").catch((error) => error);
  await until(store, (count) => count > 0);
  mail.end("there");
  assert.ok(await left instanceof PeerGone);
  await until(store, (count) => count === 0);
  assert.deepEqual(mail.warnings, []);
});

Deno.test("Mailbox keeps only the newest of parts that replace each other, and limits the size of messages", async () => {
  await using mail = await twoMailboxes();
  const { here, there } = mail;
  there.handle("flood", (_, { send }) => {
    for (let nth = 0; nth < 50_000; nth++) send(String(nth), "progress");
    send("other");
    return Promise.resolve("done");
  });
  there.handle("large", () => Promise.resolve("x".repeat(32 * 1024 * 1024)));
  const parts: string[] = [];
  await here.ask("there", "flood", "", { onPart: (part) => parts.push(part) });
  assert.ok(parts.length < 100, String(parts.length));
  assert.deepEqual(parts.slice(-2), ["49999", "other"]);
  for (const [topic, body] of [["large", ""], ["flood", "x".repeat(32 * 1024 * 1024)]]) {
    await assert.rejects(here.ask("there", topic!, body!), { code: "LIMIT_EXCEEDED" });
  }
});

Deno.test("Mailbox leaves nothing in the store when it ends, not even messages that arrive too late", async () => {
  await using mail = await twoMailboxes();
  const { here, there, store } = mail;
  const left = () =>
    Promise.all([keys.mail(), keys.mailBells()].map(async (prefix) => {
      const found = await Array.fromAsync(store.list({ prefix }), ({ key }) => key[1]);
      return found.join();
    }));
  there.handle("echo", (body) => Promise.resolve(body));
  await here.ask("there", "echo", "1");
  assert.deepEqual(await left(), ["", "here,there"]);
  await there[Symbol.asyncDispose]();
  assert.deepEqual(await left(), ["", "here"]);
  const sets = ["late", "here"].flatMap((id) => [
    { key: keys.mail(id, "there", 7), value: [] },
    { key: keys.mailBells(id), value: ["there", 7] },
  ]);
  await store.commit({ sets, announce: false });
  await here.forgetEnded();
  assert.equal((await left())[1], "here");
  assert.ok(!(await left())[0]?.includes("late"));
});

Deno.test("Mailbox limits each message by its bytes, not by what is sent at the same time", async () => {
  await using mail = await twoMailboxes();
  const { here, there } = mail;
  // Each quote is two bytes in the store.
  const large = '"'.repeat(9 * 1024 * 1024);
  there.handle("large", () => Promise.resolve(large));
  const answers = await Promise.all([1, 2].map(() => here.ask("there", "large", "")));
  assert.ok(answers.every((answer) => answer === large));
  there.handle("too large", () => Promise.resolve(large + large));
  await assert.rejects(here.ask("there", "too large", ""), { code: "LIMIT_EXCEEDED" });
});

Deno.test("Mailbox continues after a message that cannot be processed, and runs no request twice", async () => {
  await using mail = await twoMailboxes();
  const { here, there, store } = mail;
  there.handle("parts", (_, { send }) => {
    send("1");
    return Promise.resolve("done");
  });
  const onPart = () => {
    throw new Error("The client is gone");
  };
  assert.equal(await here.ask("there", "parts", "", { onPart }), "done");
  assert.deepEqual(mail.warnings, ["Cannot process a message from another gateway"]);

  let calls = 0;
  there.handle("twice", () => {
    calls++;
    return new Promise(() => {});
  });
  there.handle("last", () => Promise.resolve("last"));
  const conversation = crypto.randomUUID();
  const ask = { conversation, kind: "ask", topic: "twice", body: "" };
  const key = keys.mail("there", "here", 1_000);
  await store.commit({ sets: [{ key, value: [ask, ask] }], announce: false });
  assert.equal(await here.ask("there", "last", ""), "last");
  assert.equal(calls, 1);
});

Deno.test("Mailbox treats an error with an unknown code as internal", async () => {
  await using mail = await twoMailboxes();
  const { here, there } = mail;
  there.handle("new", () => {
    const error = new GatewayError("INTERNAL");
    throw Object.assign(error, { toBody: () => ({ errorType: "toString", message: "x" }) });
  });
  await assert.rejects(here.ask("there", "new", ""), { code: "INTERNAL" });
});

Deno.test("Mailbox.ask() times out after the last part", async () => {
  await using mail = await twoMailboxes();
  const { here, there } = mail;
  const left = Promise.withResolvers<void>();
  there.handle("wait", (_, { signal }) => {
    signal.addEventListener("abort", () => left.resolve());
    return new Promise(() => {});
  });
  const asked = here.ask("there", "wait", "", { limitMs: 50 });
  await assert.rejects(asked, { code: "TIMEOUT" });
  await left.promise;
});

Deno.test("Mailbox retries control messages that the store refused", async () => {
  await using mail = await twoMailboxes();
  const { here, there, store } = mail;
  const [asked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  there.handle("wait", (_, { signal }) => {
    signal.addEventListener("abort", () => left.resolve());
    asked.resolve();
    return new Promise(() => {});
  });
  const leaving = new AbortController();
  const waiting = here.ask("there", "wait", "", { signal: leaving.signal });
  await asked.promise;
  const commit = store.commit;
  const refused = Promise.withResolvers<void>();
  store.commit = () => {
    store.commit = commit;
    refused.resolve();
    return Promise.reject(new Error("The store is unavailable"));
  };
  leaving.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  await refused.promise;
  await left.promise;
});

Deno.test("Mailbox still gets answers while its gateway stops and no longer follows the store", async () => {
  await using mail = await twoMailboxes();
  const { here, there } = mail;
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  there.handle("wait", () => {
    asked.resolve();
    return answer.promise;
  });
  const waiting = here.ask("there", "wait", "");
  await asked.promise;
  await mail.stopFollowing();
  answer.resolve("in time");
  assert.equal(await waiting, "in time");
});

/** Waits until the number of stored messages satisfies the condition. */
async function until(store: Store, isReached: (count: number) => boolean): Promise<void> {
  for (;;) {
    const mails = await Array.fromAsync(store.list({ prefix: keys.mail("there") }));
    if (isReached(mails.length)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

Deno.test("Mailbox encrypts bodies in the store, and names the problem if a gateway has another key", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using stack = new AsyncDisposableStack();
  const boxOf = (byte: number) => {
    const box = AesBox.of(new Uint8Array(32).fill(byte));
    return () => box;
  };
  const open = (id: string, byte: number) => {
    const others = () => Promise.resolve([]);
    const lease = { id, isAlive: () => Promise.resolve(true), others };
    return stack.use(new Mailbox(store, lease, { box: boxOf(byte) }));
  };
  const [here, there, other] = [open("here", 1), open("there", 1), open("other", 2)];
  here.keepReading(2);
  const stored = () => Array.fromAsync(store.list({ prefix: keys.mail("there") }));
  const asked = here.ask("there", "t", "a person's answer");
  while ((await stored()).length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  const text = JSON.stringify(await stored());
  assert.match(text, /qm1\./);
  assert.doesNotMatch(text, /person/);
  for (const peer of [there, other]) {
    peer.handle("t", (body) => Promise.resolve(`got ${body}`));
    peer.keepReading(2);
  }
  assert.equal(await asked, "got a person's answer");
  await assert.rejects(here.ask("other", "t", "secret"), { code: "SECRET_UNREADABLE" });
});
