import assert from "node:assert/strict";
import { Access } from "../auth/access.ts";
import type { Gateway } from "../gateway.ts";
import { AccessScope, type AccessToken, EVERYONE } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { type ConsoleAction, readAction, restartSoon, runAction } from "./actions.ts";
import { callBy } from "../operations/testing/services.ts";
import { toolsetsGateway } from "./testing/toolsets_gateway.ts";
import { TransportClosed } from "../servers/transports/transport.ts";

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
      /unknown action/,
    );
  }
});

Deno.test("runAction() equips and unequips", async () => {
  await using opened = await toolsetsGateway({ git: ["status"] });
  const { gateway } = opened;
  await gateway.toolsets.build({ name: "dev", tools: ["git.status"] });
  const acting = { ...gateway, access } as unknown as Gateway;
  const done = await runAction(
    acting,
    { action: "equip-toolset", toolset: "dev" },
    callBy(EVERYONE),
  );
  assert.match(done, /^Equipped "dev"/);
  assert.equal(gateway.toolsets.toolsets.equippedBy(EVERYONE)?.name, "dev");
  await runAction(acting, { action: "unequip-toolset" }, callBy(EVERYONE));
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
    runAction(gateway, asked, callBy(`token:${rights}`)).then(
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

Deno.test("runAction() does not wait for a restart that takes long, and says what failed", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const acting = (restart: () => Promise<unknown>) => {
    const server = { name: "git", state: "failed", reason: "It fell over", toolCount: 0 };
    return { access, admin: { restart, describe: () => ({ server }) } } as unknown as Gateway;
  };
  const asked = { action: "restart-server", server: "git" } as const;
  assert.equal(
    await runAction(acting(() => promise), asked, callBy(EVERYONE)),
    "git is being restarted",
  );
  resolve({});
  const ready = { name: "git", state: "ready", toolCount: 2 };
  assert.equal(
    await runAction(acting(() => Promise.resolve(ready)), asked, callBy(EVERYONE)),
    "Restarted git: 2 tools",
  );
  const lost = () => Promise.reject(new GatewayError("SERVER_DISCONNECTED"));
  await assert.rejects(
    runAction(acting(lost), asked, callBy(EVERYONE)),
    /is still not working: It fell over/,
  );
});

Deno.test("runAction() repairs a server for callers with the right to manage", async () => {
  const repaired: string[] = [];
  const repair = (name: string) => {
    repaired.push(name);
    return Promise.resolve({ name, state: "ready", toolCount: 9 });
  };
  const asked = { action: "repair-server", server: "memory" } as const;
  const gateway = { access, admin: { repair } } as unknown as Gateway;
  assert.equal(await runAction(gateway, asked, callBy(EVERYONE)), "Repaired memory: 9 tools");
  assert.deepEqual(repaired, ["memory"]);
});

function restarting(restart: () => Promise<unknown>) {
  const logged: unknown[] = [];
  const gateway = {
    admin: { restart, describe: () => ({ server: { name: "git", state: "failed" } }) },
    requestLog: { error: (fields: unknown) => logged.push(fields) },
  } as unknown as Gateway;
  return { gateway, logged };
}

Deno.test("restartSoon() does not wait for all of it, and logs what fails later", async () => {
  const { promise, reject } = Promise.withResolvers<unknown>();
  const { gateway, logged } = restarting(() => promise);
  assert.equal(await restartSoon(gateway, "git", { waitMs: 1 }), undefined);
  const err = new Error("the store is gone");
  reject(err);
  await promise.catch(() => {});
  // The log is written in the same turn, after this.
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(logged, [{ err, server: "git" }]);
});

Deno.test("restartSoon() leaves it to the page to say that the server fails", async () => {
  for (const error of [new TransportClosed("lost", "refused"), new GatewayError("TIMEOUT")]) {
    const { gateway, logged } = restarting(() => Promise.reject(error));
    assert.equal((await restartSoon(gateway, "git", { waitMs: 10_000 }))?.state, "failed");
    assert.deepEqual(logged, []);
  }
});

Deno.test("restartSoon() throws what is not the server's fault", async () => {
  for (const error of [new GatewayError("SERVER_NOT_FOUND"), new TypeError("a bug")]) {
    const { gateway } = restarting(() => Promise.reject(error));
    await assert.rejects(restartSoon(gateway, "git", { waitMs: 10_000 }), error);
  }
});
