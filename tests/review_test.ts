import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { ReviewItem } from "../lib/trust/review_items.ts";
import { at, connect, Endpoints, tool } from "./combined_endpoints.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { startGateway, until } from "./gateway.ts";

const root = fromFileUrl(new URL("..", import.meta.url));

async function cli(folder: string, ...args: string[]) {
  const manifest = JSON.parse(await Deno.readTextFile(join(root, "deno.json")));
  const words: string[] = manifest.tasks.cli.command.split(" ").slice(1);
  const command = words.map((word) => word.endsWith(".ts") ? join(root, word) : word);
  const { stdout, stderr, code } = await new Deno.Command(Deno.execPath(), {
    args: [...command, ...args],
    cwd: folder,
    env: { XDG_CONFIG_HOME: folder, QUARTERMASTER_DATA_DIR: folder },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), err: text(stderr) };
}

Deno.test("what waits is decided on the command line, and every gateway on the store follows", async () => {
  await using server = new ScriptedServer([tool("look"), tool("read")]);
  await using endpoints = await Endpoints.open({ files: { ...at(server), trust: "untrusted" } });
  const { folder } = endpoints;
  await using sibling = await endpoints.sibling();
  await sibling.reaches("files", "ready");
  await using there = await connect(sibling.url, "/servers/files/mcp?names=original");

  server.tools = [tool("look", { description: "Looks twice" }), tool("read")];
  for (const url of [endpoints.url, sibling.url]) {
    const response = await fetch(`${url}/api/servers/files/restart`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    assert.equal(response.status, 200, await response.text());
  }
  const list = await cli(folder, "review", "list");
  assert.match(list.out, /files\.look +held +changed/);
  const show = await cli(folder, "review", "show", "files.look");
  assert.match(show.out, /description: \[-Does look-\]\{\+Looks twice\+\}/);

  const unasked = await cli(folder, "review", "approve", "files.look");
  assert.notEqual(unasked.code, 0);
  assert.match(unasked.err, /--yes/);
  const descriptions = async () =>
    (await there.client.listTools()).tools.map(({ description }) => description);
  assert.deepEqual(await descriptions(), ["Does look", "Does read"]);

  const done = await cli(folder, "review", "approve", "files.look", "--yes");
  assert.equal(done.out, "Approved look of files.\n", done.err);
  await until(async () => (await descriptions())[0] === "Looks twice" ? true : undefined);
  assert.match((await cli(folder, "review", "list")).out, /Nothing to review/);

  const back = await cli(folder, "review", "revert", "files.look", "--json");
  assert.deepEqual(JSON.parse(back.out), {
    decision: "reverted",
    server: "files",
    tool: "look",
  });
  await until(async () => (await descriptions())[0] === "Does look" ? true : undefined);
  const json = JSON.parse((await cli(folder, "review", "show", "files.look", "--json")).out);
  assert.equal(ReviewItem.parse(json.items[0]).state, "rejected");

  const policies = await cli(folder, "review", "policy");
  assert.match(policies.out, /files +hold +untrusted/);
  const refused = await cli(folder, "review", "policy", "files", "allow", "--yes");
  assert.match(refused.err, /is defined in a config file/);
});

Deno.test("a server that a tool of the gateway added is not trusted, and stays so when it is changed", async () => {
  await using server = new ScriptedServer([tool("look")]);
  await using open = await startGateway(["--allow-private"]);
  await using gateway = await connect(open.url, "/gateway/mcp");
  const api = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${open.url}${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, value: await response.json() };
  };
  for (const name of ["add_server", "update_server"]) {
    const result = await gateway.client.callTool({
      name,
      arguments: { name: "added", url: server.url },
    });
    assert.notEqual(result.isError, true, JSON.stringify(result));
    const { value } = await api("GET", "/api/review");
    const policies = value.policies as { server: string; policy: string; trust: string }[];
    const found = policies.find((policy) => policy.server === "added");
    assert.deepEqual([found?.policy, found?.trust], ["hold", "untrusted"], name);
  }
  const changed = await api("POST", "/api/review/policy", {
    server: "added",
    changes: "allow",
    trust: "trusted",
  });
  assert.equal(changed.status, 200);
});
