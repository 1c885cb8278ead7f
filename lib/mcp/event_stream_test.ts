import assert from "node:assert/strict";
import { EventStream, parseEventId } from "./event_stream.ts";

const LIFE = "0123abcd";

function open(id: number, primes = false): EventStream {
  return new EventStream(id, { principal: "anyone", life: LIFE, primes });
}

/** What a reader has got so far, ending with the stream. */
async function readAll(body: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(body).text();
}

Deno.test("EventStream.attach() primes, then sends what is kept and what comes", async () => {
  const stream = open(3, true);
  stream.send('{"a":1}');
  const body = stream.attach();
  stream.send('{"b":2}');
  stream.finish();
  assert.equal(
    await readAll(body),
    `id: ${LIFE}-3-0\nretry: 100\ndata: \n\n` +
      `id: ${LIFE}-3-1\nevent: message\ndata: {"a":1}\n\n` +
      `id: ${LIFE}-3-2\nevent: message\ndata: {"b":2}\n\n`,
  );
});

Deno.test("EventStream.attach() after a loss sends what came after the event that was seen", async () => {
  const stream = open(1);
  const first = stream.attach();
  stream.send("1");
  stream.send("2");
  let detached = 0;
  stream.onDetach = () => detached++;
  await first.cancel();
  assert.equal(detached, 1);
  assert.equal(stream.isAttached, false);
  stream.send("3");
  stream.finish();
  assert.equal(
    await readAll(stream.attach(1)),
    `id: ${LIFE}-1-2\nevent: message\ndata: 2\n\nid: ${LIFE}-1-3\nevent: message\ndata: 3\n\n`,
  );
});

Deno.test("EventStream keeps a bounded number of events and characters", async () => {
  const stream = open(1);
  for (let count = 0; count < 2_000; count++) stream.send(String(count));
  stream.finish();
  const text = await readAll(stream.attach(0));
  assert.equal(text.split("\n\n").length - 1, 500);
  const large = open(1);
  for (let count = 0; count < 10; count++) large.send("x".repeat(1_000_000));
  large.finish();
  assert.ok((await readAll(large.attach(0))).length < 5_000_000);
});

Deno.test("EventStream.attach() takes the stream over from the response that had it", async () => {
  const stream = open(0);
  const first = readAll(stream.attach());
  const second = stream.attach();
  assert.equal(await first, "");
  stream.send("x");
  stream.finish();
  assert.match(await readAll(second), /data: x/);
});

Deno.test("parseEventId() reads its own ids only", () => {
  assert.deepEqual(parseEventId(`${LIFE}-3-17`), { life: LIFE, stream: 3, event: 17 });
  for (const text of ["", "3", "3-17", `${LIFE}-3`, `${LIFE}-3-`, "life-1-1", `${LIFE}-1e3-1`]) {
    assert.equal(parseEventId(text), undefined, text);
  }
});

Deno.test("EventStream keeps the response it has when an earlier one is given up late", async () => {
  const stream = open(2);
  const first = stream.attach();
  stream.send("queued and never read");
  const second = stream.attach(0);
  let detached = 0;
  stream.onDetach = () => detached++;
  await first.cancel();
  assert.equal(stream.isAttached, true);
  assert.equal(detached, 0);
  stream.send("answer");
  stream.finish();
  assert.match(await readAll(second), /data: answer/);
});

Deno.test("EventStream lets go of a client that stops reading", async () => {
  const stream = open(2);
  const body = stream.attach();
  let detached = 0;
  stream.onDetach = () => detached++;
  const long = "x".repeat(1024 * 1024);
  for (let count = 0; count < 20; count++) stream.send(long);
  assert.equal(stream.isAttached, false);
  assert.equal(detached, 1);
  await assert.rejects(readAll(body));
});

function progress(step: number): string {
  const params = JSON.stringify({ progressToken: "p", progress: step });
  return `{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`;
}

/** The steps of the progress in a stream's text, with the last thing that it says. */
function told(text: string) {
  const events = text.split("\n").flatMap((line) => /^data: (.+)$/.exec(line)?.[1] ?? []);
  const steps = events.flatMap((event) =>
    event === "answer" ? [] : JSON.parse(event).params.progress
  );
  return { steps, last: events.at(-1) };
}

Deno.test("EventStream loses neither the answer nor the order in a flood of progress", async () => {
  const stream = open(3);
  const body = stream.attach();
  for (let step = 1; step <= 20_000; step++) stream.send(progress(step));
  stream.send("answer");
  stream.finish();
  const { steps, last } = told(await readAll(body));
  assert.equal(last, "answer");
  assert.equal(steps.at(-1), 20_000, "the newest is told");
  assert.deepEqual(steps, steps.toSorted((a: number, b: number) => a - b));
  assert.ok(steps.length < 1_000, "the rest gave way");
});

Deno.test("EventStream keeps the answer for a client that comes back after a flood", async () => {
  const stream = open(4);
  await stream.attach().cancel();
  stream.send("answer");
  for (let step = 1; step <= 2_000; step++) stream.send(progress(step));
  const resumed = stream.attach(0);
  stream.finish();
  const text = await readAll(resumed);
  assert.match(text, /^data: answer$/m);
  assert.match(text, /"progress":2000\}/);
});
