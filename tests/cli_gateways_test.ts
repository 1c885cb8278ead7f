import assert from "node:assert/strict";
import { join } from "@std/path";
import { cliCommand, TestCli } from "./cli.ts";
import { startGateway, until } from "./gateway.ts";

Deno.test("restart and logs reach every gateway on the data store", async (t) => {
  await TestCli.use(async (cli) => {
    const program = cli.program(["--stderr-flood=1"]);
    await cli.write(join(cli.project, ".mcp.json"), { mcpServers: { local: program } });
    await using one = await startGateway([], cli.gateway);
    await using two = await startGateway([], cli.gateway);
    const pidAt = async (url: string) => {
      const { lines } = await (await fetch(`${url}/api/servers/local/logs`)).json();
      return lines.length;
    };
    for (const { url } of [one, two]) await until(async () => await pidAt(url) === 1 || undefined);

    await t.step("logs are merged in the order of time, each with its gateway", async () => {
      const { lines } = await cli.json("server", "logs", "local");
      assert.deepEqual(
        lines.map(({ gateway }: { gateway: string }) => gateway).sort(),
        [one.url, two.url].sort(),
      );
      assert.ok(lines[0].time <= lines[1].time);
      const out = await cli.ok("server", "logs", "local");
      for (const { url } of [one, two]) {
        assert.ok(out.includes(`  ${new URL(url).host}  Line 1 of the flood\n`), out);
      }
      assert.equal((await cli.json("server", "logs", "local", "--lines", "1")).lines.length, 1);
    });

    await t.step("restart reaches both", async () => {
      const { server, gateways } = await cli.json("server", "restart", "local");
      assert.equal(server.state, "ready");
      assert.deepEqual(
        gateways.map(({ pid }: { pid: number }) => pid).sort(),
        [one.pid, two.pid].sort(),
      );
      for (const { url } of [one, two]) {
        await until(async () => await pidAt(url) === 2 || undefined);
      }
      const out = await cli.ok("server", "restart", "local");
      for (const { url } of [one, two]) {
        assert.ok(out.includes(`Restarted local at ${url}: 15 tools.\n`), out);
      }
      await cli.fails(1, /no server "locl"[^]*Did you mean local/, "server", "restart", "locl");
    });

    await t.step("following goes on with one where the other stops", async () => {
      const child = new Deno.Command(Deno.execPath(), {
        ...cli.settings,
        args: [...cliCommand(), "server", "logs", "local", "--follow", "--json"],
        stdin: "null",
        stdout: "piped",
        stderr: "null",
      }).spawn();
      let text = "";
      const reading = (async () => {
        for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) text += chunk;
      })();
      const count = (url: string) => text.split("\n").filter((line) => line.includes(url)).length;
      try {
        await until(() => count(one.url) === 3 && count(two.url) === 3 || undefined);
        await one.stop();
        const response = await fetch(`${two.url}/api/servers/local/restart`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: "{}",
        });
        await response.body?.cancel();
        await until(() => count(two.url) === 4 || undefined);
      } finally {
        child.kill("SIGKILL");
        await child.status;
        await reading;
      }
    });
  });
});
