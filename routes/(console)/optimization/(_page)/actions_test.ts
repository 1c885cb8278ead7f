import { EVERYONE } from "../../../../lib/core/access.ts";
import { callBy } from "../../../../lib/operations/testing/services.ts";
import assert from "node:assert/strict";
import { draft, GOOD } from "../../../../lib/mcp/testing/open_optimization.ts";
import { changeJob, runToolAction, tabOfAction } from "./actions.ts";
import { optimizationGateway } from "../../../../lib/console/testing/optimization_gateway.ts";

const NAMED = { server: "weather", tool: "forecast" };
const CALL = callBy(EVERYONE, { via: "console" });
type Opened = Awaited<ReturnType<typeof optimizationGateway>>;

function act({ gateway }: Opened, fields: Record<string, string>): Promise<string> {
  return runToolAction(gateway, NAMED, new URLSearchParams(fields), CALL);
}

Deno.test("runToolAction() promotes, against the verdict only with a reason, and reverts", async () => {
  await using opened = await optimizationGateway();
  const { candidateId: candidate } = await draft(opened);
  await assert.rejects(act(opened, { do: "promote", candidate }), /run evaluations first/);
  await assert.rejects(act(opened, { do: "promote", candidate, reason: " " }), /run evaluations/);
  const next = await act(opened, { do: "promote", candidate, reason: "a trial" });
  assert.equal(next, "/optimization/weather/forecast?done=promoted");
  assert.equal(opened.shown(), GOOD);
  assert.deepEqual(opened.told, [["optimization", NAMED]]);
  assert.match(await act(opened, { do: "revert" }), /done=reverted/);
  assert.notEqual(opened.shown(), GOOD);
  const { history: [, first] } = await opened.admin.detail({ server: "weather", tool: "forecast" });
  assert.match(await act(opened, { do: "revert", to: first?.id ?? "" }), /done=restored/);
  assert.equal(opened.shown(), GOOD);
});

Deno.test("runToolAction() saves candidates and prompts as they were typed", async () => {
  await using opened = await optimizationGateway();
  await act(opened, { do: "propose", description: "Two\r\nlines", example: "" });
  const prompt = "What is the weather?";
  await act(opened, { do: "add-prompt", category: "direct", prompt, notes: "", expectedTool: "" });
  const { candidates, prompts } = await opened.admin.detail({
    server: "weather",
    tool: "forecast",
  });
  assert.deepEqual(candidates.map(({ description, origin }) => [description, origin]), [
    ["Two\nlines", "person"],
  ]);
  assert.deepEqual(prompts[0]?.expectedBehavior, { shouldCallTool: true });
  const id = prompts[0]?.id ?? "";
  await act(opened, {
    do: "edit-prompt",
    id,
    category: "negative",
    prompt: "Are there any storm warnings?",
    notes: "a sibling's",
    expectedTool: "alerts",
  });
  const [edited] = (await opened.admin.detail({ server: "weather", tool: "forecast" })).prompts;
  assert.deepEqual([edited?.version, edited?.expectedBehavior], [2, {
    shouldCallTool: false,
    notes: "a sibling's",
    expectedTool: "alerts",
  }]);
  assert.match(await act(opened, { do: "retire-prompt", id }), /tab=prompts&done=retired/);
  assert.deepEqual(
    (await opened.admin.detail({ server: "weather", tool: "forecast" })).prompts,
    [],
  );
});

Deno.test("runToolAction() drops nothing that was typed: what does not fit is refused", async () => {
  await using opened = await optimizationGateway();
  const prompt = "What is the weather?";
  const fields = { category: "direct", prompt, expectedTool: "alerts" };
  await assert.rejects(act(opened, { do: "add-prompt", ...fields }), /alerts/);
  await act(opened, { do: "add-prompt", category: "direct", prompt });
  const [saved] = (await opened.admin.detail({ server: "weather", tool: "forecast" })).prompts;
  const id = saved?.id ?? "";
  await assert.rejects(act(opened, { do: "edit-prompt", id, ...fields }), /alerts/);
});

Deno.test("changeJob() does what the address says, and knows nothing else", async () => {
  await using opened = await optimizationGateway();
  const { candidateId: candidate } = await draft(opened);
  opened.state.isHanging = true;
  opened.state.isWriting = true;
  await act(opened, { do: "evaluate", candidate });
  const [{ id } = { id: "" }] = await opened.jobs.list();
  assert.equal(
    (await changeJob(opened.gateway, { id, action: "cancel" }, CALL)).status,
    "cancelled",
  );
  await assert.rejects(changeJob(opened.gateway, { id, action: "list" }, CALL), {
    code: "NOT_FOUND",
  });
});

Deno.test("runToolAction() evaluates one candidate and leaves the decision to a person", async () => {
  await using opened = await optimizationGateway();
  const { candidateId: candidate } = await draft(opened);
  const next = await act(opened, { do: "evaluate", candidate });
  assert.match(next, /^\/optimization\/~jobs\/job_/);
  const [job] = await opened.jobs.list();
  assert.deepEqual(job?.options.candidateIds, [candidate]);
  assert.equal(job.options.autoPromote, false);
});

Deno.test("runToolAction() keeps a promotion over a changed description", async () => {
  await using opened = await optimizationGateway();
  const { candidateId: candidate } = await draft(opened);
  await act(opened, { do: "promote", candidate, reason: "a trial" });
  opened.describe("Does other things");
  assert.match(await act(opened, { do: "keep" }), /done=kept/);
  assert.equal(
    (await opened.admin.detail({ server: "weather", tool: "forecast" })).staleness,
    null,
  );
});

Deno.test("runToolAction() has a model write, and refuses what it does not know", async () => {
  await using opened = await optimizationGateway();
  opened.state.written.push(JSON.stringify({ candidates: [{ description: GOOD }] }));
  assert.match(await act(opened, { do: "generate-candidates", count: "1" }), /done=written/);
  assert.equal(
    (await opened.admin.detail({ server: "weather", tool: "forecast" })).candidates.length,
    1,
  );
  await assert.rejects(act(opened, { do: "explode" }), /unknown action/);
  await assert.rejects(act(opened, { do: "add-prompt", category: "odd", prompt: "x" }), /category/);
});

Deno.test("tabOfAction() leads back to where a form stands", () => {
  assert.deepEqual(["promote", "propose", "add-prompt", "toString", null].map(tabOfAction), [
    "result",
    "candidates",
    "prompts",
    "result",
    "result",
  ]);
});
