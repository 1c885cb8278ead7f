import assert from "node:assert/strict";
import { join } from "@std/path";
import { TestCli } from "./cli.ts";
import { at, tool } from "./combined_endpoints.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { startGateway, until } from "./gateway.ts";

const TEXT = /^qm_[\w-]{43}\n$/;

async function statusOf(url: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token.trim()}` };
  const response = await fetch(`${url}/api/servers`, { headers });
  await response.body?.cancel();
  return response.status;
}

Deno.test("token create prints the text alone, token list never", async () => {
  await TestCli.use(async (cli) => {
    const { code, out, err } = await cli.run(["token", "create", "--name", "me"]);
    assert.equal(code, 0, err);
    assert.match(out, TEXT);
    assert.match(err, /Created me .*may read, call; everything; does not expire/);
    assert.ok(!err.includes(out.trim()));
    const made = await cli.json(
      ...["token", "create", "--name", "ci", "--rights", "read", "--servers", "git,docs*"],
      ...["--tools", "!git.push", "--expires", "30d", "--per-minute", "60"],
    );
    assert.match(`${made.text}\n`, TEXT);
    assert.deepEqual(made.token.scope, {
      rights: ["read"],
      servers: ["git", "docs*"],
      toolsets: ["*"],
      tools: ["!git.push"],
    });
    const listed = await cli.ok("token", "list");
    assert.match(listed, /ci .* read .*servers git, docs\*; tools all except git\.push .*never/);
    for (const text of [out.trim(), made.text]) assert.ok(!listed.includes(text));
    assert.doesNotMatch(JSON.stringify(await cli.json("token", "list")), /hash|qm_/);
    assert.match(await cli.ok("token", "revoke", "ci"), /Revoked ci/);
    assert.doesNotMatch(await cli.ok("token", "list"), /^ci /m);
  });
});

Deno.test("token and project say in a sentence what was written wrongly", async () => {
  await TestCli.use(async (cli) => {
    await cli.fails(2, /token create requires --name/, "token", "create");
    await cli.fails(
      2,
      /rights\.0: Invalid option/,
      "token",
      "create",
      "--name",
      "a",
      "--rights",
      "root",
    );
    await cli.fails(
      2,
      /Invalid value for expires/,
      "token",
      "create",
      "--name",
      "a",
      "--expires",
      "x",
    );
    await cli.fails(1, /no project "web"/, "token", "create", "--name", "a", "--project", "web");
    await cli.fails(2, /token revoke requires TOKEN/, "token", "revoke");
    await cli.fails(1, /There is no token "me"/, "token", "revoke", "me");
    await cli.fails(2, /letters, digits/, "project", "create", "a b");
    await cli.fails(1, /There is no project "web"/, "project", "delete", "web");
  });
});

Deno.test("a gateway that runs follows what the command line does with tokens and projects", async () => {
  await using server = new ScriptedServer([tool("echo")]);
  await TestCli.use(async (cli) => {
    await cli.write(join(cli.project, ".mcp.json"), { mcpServers: { box: at(server) } });
    const first = await cli.ok(
      "token",
      "create",
      "--name",
      "first",
      "--rights",
      "read,call,manage",
    );
    const gateway = await startGateway(["--require-token"], cli.gateway);
    try {
      assert.equal(await statusOf(gateway.url, first), 200);
      assert.equal((await cli.json("status")).running, true, "its owner was not let in");
      const second = await cli.ok("token", "create", "--name", "second");
      await until(async () => await statusOf(gateway.url, second) === 200 || undefined);
      await cli.ok("token", "revoke", "second");
      await until(async () => await statusOf(gateway.url, second) === 401 || undefined);

      await cli.ok("project", "create", "web", "--description", "The site");
      await cli.fails(1, /There is no server "boxx"/, "project", "assign", "web", "boxx");
      assert.match(await cli.ok("project", "assign", "web", "box"), /web has box/);
      await cli.fails(1, /"other" is not assigned/, "project", "unassign", "web", "other");
      await cli.ok("token", "create", "--name", "bound", "--project", "web");
      await cli.fails(1, /a token is limited to it \(bound\)/, "project", "delete", "web");
      const { projects } = await cli.json("project", "list");
      assert.deepEqual(
        projects.map(({ name, servers, tokens }: Record<string, unknown>) => [
          name,
          servers,
          tokens,
        ]),
        [["web", ["box"], 1]],
      );
      assert.match(await cli.ok("project", "unassign", "web", "box"), /No server is assigned/);
      await cli.ok("token", "revoke", "bound");
      assert.match(await cli.ok("project", "delete", "web"), /Deleted web/);
      const headers = { authorization: `Bearer ${first.trim()}` };
      const answer = await fetch(`${gateway.url}/api/projects`, { headers });
      assert.deepEqual(await answer.json(), { projects: [] });
    } finally {
      await gateway.stop();
    }
  });
});
