import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { RemoteServer, type ServerSpec } from "../core/server.ts";
import type { Operation } from "../operations/operation.ts";
import { changeServer, countText } from "./server_commands.ts";

const SERVER = { name: "a", source: { kind: "store" }, state: "ready" };

Deno.test("changeServer() makes its change in what others have changed meanwhile", async () => {
  let spec: ServerSpec = RemoteServer.parse({ type: "http", url: "https://a.example/mcp" });
  const others: Partial<ServerSpec>[] = [{ callsPerMinute: 60 }, { mode: "read-only" }];
  const sent: unknown[] = [];
  const target = {
    run({ name }: Operation, input: Record<string, unknown>) {
      const stored = { spec, version: JSON.stringify(spec) };
      if (name === "server.show") return Promise.resolve({ server: SERVER, ...stored });
      spec = { ...spec, ...others.shift() } as ServerSpec;
      const { name: _, version, ...wanted } = input;
      if (version !== JSON.stringify(spec)) return Promise.reject(new GatewayError("CONFLICT"));
      sent.push(wanted);
      return Promise.resolve({ server: SERVER });
    },
  };
  const limits = { maxConcurrent: 2, timeoutMs: undefined };
  const change = { name: "a", headers: {}, env: {}, unset: [], limits, flags: new Map() };
  assert.deepEqual(await changeServer(target, change), { server: SERVER });
  // Null: what is left out stays.
  assert.deepEqual(sent, [{
    type: "http",
    url: "https://a.example/mcp",
    headers: {},
    callsPerMinute: 60,
    mode: "read-only",
    maxConcurrent: 2,
    timeoutMs: null,
  }]);
});

Deno.test("countText() counts tools, and says what is in quarantine", () => {
  assert.equal(countText(1, 0), "1 tool");
  assert.equal(countText(2, 0), "2 tools");
  assert.equal(countText(1, 1), "1 tool; 1 in quarantine: see `quartermaster review list`");
});
