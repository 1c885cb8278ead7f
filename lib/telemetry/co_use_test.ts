import assert from "node:assert/strict";
import { CoUse } from "./co_use.ts";

Deno.test("CoUse.with() counts what one session calls one after the other", () => {
  const coUse = new CoUse();
  const call = (session: string, at: number, tool: string) =>
    coUse.add({ session, at, server: "git", tool });
  call("a", 0, "status");
  call("b", 1, "push");
  call("a", 2, "commit");
  call("a", 3, "status");
  call("a", 4, "diff");
  call("a", 4 + 60 * 60_000, "log");
  assert.deepEqual(coUse.with("git", "status"), [
    { server: "git", tool: "commit" },
    { server: "git", tool: "diff" },
  ]);
  assert.deepEqual(coUse.with("git", "push"), []);
  assert.deepEqual(coUse.with("git", "log"), []);
});
