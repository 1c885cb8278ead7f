import assert from "node:assert/strict";
import { stubFetch } from "../testing/stub_fetch.ts";
import { askLogLines, hasWritten } from "./log_lines.ts";

Deno.test("askLogLines() takes a server's lines, and nothing else", async () => {
  const { signal } = new AbortController();
  {
    using _fetch = stubFetch({ lines: [{ time: 1, line: "started" }] });
    assert.deepEqual(await askLogLines("git", signal), [{ time: 1, line: "started" }]);
  }
  using _fetch = stubFetch({ lines: ["started"] });
  await assert.rejects(askLogLines("git", signal));
});

Deno.test("hasWritten() tells the server from others", () => {
  assert.ok(hasWritten("git", { server: "git" }));
  for (const other of [{ server: "files" }, {}, null]) assert.ok(!hasWritten("git", other));
});
