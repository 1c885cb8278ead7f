import assert from "node:assert/strict";
import { draft, openOptimization } from "../testing/open_optimization.ts";

Deno.test("optimize_tools promotes nothing for a caller who may not decide what all clients read", async () => {
  await using opened = await openOptimization();
  const { call, jobs, promotions } = opened;
  await draft(opened);
  const start = async (wishes: object, principal?: string) => {
    const { text, data } = await call(
      "optimize_tools",
      { server: "weather", tools: ["forecast"], candidatesPerTool: 1, ...wishes },
      principal === undefined ? {} : { principal },
    );
    const { id, options } = Object(data.job);
    await jobs.wait(id, 30_000, new AbortController().signal);
    return { text, autoPromote: options.autoPromote };
  };
  for (const wishes of [{}, { autoPromote: true }]) {
    const { text, autoPromote } = await start(wishes, "token:spender");
    assert.equal(autoPromote, false);
    assert.match(text, /Nothing will be promoted: that needs a token with the right "manage"/);
  }
  assert.equal(promotions.of("weather", "forecast"), undefined);
  const own = await start({});
  assert.equal(own.autoPromote, true);
  assert.doesNotMatch(own.text, /Nothing will be promoted/);
  assert.ok(promotions.of("weather", "forecast"));
});
