import assert from "node:assert/strict";
import { toolsetNotes } from "./toolset_notes.ts";

Deno.test("toolsetNotes() has nothing to say of a toolset that is whole", () => {
  assert.deepEqual(toolsetNotes(Array(40).fill("registered")), []);
});

Deno.test("toolsetNotes() counts what cannot be called, and warns of many", () => {
  assert.deepEqual(toolsetNotes(["registered", "gone", "waiting", "waiting"]), [
    "1 tool is no longer there",
    "2 tools are waiting for a server that is away",
  ]);
  assert.match(toolsetNotes(Array(41).fill("registered"))[0] ?? "", /^41 tools .* stops at 40$/);
});
