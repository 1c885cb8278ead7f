import assert from "node:assert/strict";
import { join } from "@std/path";
// @ts-types="@modelcontextprotocol/sdk/client/stdio"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  connect,
  connectOver,
  DEV_NAMES,
  DEV_TOOLS,
  devServers,
  type EndpointClient,
  Endpoints,
  lists,
  must,
} from "./combined_endpoints.ts";
import { npmServer } from "./fixtures/npm_servers.ts";
import { stdioCommand } from "./fixtures/stdio_child.ts";
import { until } from "./gateway.ts";

/** A client that speaks stdio, in the gateway's own folder. */
function connectStdio({ folder }: Endpoints, ...flags: string[]): Promise<EndpointClient> {
  const command = stdioCommand(flags, { dataDir: folder });
  return connectOver(new StdioClientTransport({ ...command, stderr: "ignore" }));
}

Deno.test("stdio: equip, route, go offline, come back, fail and unequip as over HTTP, with the news", async (t) => {
  for (const flags of [[], ["--standalone"]]) {
    await t.step(flags[0] ?? "bridge", async () => {
      await using dev = devServers();
      await using endpoints = await Endpoints.open(dev.entries);
      await using client = await connectStdio(endpoints, ...flags);
      // A gateway of the client's own is on the same data: it has its own servers to wait for.
      await until(async () => {
        const found = await client.call("discover-all-tools");
        return DEV_TOOLS.every((name) => found.text.includes(name)) || undefined;
      });
      await using other = await connect(endpoints.url, "/mcp");
      const both = [client, other];
      const told = () => both.map((one) => one.told.tools.length);
      const news = async (before: number[]) =>
        await until(() => told().every((count, index) => count > before[index]!) || undefined);

      let before = told();
      await must(client, "build-toolset", {
        name: "dev-essentials",
        tools: DEV_TOOLS.map((namespacedName) => ({ namespacedName })),
      });
      const equipped = await must(client, "equip-toolset", { name: "dev-essentials" });
      assert.match(equipped, /^Equipped "dev-essentials"\. 4 tools registered: /);
      await news(before);
      for (const one of both) await lists(one, DEV_NAMES);

      assert.equal(await must(client, "git_commit", { message: "typed" }), "called commit");
      assert.deepEqual(dev.git.calls.map((call) => JSON.parse(call)), [
        { name: "commit", arguments: { message: "typed" } },
      ]);
      assert.deepEqual(dev.docker.calls, []);

      const missing = await client.call("equip-toolset", { name: "dev-esentials" });
      assert.equal(missing.data.errorType, "NOT_FOUND");
      for (const one of both) assert.deepEqual(await one.tools(), DEV_NAMES);

      before = told();
      await dev.git.leave();
      assert.equal((await client.call("git_status")).isError, true);
      assert.equal((await other.call("git_status")).isError, true);
      await news(before);
      const away = ["docker_ps", "linear_create_issue"];
      for (const one of both) await lists(one, away);
      const again = await must(client, "equip-toolset", { name: "dev-essentials" });
      assert.match(
        again,
        /Warning: git server unavailable, skipping tools: git\.commit, git\.status|Warning: git server unavailable, skipping tools: git\.status, git\.commit/,
      );

      before = told();
      dev.git.comeBack();
      await news(before);
      for (const one of both) await lists(one, DEV_NAMES);
      assert.equal(await must(client, "git_status"), "called status");

      before = told();
      assert.match(await must(client, "unequip-toolset"), /Unequipped "dev-essentials"/);
      await news(before);
      for (const one of both) await lists(one, []);
    });
  }
});

Deno.test("servers from npm work at /mcp, at a toolset's endpoint and over stdio", async (t) => {
  const root = await Deno.makeTempDir({ prefix: "quartermaster_root_" });
  await Deno.writeTextFile(join(root, "a.txt"), "Found");
  try {
    await using endpoints = await Endpoints.open({
      everything: { ...npmServer("everything") },
      files: { ...npmServer("filesystem", [root]) },
      memory: { ...npmServer("memory", [], { MEMORY_FILE_PATH: join(root, "memory.json") }) },
    });
    await endpoints.build("npm", [
      "everything.get-sum",
      "files.read_text_file",
      "memory.read_graph",
    ]);
    await using first = await connect(endpoints.url, "/mcp");
    await must(first, "equip-toolset", { name: "npm" });
    const ways: [name: string, open: () => Promise<EndpointClient>][] = [
      ["/mcp", () => connect(endpoints.url, "/mcp")],
      ["/toolsets/npm/mcp", () => connect(endpoints.url, "/toolsets/npm/mcp")],
      ["stdio", () => connectStdio(endpoints)],
      ["stdio --toolset", () => connectStdio(endpoints, "--toolset", "npm")],
    ];
    for (const [name, open] of ways) {
      await t.step(name, async () => {
        await using client = await open();
        await lists(client, ["everything_get_sum", "files_read_text_file", "memory_read_graph"]);
        assert.match(await must(client, "everything_get_sum", { a: 17, b: 25 }), /42/);
        const path = join(root, "a.txt");
        assert.equal(await must(client, "files_read_text_file", { path }), "Found");
        assert.match(await must(client, "memory_read_graph"), /entities/);
      });
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
