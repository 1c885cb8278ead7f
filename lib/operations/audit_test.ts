import assert from "node:assert/strict";
import { Store } from "../storage/store.ts";
import { openAudit } from "../telemetry/audit.ts";
import { Redactor } from "../telemetry/redact.ts";
import { AUDIT_OPERATIONS } from "./audit.ts";
import { type FileOutput, runOperation } from "./operation.ts";
import { callBy, servicesOf } from "./testing/services.ts";

const { list, exportLog } = AUDIT_OPERATIONS;

async function openServices(stack: AsyncDisposableStack) {
  const store = stack.use(await Store.open({ location: ":memory:" }));
  const audit = openAudit({
    stack,
    store,
    redactor: new Redactor(),
    nameOf: (principal) => principal,
    onWarning: (message) => assert.fail(message),
  });
  return { audit, services: servicesOf({ audit }) };
}

Deno.test("audit.list gives some at a time, and refuses what it cannot read", async () => {
  await using stack = new AsyncDisposableStack();
  const { audit, services } = await openServices(stack);
  for (let n = 0; n < 7; n++) audit.note({ action: "server.add", subject: `s${n}` });
  const run = (input: unknown) => runOperation(list, services, input, callBy("everyone"));
  const { entries, hasOlder } = await run({ limit: 5 });
  assert.deepEqual([entries.length, hasOlder], [5, true]);
  const older = await run({ before: entries.at(-1)!.id });
  assert.deepEqual([older.entries.length, older.hasOlder], [2, false]);
  for (const wrong of [{ since: "soon" }, { limit: 0 }, { format: "csv" }]) {
    await assert.rejects(run(wrong), { code: "INVALID_ARGUMENTS" });
  }
});

Deno.test("audit.export gives what the filter leaves, in both formats", async () => {
  await using stack = new AsyncDisposableStack();
  const { audit, services } = await openServices(stack);
  audit.note({ action: "server.add", subject: "git" });
  audit.note({ action: "toolset.save", subject: "work" });
  const run = async (input: unknown) => {
    const file: FileOutput = await runOperation(exportLog, services, input, callBy("everyone"));
    return { ...file, text: await new Response(file.body).text() };
  };
  assert.equal((await run({})).text.trimEnd().split("\n").length, 2);
  const { text, fileName, contentType } = await run({ format: "csv", action: "server" });
  assert.equal(text.trimEnd().split("\r\n").length, 2);
  assert.match(text, /,server\.add,git,/);
  assert.match(fileName, /^audit-\d{4}-\d\d-\d\d\.csv$/);
  assert.match(contentType, /^text\/csv/);
  await assert.rejects(run({ format: "xml" }), { code: "INVALID_ARGUMENTS" });
});
