import assert from "node:assert/strict";
import type { ServerHistory } from "../catalog/tool_history.ts";
import { historyText } from "./review_commands.ts";

const plain = (_color: string, text: string) => text;
const empty: ServerHistory = { server: "files", tools: [], invalid: [], withoutDiff: 0 };

Deno.test("historyText() tells changes by word and by place, newest first", () => {
  const text = historyText({
    ...empty,
    tools: [{
      name: "look",
      state: "listed",
      version: 2,
      versions: [{
        version: 2,
        seenAt: Date.UTC(2026, 0, 2, 3, 4),
        diff: {
          compatibility: "breaking",
          reasons: ['Input: "path" is gone'],
          changes: [
            {
              kind: "text",
              path: "description",
              segments: [
                { kind: "same", text: "Looks\nat " },
                { kind: "removed", text: "files\u001b[31m" },
                { kind: "added", text: "folders" },
              ],
            },
            { kind: "changed", path: "a.b", before: "1", after: "2" },
            { kind: "added", path: "c", after: "3" },
            { kind: "removed", path: "d", before: "4" },
            { kind: "reordered", path: "e" },
          ],
          more: 7,
        },
      }, { version: 1, seenAt: 0 }],
    }, {
      name: "leave",
      state: "gone",
      version: 1,
      goneSince: Date.UTC(2026, 0, 3),
      versions: [{ version: 1, seenAt: 0 }],
    }],
  }, plain);
  assert.equal(
    text,
    `2026-01-03 00:00  leave  gone

2026-01-02 03:04  look  version 2  breaking
  ! Input: "path" is gone
    description: Looks at [-files<U+001B>[31m-]{+folders+}
    a.b: 1 -> 2
    c: 3 added
    d: 4 removed
    e: same values in a different order
    and 7 more changes
`,
  );
});

Deno.test("historyText() says in words where there is nothing to tell", () => {
  assert.equal(historyText(empty, plain), "The gateway has not seen any tools of files yet.\n");
  const text = historyText({
    ...empty,
    tools: [{ name: "a", state: "listed", version: 1, versions: [{ version: 1, seenAt: 1 }] }],
    invalid: [{ name: "bad", problem: "It has no input schema", seenAt: 1, definition: "{}" }],
  }, plain);
  assert.match(text, /^The tools of files have not changed since they were first seen\.\n\n/);
  assert.match(text, /Invalid tools.*\n {2}bad {2}It has no input schema\n$/);
});
