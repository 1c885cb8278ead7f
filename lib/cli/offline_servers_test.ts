import assert from "node:assert/strict";
import { readOptions } from "../config/options.ts";
import { SERVER_OPERATIONS } from "../operations/servers.ts";
import { OfflineServers } from "./offline_servers.ts";

const { list, show, add, update, pause, resume } = SERVER_OPERATIONS;

Deno.test("server.update refuses a change of what another command has changed", async () => {
  const dir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const env = { get: (name: string) => name === "HOME" ? dir : undefined };
  const read = await readOptions(["--data-dir", dir], env, { os: Deno.build.os, cwd: dir });
  const input = { ...read, env, values: new Map(), afterDashes: [] };
  {
    await using servers = await OfflineServers.open(input);
    await servers.run(add, { name: "a", url: "http://127.0.0.1:1/mcp", check: false });
    await using other = await OfflineServers.open(input);
    const { server: _, ...before } = await servers.run(show, { name: "a" });
    const entry = { name: "a", ...before.spec, version: before.version };
    await other.run(update, { ...entry, disabled: true });
    const change = { ...entry, maxConcurrent: 2 };
    await assert.rejects(servers.run(update, change), { code: "CONFLICT" });
    const after = await servers.run(show, { name: "a" });
    assert.deepEqual(after.spec, { ...before.spec, disabled: true });
    await servers.run(update, { ...change, version: after.version });
    const { spec: changed } = await other.run(show, { name: "a" });
    assert.deepEqual(changed, { ...before.spec, disabled: true, maxConcurrent: 2 });
  }
  await Deno.remove(dir, { recursive: true });
});

Deno.test("server.pause pauses a server of the config file for later gateways", async () => {
  const dir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const config = `${dir}/servers.json`;
  await Deno.writeTextFile(
    config,
    '{"mcpServers":{"a":{"url":"http://127.0.0.1:4321/mcp"},"b":5}}',
  );
  const env = { get: (name: string) => name === "HOME" ? dir : undefined };
  const flags = ["--data-dir", dir, "--config", config];
  const read = await readOptions(flags, env, { os: Deno.build.os, cwd: dir });
  const input = { ...read, env, values: new Map(), afterDashes: [] };
  const states = async () => {
    await using servers = await OfflineServers.open(input);
    const { servers: rows } = await servers.run(list, {});
    return rows.map(({ name, state }: Record<string, string>) => `${name} ${state}`);
  };
  {
    await using servers = await OfflineServers.open(input);
    assert.equal((await servers.run(pause, { name: "a" })).server.state, "paused");
    await assert.rejects(servers.run(pause, { name: "b" }), { code: "SERVER_NOT_RUNNING" });
    await assert.rejects(servers.run(pause, { name: "c" }), { code: "SERVER_NOT_FOUND" });
  }
  assert.deepEqual(await states(), ["a paused", "b failed"]);
  {
    await using servers = await OfflineServers.open(input);
    assert.equal((await servers.run(resume, { name: "a" })).server.state, "not_running");
  }
  assert.deepEqual(await states(), ["a not_running", "b failed"]);
  await Deno.remove(dir, { recursive: true });
});
