import { EVERYONE } from "../../../../lib/core/access.ts";
import { jobDefaults, jobFormPage, submitJob } from "./job_form.ts";
import { callBy } from "../../../../lib/operations/testing/services.ts";
import assert from "node:assert/strict";
import { draft } from "../../../../lib/mcp/testing/open_optimization.ts";
import { optimizationGateway } from "../../../../lib/console/testing/optimization_gateway.ts";
import { readJobFields } from "./browser.ts";

const CALL = callBy(EVERYONE, { via: "console" });

const NONE = new URLSearchParams();

async function pageOf(
  { gateway }: Awaited<ReturnType<typeof optimizationGateway>>,
  input: Parameters<typeof jobFormPage>[1],
) {
  const found = await jobFormPage(gateway, input);
  assert.ok(!("missing" in found));
  return found;
}

Deno.test("jobFormPage() chooses what is not optimized yet, with an estimate", async () => {
  await using opened = await optimizationGateway();
  const { candidateId } = await draft(opened);
  const first = await pageOf(opened, { server: "weather", query: NONE });
  assert.deepEqual(first.tools.map(({ name, isChosen }) => [name, isChosen]), [
    ["forecast", true],
    ["alerts", true],
  ]);
  assert.equal(first.estimate?.tools, 2);
  const named = { server: "weather", tool: "forecast" };
  await opened.admin.promote({ ...named, candidateId, reason: "a trial" }, "person");
  const later = await pageOf(opened, { server: "weather", query: NONE });
  assert.deepEqual(later.values.tools, ["alerts"]);
  const query = new URLSearchParams({ tool: "forecast" });
  const asked = await pageOf(opened, { server: "weather", query });
  assert.deepEqual(asked.values.tools, ["forecast"]);
});

Deno.test("jobFormPage() keeps what was filled in, and says what is wrong with it", async () => {
  await using opened = await optimizationGateway();
  const query = new URLSearchParams("tool=alerts&depth=quick&candidates=99");
  const page = await pageOf(opened, { server: "weather", query });
  assert.deepEqual([page.values.candidates, page.values.tools], ["99", ["alerts"]]);
  assert.match(page.problem?.message ?? "", /candidates per tool is not valid/);
  assert.equal(page.estimate, undefined);
});

Deno.test("submitJob() passes on what the model gets, and how often a prompt is asked", async () => {
  await using opened = await optimizationGateway();
  await draft(opened);
  const submit = async (surface: string) => {
    const fields = new URLSearchParams({ tool: "forecast", depth: "quick", repeats: "2", surface });
    await submitJob(opened.gateway, readJobFields(fields, "weather"), CALL);
    const [job] = await opened.jobs.list();
    return job?.options;
  };
  const options = await submit("server");
  assert.deepEqual([options?.surface, options?.repeats], ["server", 2]);
  await assert.rejects(submit("toolset"), /what the model gets is not valid: must be server/);
  await assert.rejects(submit("equipped"), /no toolset is equipped/);
});

Deno.test("jobFormPage() without a server is about all of them", async () => {
  await using opened = await optimizationGateway();
  const { servers, enabled, estimate } = await pageOf(opened, { server: undefined, query: NONE });
  assert.deepEqual(servers, [{ name: "weather", tools: 2, enabled: 2, optimized: 0 }]);
  assert.deepEqual([enabled, estimate?.tools], [2, 2]);
});

Deno.test("jobFormPage() names what may have been meant", async () => {
  await using opened = await optimizationGateway();
  const found = await jobFormPage(opened.gateway, { server: "wether", query: NONE });
  assert.deepEqual(found, { missing: "wether", nearest: ["weather"] });
});

Deno.test("submitJob() starts what the form says, and refuses in words", async () => {
  await using opened = await optimizationGateway();
  await draft(opened);
  const fields = new URLSearchParams("tool=forecast&depth=quick&candidates=1&prompts=1");
  const next = await submitJob(opened.gateway, readJobFields(fields, "weather"), CALL);
  const [job] = await opened.jobs.list();
  assert.equal(next, `/optimization/~jobs/${job?.id}`);
  assert.deepEqual(job?.tools.map(({ toolName }) => toolName), ["forecast"]);
  assert.deepEqual([job.by, job.options.autoPromote], ["person", false]);
  const empty = { ...jobDefaults(), server: "weather" };
  await assert.rejects(submitJob(opened.gateway, empty, CALL), /the list of tools is empty/);
  await assert.rejects(
    submitJob(opened.gateway, { ...empty, tools: ["forecast"], maxRuns: "many" }, CALL),
    /maximum runs is not valid/,
  );
});
