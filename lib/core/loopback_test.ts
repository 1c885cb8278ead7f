import assert from "node:assert/strict";
import { isLoopback } from "./loopback.ts";

Deno.test("isLoopback() knows this machine by its names, and by none that look alike", () => {
  const own = ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"];
  assert.ok(own.every(isLoopback));
  const others = ["localhost.example", "127.0.0.1.example", "10.0.0.1", "0.0.0.0", "::", ""];
  assert.ok(!others.some(isLoopback));
});
