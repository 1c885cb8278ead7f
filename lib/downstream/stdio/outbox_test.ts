import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { Outbox } from "./outbox.ts";

/** A reader that takes one write at a time, when told to. */
function slowReader() {
  const writes: string[] = [];
  let gate = Promise.withResolvers<void>();
  const stream = new WritableStream<Uint8Array>({
    async write(chunk) {
      writes.push(new TextDecoder().decode(chunk));
      await gate.promise;
    },
  });
  return {
    stream,
    writes,
    take() {
      gate.resolve();
      gate = Promise.withResolvers();
    },
    fail: () => gate.reject(new Error("no reader")),
  };
}

function open(limit = 100) {
  const reader = slowReader();
  const failures: unknown[] = [];
  const outbox = new Outbox(reader.stream, {
    limit,
    full: "too much waits",
    onFail: (error) => failures.push(error),
  });
  return { reader, failures, outbox };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("Outbox.push() writes what came in one turn, and what waited, in one go each", async () => {
  const { reader, outbox } = open();
  const first = [outbox.push("1"), outbox.push("2")];
  await settle();
  const second = [outbox.push("3"), outbox.push("4"), outbox.push("5")];
  await settle();
  assert.deepEqual(reader.writes, ["1\n2\n"]);
  reader.take();
  await Promise.all(first);
  await settle();
  assert.deepEqual(reader.writes, ["1\n2\n", "3\n4\n5\n"]);
  reader.take();
  await Promise.all(second);
});

Deno.test("Outbox.push() sends a message with line breaks as one line", async () => {
  const { reader, outbox } = open();
  const sent = outbox.push('{\r\n  "text": "a\\nb"\n}');
  await settle();
  reader.take();
  await sent;
  assert.deepEqual(reader.writes, ['{    "text": "a\\nb" }\n']);
});

Deno.test("Outbox.push() refuses what finds no room and takes it again later", async () => {
  const { reader, outbox } = open(10);
  const large = outbox.push("x".repeat(20));
  await settle();
  assert.throws(() => outbox.push("y"), (error) => {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, "LIMIT_EXCEEDED");
    assert.equal(error.message, "too much waits");
    return true;
  });
  reader.take();
  await large;
  const small = outbox.push("y");
  await settle();
  reader.take();
  await small;
  assert.deepEqual(reader.writes, ["x".repeat(20) + "\n", "y\n"]);
});

Deno.test("Outbox.close() lets what waits go out first", async () => {
  const { reader, outbox } = open();
  outbox.push("1");
  await settle();
  const last = outbox.push("2");
  outbox.close();
  reader.take();
  await settle();
  reader.take();
  await last;
  assert.deepEqual(reader.writes, ["1\n", "2\n"]);
});

Deno.test("Outbox tells a failed write once and fails what waits", async () => {
  const { reader, outbox, failures } = open();
  const sent = [outbox.push("1")];
  await settle();
  sent.push(outbox.push("2"));
  reader.fail();
  const results = await Promise.allSettled(sent);
  assert.deepEqual(results.map(({ status }) => status), ["rejected", "rejected"]);
  outbox.abort(new Error("over"));
  assert.equal(failures.length, 1);
});
