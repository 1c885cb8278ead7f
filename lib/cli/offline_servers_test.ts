import assert from "node:assert/strict";
import { readOptions } from "../config/options.ts";
import { RemoteServer } from "../core/server.ts";
import { OfflineServers } from "./offline_servers.ts";

Deno.test("OfflineServers.update() refuses a change of what another command has changed", async () => {
  const dir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const env = { get: (name: string) => name === "HOME" ? dir : undefined };
  const read = await readOptions(["--data-dir", dir], env, { os: Deno.build.os, cwd: dir });
  const input = { ...read, env, values: new Map(), afterDashes: [] };
  {
    await using servers = await OfflineServers.open(input);
    const spec = RemoteServer.parse({ type: "http", url: "http://127.0.0.1:1/mcp" });
    await servers.add("a", spec, { check: false });
    await using other = await OfflineServers.open(input);
    const before = await servers.describe("a");
    await other.update("a", { ...before.spec, disabled: true }, before.version);
    const change = { ...before.spec, maxConcurrent: 2 };
    await assert.rejects(servers.update("a", change, before.version), { code: "CONFLICT" });
    const after = await servers.describe("a");
    assert.deepEqual(after.spec, { ...before.spec, disabled: true });
    await servers.update("a", { ...after.spec, maxConcurrent: 2 }, after.version);
    const { spec: changed } = await other.describe("a");
    assert.deepEqual(changed, { ...before.spec, disabled: true, maxConcurrent: 2 });
  }
  await Deno.remove(dir, { recursive: true });
});
