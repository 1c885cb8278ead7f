import assert from "node:assert/strict";
import { join } from "@std/path";
import { TestCli } from "./cli.ts";
import { startGateway, until } from "./gateway.ts";

Deno.test("search: tools by what they do, from the gateway that runs", async (t) => {
  await TestCli.use(async (cli) => {
    await t.step("without a gateway it says how to start one", async () => {
      await cli.fails(1, /No gateway is running[^]*quartermaster start/, "search", "echo");
    });

    await cli.write(join(cli.project, ".mcp.json"), { mcpServers: { one: cli.program() } });
    await using _gateway = await startGateway([], cli.gateway);
    await until(async () => {
      const { servers } = await cli.json("server", "list");
      return servers.every(({ state }: { state: string }) => state === "ready") || undefined;
    });

    await t.step("the best first, with how well each fits", async () => {
      const { found } = await cli.json("search", "returns its arguments", "--limit", "3");
      assert.equal(found[0].namespacedName, "one.echo");
      assert.equal(found[0].flatName, "one_echo");
      assert.ok(found[0].relevance > 0 && found[0].relevance <= 1);
      assert.ok(found.length <= 3);
      const out = await cli.ok("search", "returns", "its", "arguments");
      assert.match(out, /^RELEVANCE +NAME +CATEGORY +TOKENS +SUMMARY\n[01]\.\d\d +one\.echo /);
    });

    await t.step("--explain says why", async () => {
      const plain = await cli.ok("search", "returns its arguments");
      const explained = await cli.ok("search", "returns its arguments", "--explain");
      assert.match(explained, /\n {6}\S.* in description/);
      assert.doesNotMatch(plain, /\n {6}\S/);
    });

    await t.step("what is written wrongly is exit code 2", async () => {
      await cli.fails(2, /requires a query/, "search");
      await cli.fails(
        2,
        /limit: Too small: expected number to be >=1/,
        "search",
        "x",
        "--limit",
        "0",
      );
      await cli.fails(1, /no server "two"[^]*one/, "search", "x", "--server", "two");
      await cli.fails(2, /No tool has the category "nope"/, "search", "x", "--category", "nope");
    });
  });
});
