import assert from "node:assert/strict";
import { isFromHere } from "./from_here.ts";

function ask(hostname: string, headers: Record<string, string>): boolean {
  const remoteAddr: Deno.NetAddr = { transport: "tcp", hostname, port: 1 };
  const req = new Request("http://localhost:3333/", { headers: { host: "localhost:3333" } });
  for (const [name, value] of Object.entries(headers)) req.headers.set(name, value);
  return isFromHere({ req, info: { remoteAddr, completed: Promise.resolve() } }, "10.0.0.5");
}

Deno.test("isFromHere() believes neither a neighbor, a foreign name nor a proxy's guest", () => {
  assert.equal(ask("127.0.0.1", {}), true);
  assert.equal(ask("::ffff:127.0.0.1", { host: "[::1]:3333" }), true);
  assert.equal(ask("10.0.0.5", { host: "10.0.0.5:3333" }), true);
  assert.equal(ask("10.0.0.6", {}), false);
  assert.equal(ask("127.0.0.1", { host: "gateway.example" }), false);
  assert.equal(ask("127.0.0.1", { "x-forwarded-for": "1.2.3.4" }), false);
});
