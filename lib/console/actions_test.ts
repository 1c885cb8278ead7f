import assert from "node:assert/strict";
import type { Gateway } from "../compose.ts";
import { EVERYONE } from "../core/principal.ts";
import { readAction, runAction } from "./actions.ts";
import { toolsetsGateway } from "./testing/toolsets_gateway.ts";

function fields(entries: Record<string, string>): URLSearchParams {
  return new URLSearchParams(entries);
}

Deno.test("readAction() refuses what it does not know, and what is not whole", () => {
  assert.deepEqual(readAction(fields({ action: "resume-job", job: "j", back: "/" })), {
    action: "resume-job",
    job: "j",
  });
  for (const wrong of [{}, { action: "format-disk" }, { action: "restart-server" }]) {
    assert.throws(
      () => readAction(fields(wrong as Record<string, string>)),
      /knows no such action/,
    );
  }
});

Deno.test("runAction() equips and unequips", async () => {
  await using opened = await toolsetsGateway({ git: ["status"] });
  const { gateway } = opened;
  await gateway.toolsets.build({ name: "dev", tools: ["git.status"] });
  const acting = gateway as unknown as Gateway;
  const done = await runAction(acting, { action: "equip-toolset", toolset: "dev" });
  assert.equal(done, "Equipped dev");
  assert.equal(gateway.toolsets.toolsets.equippedBy(EVERYONE)?.name, "dev");
  await runAction(acting, { action: "unequip-toolset" });
  assert.equal(gateway.toolsets.toolsets.equippedBy(EVERYONE), undefined);
});

Deno.test("runAction() starts again only what a job left undone, server by server", async () => {
  const started: unknown[] = [];
  const jobs = {
    get: () =>
      Promise.resolve({
        options: { depth: "quick" },
        tools: [
          { server: "a", toolName: "done", phase: "complete", failed: false },
          { server: "a", toolName: "failed", phase: "complete", failed: true },
          { server: "b", toolName: "waiting", phase: "queued", failed: false },
        ],
      }),
    start: (request: unknown) => Promise.resolve(started.push(request)),
  };
  const gateway = { optimization: () => Promise.resolve({ jobs }) } as unknown as Gateway;
  assert.equal(await runAction(gateway, { action: "retry-job", job: "j" }), "Started again");
  const common = { options: { depth: "quick" }, by: "person" };
  assert.deepEqual(started, [
    { server: "a", tools: ["failed"], ...common },
    { server: "b", tools: ["waiting"], ...common },
  ]);
});
