import assert from "node:assert/strict";
import { z } from "zod";
import { EVERYONE } from "../lib/core/principal.ts";
import { draft, openOptimization } from "../lib/surfaces/testing/open_optimization.ts";
import { handler } from "../routes/api/optimization/jobs/index.ts";

const Answer = z.object({
  job: z.looseObject({ id: z.string(), options: z.looseObject({ autoPromote: z.boolean() }) }),
});

Deno.test("POST /api/optimization/jobs promotes nothing for one who may only spend model time", async () => {
  await using opened = await openOptimization();
  const { jobs, promotions } = opened;
  await draft(opened);
  const gateway = {
    options: { options: { maxBody: 10_000 } },
    optimization: () => Promise.resolve(opened.admin),
  };
  const start = async (principal: string) => {
    const body = { server: "weather", tools: ["forecast"], options: { autoPromote: true } };
    const req = new Request("http://localhost/api/optimization/jobs", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.ok("POST" in handler && handler.POST);
    const response = await handler.POST({ req, state: { gateway, principal } } as never);
    assert.ok(response instanceof Response);
    const { job } = Answer.parse(await response.json());
    await jobs.wait(job.id, 30_000, new AbortController().signal);
    return job.options.autoPromote;
  };
  assert.equal(await start("token:spender"), false);
  assert.equal(promotions.of("weather", "forecast"), undefined);
  assert.equal(await start(EVERYONE), true);
  assert.ok(promotions.of("weather", "forecast"));
});
