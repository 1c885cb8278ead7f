import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { sh } from "./checkout_copy.ts";
import { TestCli } from "./cli.ts";
import { EndpointClient } from "./faults.ts";
import { startGateway, until } from "./gateway.ts";

const FIXTURE = fromFileUrl(new URL("fixtures/leaky_server.ts", import.meta.url));

/** Tries to write a file in each folder that it is given, and says which it could. */
const PROBE = `console.log(JSON.stringify(Deno.args.map((folder) => {
  try {
    Deno.writeTextFileSync(folder + "/probe", "");
    return "written";
  } catch (error) {
    return error.name;
  }
})))`;

/** The command line of the one process that another has started, on Linux. */
async function childCommand(pid: number): Promise<{ pid: number; words: string[] }> {
  const child = (await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`)).trim();
  const line = await Deno.readTextFile(`/proc/${child}/cmdline`);
  return { pid: Number(child), words: line.split("\0").slice(0, -1) };
}

Deno.test({
  name: "with --harden the gateway works, and Deno refuses it to write elsewhere",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    TestCli.use(async (cli) => {
      const { DENO_DIR = "" } = cli.settings.env;
      const temporary = join(cli.home, "temporary");
      await Deno.mkdir(temporary);
      Object.assign(cli.gateway.env, {
        TMPDIR: temporary,
        npm_config_cache: join(cli.home, "npm"),
        XDG_CACHE_HOME: join(cli.home, "caches"),
      });
      await cli.write(join(cli.project, ".mcp.json"), {
        mcpServers: {
          user: {
            command: Deno.execPath(),
            args: ["run", "-A", "-q", "--no-lock", FIXTURE],
            env: { DENO_DIR, LEAK: "${secret:TOKEN}" },
          },
        },
      });
      await using gateway = await startGateway(["--harden"], cli.gateway);
      const { url } = gateway;
      const child = await childCommand(gateway.pid);
      assert.ok(child.words.includes("--harden"));

      const value = JSON.stringify({ value: "of-the-token" });
      const headers = { "content-type": "application/json" };
      const set = { method: "PUT", headers, body: value };
      assert.equal((await fetch(`${url}/api/secrets/TOKEN`, set)).status, 200);
      assert.ok(await Deno.stat(join(cli.dataDir, "secret.key")));
      const told = await until(async () => {
        try {
          const client = await EndpointClient.open(`${url}/servers/user/mcp?names=original`);
          return await client.must("tell");
        } catch {
          return undefined;
        }
      });
      assert.match(told, /of-the-token/);
      assert.match(await (await fetch(`${url}/servers`)).text(), /user/);
      const backup = await fetch(`${url}/api/data.backup`, {
        method: "POST",
        headers,
        body: "{}",
      });
      assert.equal(backup.status, 200, await backup.clone().text());
      assert.ok((await backup.bytes()).length > 100);

      const probe = join(cli.home, "probe.ts");
      await Deno.writeTextFile(probe, PROBE);
      const [deno = "", ...flags] = child.words.slice(0, child.words.indexOf("--harden"));
      const main = flags.findIndex((word) => word.endsWith("/main.ts"));
      const npx = join(cli.home, "npm", "_npx");
      const isolated = join(cli.home, "caches", "quartermaster", "isolated", "npm", "_npx");
      for (const folder of [npx, isolated]) await Deno.mkdir(folder, { recursive: true });
      const folders = [cli.dataDir, temporary, npx, isolated, cli.home, cli.project];
      assert.deepEqual(
        JSON.parse(await sh(deno, [...flags.slice(0, main), probe, ...folders])),
        ["written", "written", "written", "written", "NotCapable", "NotCapable"],
      );

      assert.equal((await gateway.stop()).code, 0);
      await assert.rejects(Deno.stat(`/proc/${child.pid}`), Deno.errors.NotFound);
    }),
});
