import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { TestCli } from "./cli.ts";
import { EndpointClient } from "./faults.ts";
import { startGateway, until } from "./gateway.ts";

const FIXTURE = fromFileUrl(new URL("fixtures/leaky_server.ts", import.meta.url));

function program(cli: TestCli, env: Record<string, string>) {
  const { DENO_DIR = "" } = cli.settings.env;
  const args = ["run", "-A", "-q", "--no-lock", FIXTURE];
  return { command: Deno.execPath(), args, env: { DENO_DIR, ...env } };
}

/** What a server says it was given; undefined while it cannot be asked. */
async function told(url: string, server: string): Promise<string | undefined> {
  try {
    const client = await EndpointClient.open(`${url}/servers/${server}/mcp?names=original`);
    return await client.must("tell");
  } catch {
    return undefined;
  }
}

Deno.test("secrets set, list and delete work on the store, and a gateway follows", () =>
  TestCli.use(async (cli) => {
    assert.match(await cli.ok("secrets", "list"), /^There are no secrets/);
    await cli.write(join(cli.project, ".mcp.json"), {
      mcpServers: {
        user: program(cli, { LEAK: "${secret:TOKEN}" }),
        other: program(cli, { LEAK: "x" }),
      },
    });

    await cli.fails(2, /takes exactly one secret name.*stdin/s, "secrets", "set", "A", "b");
    const misplaced = await cli.run(["secrets", "set", "hunter2-canary"], "x");
    assert.equal(misplaced.code, 2);
    assert.doesNotMatch(misplaced.out + misplaced.err, /canary/);
    const set = await cli.run(["secrets", "set", "TOKEN"], "first-value\n");
    assert.equal(set.code, 0, set.err);
    assert.equal(set.out, "Set TOKEN: the server user uses it.\n");
    assert.equal((await Deno.stat(join(cli.dataDir, "secret.key"))).mode! & 0o777, 0o600);
    const { secrets } = await cli.json("secrets", "list");
    assert.deepEqual(secrets.map(({ setAt: _, ...rest }: { setAt: number }) => rest), [
      { name: "TOKEN", usedBy: ["user"] },
    ]);

    await using gateway = await startGateway([], cli.gateway);
    const { url } = gateway;
    await until(async () => (await told(url, "user"))?.includes("first-value") ? true : undefined);
    const other = await until(() => told(url, "other"));
    await cli.run(["secrets", "set", "TOKEN"], "second-value");
    await until(async () => (await told(url, "user"))?.includes("second-value") ? true : undefined);
    assert.equal(await told(url, "other"), other, "it was started anew");

    const file = join(cli.home, "all.backup");
    await cli.ok("backup", file);
    await cli.fails(
      2,
      /secrets delete requires confirmation; pass --yes/,
      "secrets",
      "delete",
      "TOKEN",
    );
    await cli.ok("secrets", "delete", "TOKEN", "--yes");
    await until(async () => {
      const text = await (await fetch(`${url}/api/servers/user`)).text();
      return text.includes("the secret TOKEN is not set") ? true : undefined;
    });
    assert.equal(await told(url, "other"), other, "it was started anew");
    await cli.fails(1, /There is no secret "TOKEN"/, "secrets", "delete", "TOKEN", "--yes");

    const elsewhere = ["--data-dir", join(cli.home, "elsewhere")];
    const restored = await cli.ok("restore", file, ...elsewhere);
    assert.match(restored, /set these secrets again: TOKEN\n.*QUARTERMASTER_SECRET_KEY/s);
    const list = await cli.ok("secrets", "list", ...elsewhere);
    assert.match(list, /TOKEN .*encrypted with a different key.*set it again/);
    await Deno.copyFile(
      join(cli.dataDir, "secret.key"),
      join(cli.home, "elsewhere", "secret.key"),
    );
    assert.doesNotMatch(await cli.ok("secrets", "list", ...elsewhere), /different key/);
  }));

Deno.test("secrets set says what to do where no key can be kept", () =>
  TestCli.use(async (cli) => {
    cli.settings.env.QUARTERMASTER_PLATFORM = "deploy";
    cli.settings.env.QUARTERMASTER_KV = join(cli.dataDir, "store.kv");
    const refused = await cli.run(["secrets", "set", "TOKEN"], "value");
    assert.equal(refused.code, 1);
    assert.match(
      refused.err,
      /no key to encrypt them\n.*openssl rand[^]*QUARTERMASTER_SECRET_KEY/,
    );
    cli.settings.env.QUARTERMASTER_SECRET_KEY = "ab".repeat(32);
    assert.equal((await cli.run(["secrets", "set", "TOKEN"], "value")).code, 0);
  }));
