import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { RemoteServer, type ServerSpec } from "../core/server.ts";
import { changeServer } from "./server_update.ts";

const ROW = { name: "a", type: "http", state: "ready", reason: "", toolCount: 0 };

Deno.test("changeServer() makes its change in what others have changed meanwhile", async () => {
  let spec: ServerSpec = RemoteServer.parse({ type: "http", url: "https://a.example/mcp" });
  const others: Partial<ServerSpec>[] = [{ callsPerMinute: 60 }, { mode: "read-only" }];
  const servers = {
    describe: () => Promise.resolve({ spec, version: JSON.stringify(spec) }),
    update(_name: string, wanted: ServerSpec, version?: string) {
      spec = { ...spec, ...others.shift() } as ServerSpec;
      if (version !== undefined && version !== JSON.stringify(spec)) {
        return Promise.reject(new GatewayError("CONFLICT"));
      }
      spec = wanted;
      return Promise.resolve(ROW);
    },
  };
  const limits = { maxConcurrent: 2 };
  const change = { name: "a", headers: {}, env: {}, unset: [], limits, flags: new Map() };
  assert.deepEqual(await changeServer(servers, change), { server: ROW, spec });
  assert.deepEqual(spec, {
    type: "http",
    url: "https://a.example/mcp",
    headers: {},
    callsPerMinute: 60,
    mode: "read-only",
    maxConcurrent: 2,
  });
});
