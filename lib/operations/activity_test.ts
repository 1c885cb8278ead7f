import assert from "node:assert/strict";
import { ActivityRepository } from "../storage/activity_repository.ts";
import { Store } from "../storage/store.ts";
import { ActivityLog } from "../telemetry/activity_log.ts";
import { ActivityReader } from "../telemetry/activity_reader.ts";
import { CallDetails } from "../telemetry/call_recorder.ts";
import { Redactor } from "../telemetry/redact.ts";
import { OPERATIONS } from "./all.ts";
import { answerOldPath } from "./old_paths.ts";
import { ACTIVITY_OPERATIONS } from "./activity.ts";
import { type FileOutput, runOperation } from "./operation.ts";
import { callBy, servicesOf } from "./testing/services.ts";

const { list, show, exportCalls } = ACTIVITY_OPERATIONS;
const CALL = {
  endpoint: "mcp?default",
  session: "s",
  principal: "everyone",
  ms: 3,
  client: "cursor 1",
  tool: "t",
  ok: true,
};

async function openActivity(stack: AsyncDisposableStack) {
  const store = stack.use(await Store.open({ location: ":memory:" }));
  const repository = new ActivityRepository(store);
  const log = stack.use(
    new ActivityLog({ repository, processId: "a", onWarning: assert.fail }),
  );
  const details = new CallDetails({});
  const calls = new ActivityReader({ repository, log, details, redactor: new Redactor() });
  return { log, services: servicesOf({ calls }) };
}

Deno.test("activity.list gives some at a time, and refuses what makes no sense", async () => {
  await using stack = new AsyncDisposableStack();
  const { log, services } = await openActivity(stack);
  for (let n = 0; n < 5; n++) log.record({ ...CALL, server: n % 2 ? "git" : "air" });
  const run = (input: unknown) => runOperation(list, services, input, callBy("everyone"));
  const { calls, hasOlder } = await run({ limit: 2, server: "air" });
  assert.deepEqual([calls.length, hasOlder], [2, true]);
  const older = await run({ server: "air", before: calls.at(-1)!.id });
  assert.deepEqual([older.calls.length, older.hasOlder], [1, false]);
  for (const wrong of [{ limit: 0 }, { limit: 501 }, { limit: "x" }, { status: "maybe" }]) {
    await assert.rejects(run(wrong), { code: "INVALID_ARGUMENTS" });
  }
  const found = await runOperation(show, services, { id: calls[0]!.id }, callBy("everyone"));
  assert.equal(found.call.server, "air");
  const missing = runOperation(show, services, { id: "none" }, callBy("everyone"));
  await assert.rejects(missing, { code: "NOT_FOUND" });
});

Deno.test("activity.export writes all that the filter has, with formulas kept from running", async () => {
  await using stack = new AsyncDisposableStack();
  const { log, services } = await openActivity(stack);
  for (let n = 0; n < 1_200; n++) log.record({ ...CALL, server: "git" });
  log.record({ ...CALL, client: '=HYPERLINK("x")', server: "air" });
  const lines = async (input: unknown) => {
    const file: FileOutput = await runOperation(exportCalls, services, input, callBy("everyone"));
    return (await new Response(file.body).text()).trim().split(/\r?\n/);
  };
  const csv = await lines({ server: "air" });
  assert.equal(csv.length, 2);
  assert.ok(csv[1]!.includes(`"'=HYPERLINK(""x"")"`), csv[1]);
  const all = await lines({ format: "ndjson" });
  assert.equal(all.length, 1_201);
  assert.equal(JSON.parse(all[0]!).server, "air");
  assert.ok(![...csv, all[0]!].some((line) => /principal|everyone/.test(line)));
  await assert.rejects(lines({ format: "xml" }), { code: "INVALID_ARGUMENTS" });
});

Deno.test("the older path of activity.list takes q for the text, and ignores what it does not know", async () => {
  const asked: unknown[] = [];
  const calls = {
    // deno-lint-ignore require-yield
    async *calls(filter: unknown) {
      asked.push(filter);
    },
  };
  const response = await answerOldPath({
    request: new Request("http://localhost/api/activity?q=+words&server=&page=2&limit=5"),
    services: servicesOf({ calls }) as never,
    operations: OPERATIONS,
    call: callBy("everyone"),
    maxBytes: 1_000,
  });
  assert.equal(response?.status, 200);
  assert.deepEqual(asked, [{ text: "words" }]);
});
