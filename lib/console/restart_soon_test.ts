import assert from "node:assert/strict";
import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import { LinkClosed } from "../downstream/link.ts";
import { restartSoon } from "./restart_soon.ts";

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
  assert.equal(await restartSoon(gateway, "git", 1), undefined);
  const err = new Error("the store is gone");
  reject(err);
  await promise.catch(() => {});
  // The log is written in the same turn, after this.
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(logged, [{ err, server: "git" }]);
});

Deno.test("restartSoon() leaves it to the page to say that the server fails", async () => {
  for (const error of [new LinkClosed("lost", "refused"), new GatewayError("TIMEOUT")]) {
    const { gateway, logged } = restarting(() => Promise.reject(error));
    assert.equal((await restartSoon(gateway, "git", 10_000))?.state, "failed");
    assert.deepEqual(logged, []);
  }
});

Deno.test("restartSoon() throws what is not the server's fault", async () => {
  for (const error of [new GatewayError("SERVER_NOT_FOUND"), new TypeError("a bug")]) {
    const { gateway } = restarting(() => Promise.reject(error));
    await assert.rejects(restartSoon(gateway, "git", 10_000), error);
  }
});
