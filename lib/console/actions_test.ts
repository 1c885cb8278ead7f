import assert from "node:assert/strict";
import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
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
  assert.equal(
    await runAction(gateway, { action: "retry-job", job: "j" }),
    "Started again for a, b",
  );
  const common = { options: { depth: "quick" }, by: "person" };
  assert.deepEqual(started, [
    { server: "a", tools: ["failed"], ...common },
    { server: "b", tools: ["waiting"], ...common },
  ]);
});

Deno.test("runAction() says what was started again where the rest was not", async () => {
  const tool = { toolName: "t", phase: "queued", failed: false };
  const jobs = {
    get: () =>
      Promise.resolve({ options: {}, tools: ["a", "b"].map((s) => ({ ...tool, server: s })) }),
    start: ({ server }: { server: string }) =>
      server === "a"
        ? Promise.resolve()
        : Promise.reject(new GatewayError("CONFLICT", { message: "It is busy" })),
  };
  const gateway = { optimization: () => Promise.resolve({ jobs }) } as unknown as Gateway;
  await assert.rejects(runAction(gateway, { action: "retry-job", job: "j" }), {
    code: "CONFLICT",
    message: "Started again for a, but not for b: It is busy",
  });
});

Deno.test("runAction() does not wait for a restart that takes long, and says what failed", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const acting = (restart: () => Promise<unknown>) => {
    const server = { name: "git", state: "failed", reason: "It fell over", toolCount: 0 };
    return { admin: { restart, describe: () => ({ server }) } } as unknown as Gateway;
  };
  const asked = { action: "restart-server", server: "git" } as const;
  assert.equal(await runAction(acting(() => promise), asked), "git is being restarted");
  resolve({});
  const ready = { name: "git", state: "ready", toolCount: 2 };
  assert.equal(
    await runAction(acting(() => Promise.resolve(ready)), asked),
    "Restarted git: 2 tools",
  );
  const lost = () => Promise.reject(new GatewayError("SERVER_DISCONNECTED"));
  await assert.rejects(runAction(acting(lost), asked), /does not work: It fell over/);
});
