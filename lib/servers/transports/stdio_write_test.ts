import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { WriteQueue } from "./stdio_streams.ts";

/** A reader that takes one write at a time, when told to. */
function slowReader() {
  const writes: string[] = [];
  let onWritten: (error?: Error) => void = () => {};
  return {
    writes,
    write(bytes: Uint8Array, callback: (error?: Error) => void) {
      writes.push(new TextDecoder().decode(bytes));
      onWritten = callback;
    },
    end: () => void writes.push("end"),
    destroy: () => void writes.push("destroyed"),
    take: () => onWritten(),
    fail: () => onWritten(new Error("no reader")),
  };
}

function open(limit = 100) {
  const reader = slowReader();
  const failures: unknown[] = [];
  const outbox = new WriteQueue(reader, {
    limit,
    full: "too much waits",
    onFail: (error) => failures.push(error),
  });
  return { reader, failures, outbox };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("WriteQueue.send() writes at once, and what had to wait in one go", async () => {
  const { reader, outbox } = open();
  const first = outbox.send("1");
  assert.deepEqual(reader.writes, ["1\n"]);
  const second = [outbox.send("2"), outbox.send("3"), outbox.send("4")];
  await settle();
  assert.deepEqual(reader.writes, ["1\n"]);
  reader.take();
  await first;
  assert.deepEqual(reader.writes, ["1\n", "2\n3\n4\n"]);
  reader.take();
  await Promise.all(second);
});

Deno.test("WriteQueue.send() sends a message with line breaks as one line", async () => {
  const { reader, outbox } = open();
  const sent = outbox.send('{\r\n  "text": "a\\nb"\n}');
  await settle();
  reader.take();
  await sent;
  assert.deepEqual(reader.writes, ['{    "text": "a\\nb" }\n']);
});

Deno.test("WriteQueue.send() refuses what finds no room and takes it again later", async () => {
  const { reader, outbox } = open(10);
  const large = outbox.send("x".repeat(20));
  await settle();
  assert.throws(() => outbox.send("y"), (error) => {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, "LIMIT_EXCEEDED");
    assert.equal(error.message, "too much waits");
    return true;
  });
  reader.take();
  await large;
  const small = outbox.send("y");
  await settle();
  reader.take();
  await small;
  assert.deepEqual(reader.writes, ["x".repeat(20) + "\n", "y\n"]);
});

Deno.test("WriteQueue.close() lets what waits go out first", async () => {
  const { reader, outbox } = open();
  outbox.send("1");
  await settle();
  const last = outbox.send("2");
  outbox.close();
  reader.take();
  await settle();
  reader.take();
  await last;
  assert.deepEqual(reader.writes, ["1\n", "2\n", "end"]);
});

Deno.test("WriteQueue tells a failed write once and fails what waits", async () => {
  const { reader, outbox, failures } = open();
  const sent = [outbox.send("1")];
  await settle();
  sent.push(outbox.send("2"));
  reader.fail();
  const results = await Promise.allSettled(sent);
  assert.deepEqual(results.map(({ status }) => status), ["rejected", "rejected"]);
  outbox.abort(new Error("over"));
  assert.equal(failures.length, 1);
  await assert.rejects(outbox.send("3"), /no reader/);
});
