import assert from "node:assert/strict";
import { Access } from "../auth/access.ts";
import type { Gateway } from "../compose.ts";
import { AccessScope, type AccessToken } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { EVERYONE } from "../core/principal.ts";
import { type ConsoleAction, readAction, runAction } from "./actions.ts";
import { toolsetsGateway } from "./testing/toolsets_gateway.ts";

const access = new Access({ isRequired: true });

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
  const acting = { ...gateway, access } as unknown as Gateway;
  const done = await runAction(acting, { action: "equip-toolset", toolset: "dev" }, EVERYONE);
  assert.equal(done, "Equipped dev");
  assert.equal(gateway.toolsets.toolsets.equippedBy(EVERYONE)?.name, "dev");
  await runAction(acting, { action: "unequip-toolset" }, EVERYONE);
  assert.equal(gateway.toolsets.toolsets.equippedBy(EVERYONE), undefined);
});

Deno.test("runAction() does for a token what it may do at that thing's own address", async () => {
  const token = (rights: string): AccessToken => {
    const scope = AccessScope.parse({ rights: rights.split(",") });
    return { id: rights, name: rights, hash: rights, scope, createdAt: 0 };
  };
  const access = new Access({ isRequired: true });
  access.load(["read", "read,call,manage", "read,manage,optimize"].map(token), []);
  const past = new Error("Let through");
  const gateway = new Proxy({}, {
    get(_, name) {
      if (name === "access") return access;
      throw past;
    },
  }) as Gateway;
  const isLet = (asked: ConsoleAction, rights: string) =>
    runAction(gateway, asked, `token:${rights}`).then(
      () => assert.fail("The stand-in does nothing"),
      (error) => {
        if (error !== past) assert.equal(error.code, "ACCESS_DENIED");
        return error === past;
      },
    );
  const tool = { server: "git", tool: "status" };
  const needs: [ConsoleAction, "read" | "read,call,manage" | "read,manage,optimize"][] = [
    [{ action: "equip-toolset", toolset: "dev" }, "read"],
    [{ action: "unequip-toolset" }, "read"],
    [{ action: "restart-server", server: "git" }, "read,call,manage"],
    [{ action: "finish-tour" }, "read,call,manage"],
    [{ action: "keep-promotion", ...tool }, "read,manage,optimize"],
    [{ action: "revert-promotion", ...tool }, "read,manage,optimize"],
    [{ action: "resume-job", job: "j" }, "read,manage,optimize"],
    [{ action: "retry-job", job: "j" }, "read,manage,optimize"],
  ];
  const ranks = ["read", "read,call,manage", "read,manage,optimize"];
  for (const [asked, least] of needs) {
    const lets = await Promise.all(ranks.map((rights) => isLet(asked, rights)));
    const expected = ranks.map((_, rank) => rank >= ranks.indexOf(least));
    assert.deepEqual(lets, expected, asked.action);
  }
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
  const gateway = {
    access,
    optimization: () => Promise.resolve({ jobs }),
  } as unknown as Gateway;
  assert.equal(
    await runAction(gateway, { action: "retry-job", job: "j" }, EVERYONE),
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
  const gateway = {
    access,
    optimization: () => Promise.resolve({ jobs }),
  } as unknown as Gateway;
  await assert.rejects(runAction(gateway, { action: "retry-job", job: "j" }, EVERYONE), {
    code: "CONFLICT",
    message: "Started again for a, but not for b: It is busy",
  });
});

Deno.test("runAction() does not wait for a restart that takes long, and says what failed", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const acting = (restart: () => Promise<unknown>) => {
    const server = { name: "git", state: "failed", reason: "It fell over", toolCount: 0 };
    return { access, admin: { restart, describe: () => ({ server }) } } as unknown as Gateway;
  };
  const asked = { action: "restart-server", server: "git" } as const;
  assert.equal(await runAction(acting(() => promise), asked, EVERYONE), "git is being restarted");
  resolve({});
  const ready = { name: "git", state: "ready", toolCount: 2 };
  assert.equal(
    await runAction(acting(() => Promise.resolve(ready)), asked, EVERYONE),
    "Restarted git: 2 tools",
  );
  const lost = () => Promise.reject(new GatewayError("SERVER_DISCONNECTED"));
  await assert.rejects(runAction(acting(lost), asked, EVERYONE), /does not work: It fell over/);
});
