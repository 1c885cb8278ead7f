import assert from "node:assert/strict";
import { keepUp } from "./upkeep.ts";
import { until } from "../../tests/gateway.ts";

Deno.test("keepUp() works at once and again, also after a failure, and not beside itself", async () => {
  const errors: unknown[] = [];
  let [begun, running, most] = [0, 0, 0];
  {
    await using _upkeep = keepUp({
      async work() {
        begun++;
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 10));
        running--;
        if (begun === 1) throw new Error("once");
      },
      everyMs: 1,
      onError: (error) => errors.push(error),
    });
    assert.equal(begun, 1);
    await until(() => begun >= 3 || undefined);
  }
  assert.deepEqual([most, running, errors.length], [1, 0, 1]);
});
