import assert from "node:assert/strict";
import { join } from "@std/path";
import { GatewayHost } from "../lib/cli/gateway_host.ts";
import { jobNews } from "../lib/console/ui/jobs.ts";
import { keys } from "../lib/storage/keys.ts";
import { Store } from "../lib/storage/store.ts";
import { startGateway, until } from "./gateway.ts";

Deno.test("a composed gateway ends when it is disposed, whether or not it was told to close", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const flags = ["--kv", ":memory:", "--data-dir", folder, "--config", join(folder, "none.json")];
  await Deno.writeTextFile(join(folder, "none.json"), '{ "mcpServers": {} }');
  const host = new GatewayHost(() => Promise.resolve(jobNews), [...flags, "--log-level", "fatal"]);
  const gateway = await host.get();
  assert.deepEqual(gateway.servers.list().map(({ name }) => name), ["weather"]);
  await host[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a gateway starts, and its servers with it, where a toolset or what is said of a tool cannot be read", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const file = join(folder, "kv.sqlite");
  const flags = ["--kv", file, "--data-dir", folder, "--config", join(folder, "none.json")];
  await Deno.writeTextFile(join(folder, "none.json"), '{ "mcpServers": {} }');
  await (await Store.open({ location: file }))[Symbol.asyncDispose]();
  {
    using kv = await Deno.openKv(file);
    for (const key of [keys.toolsets("dev"), keys.toolMetadata("git", "push")]) {
      await kv.set([...key], "no record of ours");
    }
  }
  const host = new GatewayHost(() => Promise.resolve(jobNews), [...flags, "--log-level", "fatal"]);
  const gateway = await host.get();
  assert.deepEqual(gateway.servers.list().map(({ name }) => name), ["weather"]);
  await host[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("what a dying program writes about its secrets is shown to nobody", async () => {
  const canary = `canary-${crypto.randomUUID()}`;
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const tell = "console.error('invalid token ' + Deno.env.get('API_TOKEN')); Deno.exit(1)";
  await Deno.writeTextFile(
    join(folder, ".mcp.json"),
    JSON.stringify({
      mcpServers: {
        leaky: { command: Deno.execPath(), args: ["eval", tell], env: { API_TOKEN: canary } },
      },
    }),
  );
  await using gateway = await startGateway([], { cwd: folder });
  const texts = await until(async () => {
    const list = await (await fetch(`${gateway.url}/api/servers`)).text();
    if (!list.includes("invalid token")) return undefined;
    const paths = ["/servers/leaky", "/", "/api/servers/leaky/logs"];
    return [
      list,
      ...await Promise.all(paths.map(async (path) => (await fetch(gateway.url + path)).text())),
    ];
  });
  await gateway.stop();
  for (const text of [...texts, gateway.log()]) {
    assert.ok(!text.includes(canary), text.slice(0, 2_000));
  }
  await Deno.remove(folder, { recursive: true });
});
