import assert from "node:assert/strict";
import { findNginx } from "./nginx.ts";
import { loadInstances } from "./soak/instances_soak.ts";

Deno.test({
  name: "kill -9 of a gateway under load fails only what was in flight there (needs nginx)",
  ignore: await findNginx() === undefined && !Deno.env.get("CI"),
  async fn() {
    const load = { clients: 60, callsPerSecond: 120, kills: 1, killEveryMs: 4_000 };
    const { answered, wrong } = await loadInstances(load);
    assert.deepEqual(wrong, []);
    for (const what of ["2025-11-25", "2026-07-28", "saves"]) {
      assert.ok((answered.get(what) ?? 0) > 0, what);
    }
  },
});
