import assert from "node:assert/strict";
import { paletteIndex } from "./palette.ts";
import { stubGateway } from "./testing/stub_gateway.ts";

Deno.test("paletteIndex() has names only, so that thousands stay small", () => {
  const tools = Array.from({ length: 13 }, (_, index) => ({
    name: `tool_${index}`,
    description: "x".repeat(10_000),
  }));
  const servers = Array.from({ length: 400 }, (_, index) => ({ name: `server-${index}`, tools }));
  const text = JSON.stringify(paletteIndex(stubGateway({ servers })));
  assert.ok(text.length < 100_000, `${text.length} characters`);
});
