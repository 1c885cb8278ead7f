import assert from "node:assert/strict";
import { isFromHere, serverAsker } from "./from_here.ts";

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

Deno.test("serverAsker() says who asks and from where, and believes no proxy's guest", () => {
  const remoteAddr: Deno.NetAddr = { transport: "tcp", hostname: "127.0.0.1", port: 1 };
  const info = { remoteAddr, completed: Promise.resolve() };
  const state = { principal: "token:a", gateway: { options: { options: { host: "127.0.0.1" } } } };
  const req = new Request("http://localhost:3333/", { headers: { host: "localhost:3333" } });
  assert.deepEqual(serverAsker({ req, info, state }, "api"), {
    via: "api",
    principal: "token:a",
    from: "127.0.0.1",
    isHere: true,
  });
  req.headers.set("x-forwarded-for", "192.0.2.7");
  const guest = serverAsker({ req, info, state }, "console");
  assert.equal(guest.isHere, false);
  assert.equal(guest.from, "127.0.0.1, forwarded for 192.0.2.7");
});
