import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/sdk/types"
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { at, connect, Endpoints, lists, must, openRaw, tool } from "./combined_endpoints.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { until } from "./gateway.ts";

Deno.test("/toolsets/{name}/mcp shows one saved toolset, whatever is equipped", async (t) => {
  await using git = new ScriptedServer([tool("status"), tool("secret_push"), tool("docker_ps")]);
  await using docker = new ScriptedServer([tool("ps"), tool("run")]);
  await using endpoints = await Endpoints.open({ git: at(git), docker: at(docker) });
  await endpoints.build("web", ["git.status", "docker.run"]);
  await endpoints.build("ops", ["docker.*"]);
  await endpoints.build("odd", ["git.docker_ps"]);
  await using web = await connect(endpoints.url, "/toolsets/web/mcp");
  await using ops = await connect(endpoints.url, "/toolsets/ops/mcp");
  const names = async ({ client }: typeof web) =>
    (await client.listTools()).tools.map(({ name }) => name).sort();

  await t.step("it lists exactly its tools, and none of the gateway's own", async () => {
    assert.deepEqual(await names(web), ["docker_run", "git_status"]);
    assert.deepEqual(await names(ops), ["docker_ps", "docker_run"]);
    await using main = await connect(endpoints.url, "/mcp");
    await must(main, "equip-toolset", { name: "ops" });
    assert.deepEqual(await names(web), ["docker_run", "git_status"]);
    assert.equal(web.told.tools.length, 0, "what others equip is no news here");
  });

  await t.step("its tools are callable by each of their names", async () => {
    for (const name of ["git_status", "git.status", "status"]) {
      assert.equal(await must(web, name), "called status");
    }
  });

  await t.step("others do not exist: not called, not suggested", async () => {
    const others = [
      "git_secret_push",
      "git.secret_push",
      "secret_push",
      "docker.ps",
      "equip-toolset",
    ];
    for (const name of [...others, "secret_pus"]) {
      const error = await web.call(name).then(() => undefined, (error) => error);
      assert.ok(error instanceof McpError, `${name} was called`);
      assert.match(error.message, /There is no tool/);
      const { hint = "", suggestedTools = [] } = Object(error.data);
      assert.doesNotMatch([hint, ...suggestedTools].join(), /secret|docker_ps|toolset/);
    }
    assert.ok(git.calls.every((text) => JSON.parse(text).name === "status"));
  });

  await t.step("a tool elsewhere does not stand before one of the same name here", async () => {
    await using odd = await connect(endpoints.url, "/toolsets/odd/mcp");
    assert.equal(await must(odd, "docker_ps"), "called docker_ps");
  });

  await t.step("a change of it is told to its clients alone", async () => {
    const before = ops.told.tools.length;
    await endpoints.build("web", ["git.status", "docker.ps"], true);
    await until(() => web.told.tools.length > 0 || undefined);
    assert.deepEqual(await names(web), ["docker_ps", "git_status"]);
    assert.equal(await must(web, "docker_ps"), "called ps");
    await assert.rejects(web.call("docker_run"), /There is no tool "docker_run"/);
    assert.equal(ops.told.tools.length, before);
  });

  await t.step("its description is what a client is told at first, as it is now", async () => {
    const put = await endpoints.api("PUT", "/api/toolsets/ops", {
      description: "For the servers",
      tools: ["docker.*"],
    });
    assert.equal(put.status, 200);
    await using client = await connect(endpoints.url, "/toolsets/ops/mcp");
    assert.equal(client.client.getInstructions(), "For the servers");
  });
});

Deno.test("/toolsets/{name}/mcp: deleting the toolset ends its sessions, and nobody gets in", async () => {
  await using git = new ScriptedServer([tool("status")]);
  await using endpoints = await Endpoints.open({ git: at(git) });
  const endpoint = "/toolsets/gone/mcp";
  for (const name of ["gone", "stays"]) await endpoints.build(name, ["git.*"]);
  const raw = await openRaw(endpoints.url, endpoint);
  const other = await openRaw(endpoints.url, "/toolsets/stays/mcp");
  assert.equal((await raw.request("tools/list", "{}")).status, 200);
  assert.equal((await endpoints.api("DELETE", "/api/toolsets/gone")).status, 200);
  const after = await raw.request("tools/list", "{}");
  assert.equal(after.status, 404);
  const { opened } = await openRaw(endpoints.url, endpoint);
  assert.equal(opened.status, 404);
  assert.equal(JSON.parse(opened.text).error.errorType, "NOT_FOUND");
  assert.match(JSON.parse(opened.text).error.message, /There is no toolset "gone"/);
  assert.equal((await other.request("tools/list", "{}")).status, 200);

  await endpoints.build("gone", ["git.*"]);
  const old = await raw.request("tools/list", "{}");
  assert.equal(old.status, 404, "a new toolset under the name does not bring sessions back");
  await using client = await connect(endpoints.url, endpoint);
  await lists(client, ["git_status"]);
});
