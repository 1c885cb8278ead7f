import assert from "node:assert/strict";
import { at, devServers, Endpoints, tool, TOOLSET_TOOLS } from "./combined_endpoints.ts";
import { claudeTest, runClaude } from "./fixtures/claude_cli.ts";
import {
  type ModelReply,
  type ModelRequest,
  startModelStandIn,
  toolResultsOf,
} from "./fixtures/model_stand_in.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { until } from "./gateway.ts";

/** How often the gateway was asked for its tools. */
async function listings({ url }: Endpoints): Promise<number> {
  const text = await (await fetch(new URL("/metrics", url))).text();
  return Number(/^quartermaster_mcp_requests_total\{.*"tools\/list".* (\d+)$/m.exec(text)?.[1]);
}

/** The gateway's tools that a request offers to the model, without the CLI's prefix. */
function offered({ tools }: ModelRequest): string[] {
  return tools.flatMap(({ name }) => /^mcp__qm__(.*)$/.exec(name)?.[1] ?? []).sort();
}

await claudeTest(
  "the claude CLI equips a toolset at /mcp over 2026-07-28, hears of it and uses its tools",
  async (claude) => {
    await using dev = devServers();
    await using decoy = new ScriptedServer([tool("search-repositories")]);
    await using endpoints = await Endpoints.open({ ...dev.entries, decoy: at(decoy) });
    dev.git.results.set(
      "search-repositories",
      '{"content":[{"type":"text","text":"found by git"}]}',
    );
    const input = { query: "naïve \u{1F30D}", list: [1, { deep: true }], nothing: null };
    const chosen = ["git.search-repositories", "docker.ps"];
    const uses: NonNullable<ModelReply["toolUse"]>[] = [
      { name: "mcp__qm__build-toolset", input: { name: "dev", tools: chosen } },
      { name: "mcp__qm__equip-toolset", input: { name: "dev" } },
      { name: "mcp__qm__get-active-toolset", input: {} },
      { name: "mcp__qm__git_search_repositories", input },
    ];
    let clients = "";
    await using model = startModelStandIn(async (request) => {
      const done = toolResultsOf(request).length;
      // The CLI lists its tools anew while it asks its model, which takes longer if it is a real one.
      if (done === 2) await until(async () => await listings(endpoints) > 1 || undefined);
      if (done === 3) {
        clients = JSON.stringify((await endpoints.api("GET", "/api/client.list")).value);
      }
      const toolUse = uses[done];
      return toolUse ? { toolUse } : { text: "Done" };
    });
    const run = await runClaude({
      claude,
      prompt: "Find repositories",
      modelUrl: model.url,
      mcpServers: { qm: { type: "http", url: `${endpoints.url}/mcp` } },
      extraArgs: ["--allowedTools", "mcp__qm"],
      timeoutMs: 60_000,
    });
    assert.deepEqual(run.init?.mcp_servers.map(({ status }) => status), ["connected"], run.stderr);
    assert.equal(run.result?.result, "Done", run.stderr);
    const results = toolResultsOf(model.requests.at(-1)!);
    // The CLI gives its model the structured part.
    assert.deepEqual(JSON.parse(results[1] ?? ""), {
      equipped: "dev",
      toolCount: 2,
      registered: ["git_search_repositories", "docker_ps"],
    });
    assert.equal(results[3], "found by git");
    assert.match(clients, /"name":"claude-code".*"protocolVersion":"2026-07-28"/);

    const names = model.requests.map(offered);
    const before = names[0] ?? [];
    assert.ok(TOOLSET_TOOLS.every((name) => before.includes(name)), before.join(" "));
    const added = names[3]?.filter((name) => !before.includes(name));
    assert.deepEqual(added, ["docker_ps", "git_search_repositories"]);
    assert.ok(!before.some((name) => name.startsWith("git")), before.join(" "));

    const [call = "{}"] = dev.git.calls;
    const { name, arguments: args } = JSON.parse(call);
    assert.deepEqual({ name, args }, { name: "search-repositories", args: input });
    assert.deepEqual([dev.git.calls.length, decoy.calls.length], [1, 0]);
  },
);
