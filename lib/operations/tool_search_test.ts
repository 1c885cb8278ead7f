import assert from "node:assert/strict";
import { stubGateway } from "../console/testing/stub_gateway.ts";
import type { AnsweredCall } from "../telemetry/call_recorder.ts";
import { runOperation } from "./operation.ts";
import { callBy, servicesOf } from "./testing/services.ts";
import { TOOL_OPERATIONS } from "./tool_search.ts";

const gateway = stubGateway({
  degraded: "words only",
  servers: [
    {
      name: "git",
      tools: [
        { name: "commit", description: "Records changes" },
        { name: "reset", description: "Undoes changes", isOff: true },
      ],
    },
    { name: "files", tools: [{ name: "watch", description: "Tells of changes" }] },
  ],
});

const recorded: AnsweredCall[] = [];

function search(input: Record<string, unknown>) {
  const { toolDirectory, tokens } = gateway;
  return runOperation(
    TOOL_OPERATIONS.search,
    servicesOf({
      toolDirectory,
      tokens,
      recorder: { record: (call: AnsweredCall) => recorded.push(call) },
    }),
    input,
    callBy("everyone"),
  );
}

Deno.test("tool.search finds what may be called, with names, cost and reason", async () => {
  const { found, degraded } = await search({ query: "changes" });
  assert.deepEqual(found.map(({ namespacedName }) => namespacedName), [
    "git.commit",
    "files.watch",
  ]);
  const [first] = found;
  assert.equal(first?.flatName, "git_commit");
  assert.equal(first?.relevance, 1);
  assert.match(first?.explanation ?? "", /changes/);
  assert.ok((first?.tokens ?? 0) > 0);
  assert.equal(degraded, "words only");
  assert.equal(recorded[0]?.call.search?.query, "changes");
  assert.equal(recorded[0]?.call.search?.found.length, 2);
});

Deno.test("tool.search lists by server where nothing is asked for", async () => {
  const { found, more } = await search({ limit: 1 });
  assert.deepEqual(found.map(({ namespacedName }) => namespacedName), ["files.watch"]);
  assert.equal(more, 1);
});

Deno.test("tool.search refuses filters that nothing can pass", async () => {
  await assert.rejects(search({ query: "x", server: "gitt" }), { code: "SERVER_NOT_FOUND" });
  await assert.rejects(search({ query: "x", category: "nope" }), { code: "INVALID_ARGUMENTS" });
  await assert.rejects(search({ query: "x", limit: 101 }), { code: "INVALID_ARGUMENTS" });
  await assert.rejects(search({ query: "x", limit: "some" }), { code: "INVALID_ARGUMENTS" });
});
