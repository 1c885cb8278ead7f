import assert from "node:assert/strict";
import { readMessages } from "./stdio_serve.ts";

async function read(chunks: string[], maxBody = 200) {
  const taken: string[] = [];
  const written: string[] = [];
  await readMessages(ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk))), {
    maxBody,
    onMessage: (message, text) => taken.push(`${message.kind} ${text}`),
    write: (text) => written.push(text),
    ready: () => Promise.resolve(),
  });
  return { taken, written: written.map((text) => JSON.parse(text)) };
}

Deno.test("readMessages() takes one message a line, however it is cut, and the last without its end", async () => {
  const { taken, written } = await read([
    '{"jsonrpc":"2.0","id":1,"met',
    'hod":"ping"}\r\n\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0"',
    ',"id":"a","result":{"big":12345678901234567890}}',
  ]);
  assert.deepEqual(taken, [
    'request {"jsonrpc":"2.0","id":1,"method":"ping"}',
    'notification {"jsonrpc":"2.0","method":"notifications/initialized"}',
    'response {"jsonrpc":"2.0","id":"a","result":{"big":12345678901234567890}}',
  ]);
  assert.deepEqual(written, []);
});

Deno.test("readMessages() says what is wrong with a line, and goes on", async () => {
  const { taken, written } = await read([
    "nonsense\n[]\n{}\n",
    '{"jsonrpc":"1.0","id":7,"method":"ping"}\n',
    // An error for a message that could not be read has no id: nobody is to answer that.
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}\n',
    '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
  ]);
  assert.deepEqual(written.map(({ id, error }) => [id, error.code]), [
    [null, -32700],
    [null, -32600],
    [null, -32600],
    [7, -32600],
  ]);
  assert.equal(taken.length, 1);
});

Deno.test("readMessages() refuses a message over the limit by its id, wherever that stands", async () => {
  const filler = "x".repeat(300);
  const { taken, written } = await read([
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"id":9,"a":"${filler}"}}\n`,
    `{"method":"tools/call","params":{"a":"${filler}","id":9},"jsonrpc":"2.0","id":"b"}\n`,
    `{"method":"m","params":{"a":"${filler}","id":9}}\n`,
    `{"jsonrpc":"2.0","id":2,"method":"ping"}\n`,
  ]);
  assert.deepEqual(written.map(({ id }) => id), [1, "b", null]);
  for (const { error } of written) {
    assert.equal(error.data.errorType, "PAYLOAD_TOO_LARGE");
    assert.match(error.message, /limit of 200 bytes/);
  }
  assert.deepEqual(taken, ['request {"jsonrpc":"2.0","id":2,"method":"ping"}']);
});

Deno.test("readMessages() makes an error of an answer over the limit, for the server that waits", async () => {
  const { taken, written } = await read([
    `{"result":{"a":"${"x".repeat(300)}"},"jsonrpc":"2.0","id":3}\n`,
  ]);
  assert.deepEqual(written, []);
  assert.match(taken[0] ?? "", /^response \{"jsonrpc":"2\.0","id":3,"error":/);
});

Deno.test("readMessages() reads no further while the client has not read", async () => {
  const room = Promise.withResolvers<void>();
  let taken = 0;
  const line = new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  const reading = readMessages(ReadableStream.from([line, line, line]), {
    maxBody: 200,
    onMessage: () => taken++,
    write: () => {},
    ready: () => room.promise,
  });
  for (let turns = 0; turns < 50; turns++) await Promise.resolve();
  assert.equal(taken, 1);
  room.resolve();
  await reading;
  assert.equal(taken, 3);
});
