import assert from "node:assert/strict";
import { BodyReader, type HttpResponse } from "./http_response.ts";

/** An endless body whose next piece is always ready. */
function flood(): HttpResponse {
  const piece = new Uint8Array(16 * 1024);
  return {
    status: 200,
    headers: new Headers(),
    read: () => Promise.resolve(piece),
    text: () => Promise.reject(new Error("It has no end")),
    cancel: () => Promise.resolve(),
  };
}

Deno.test("BodyReader.read() yields to other work, however fast a body arrives", async () => {
  const reader = new BodyReader(flood());
  let turns = 0;
  const timer = setInterval(() => turns++);
  try {
    for (let pieces = 0; pieces < 20_000 && turns === 0; pieces++) await reader.read();
  } finally {
    clearInterval(timer);
  }
  assert.notEqual(turns, 0);
});
