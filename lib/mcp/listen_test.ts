import assert from "node:assert/strict";
import { Listen } from "./listen.ts";
import { StatelessSession } from "./stateless_session.ts";
import type { View, ViewSession } from "./view.ts";

Deno.test("Listen.open() follows no tasks if it fails", async () => {
  const failed = Promise.withResolvers<never>();
  const stopped = Promise.withResolvers<void>();
  const opened: ViewSession = {
    request: () => assert.fail(),
    notify() {},
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const view: View = { introduce: () => failed.promise, open: () => opened };
  await using session = new StatelessSession({
    key: "key",
    endpoint: "mcp?",
    principal: "token:ann",
    profile: { protocolVersion: "2026-07-28", capabilities: {} },
  }, view);
  const held = {
    isOurs: (id: unknown): id is string => id === "task",
    taskSource: () => ({
      state: () => Promise.resolve("{}"),
      async follow(onChange: () => void, signal: AbortSignal) {
        signal.addEventListener("abort", () => stopped.resolve());
        onChange();
        failed.reject(new Error("The server is gone"));
        await stopped.promise;
      },
    }),
  };
  const request = { id: 1, params: { notifications: { taskIds: ["task"] } } };
  await assert.rejects(
    Listen.open(session, view, request, () => assert.fail(), held),
    /server is gone/,
  );
  await stopped.promise;
  assert.equal(session.opening, 0);
});
