import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { TestCli } from "./cli.ts";
import { EndpointClient } from "./faults.ts";
import { startGateway, until } from "./gateway.ts";

const FIXTURE = fromFileUrl(new URL("fixtures/leaky_server.ts", import.meta.url));
const TOKEN = "vault-token-canary";

/** Stands in for HashiCorp Vault, with one secret of the key-value engine's second version. */
function fakeVault(value: { current: string | undefined }) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname } = new URL(request.url);
    if (request.headers.get("x-vault-token") !== TOKEN || value.current === undefined) {
      return Response.json({ errors: ["permission denied"] }, { status: 403 });
    }
    return pathname.startsWith("/v1/sys/")
      ? Response.json({ data: { path: "secret/", type: "kv", options: { version: "2" } } })
      : Response.json({ data: { data: { key: value.current } } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test("a server gets a Vault secret at each start, which is written nowhere", () =>
  TestCli.use(async (cli) => {
    const value: { current: string | undefined } = { current: "first-canary" };
    await using vault = fakeVault(value);
    const { DENO_DIR = "" } = cli.settings.env;
    const entry = {
      command: Deno.execPath(),
      args: ["run", "-A", "-q", "--no-lock", FIXTURE],
      env: { DENO_DIR, LEAK: "${vault:secret/app#key}" },
    };
    await cli.write(join(cli.project, ".mcp.json"), { mcpServers: { user: entry } });
    Object.assign(cli.gateway.env, { VAULT_ADDR: vault.url, VAULT_TOKEN: TOKEN });

    await using gateway = await startGateway([], cli.gateway);
    const { url } = gateway;
    const told = async (): Promise<string | undefined> => {
      try {
        const path = "/servers/user/mcp?names=original";
        return await (await EndpointClient.open(`${url}${path}`)).must("tell");
      } catch {
        return undefined;
      }
    };
    const restart = () =>
      fetch(`${url}/api/servers/user/restart`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
    await until(async () => (await told())?.includes("first-canary") ? true : undefined);

    value.current = "second-canary";
    await (await restart()).body?.cancel();
    await until(async () => (await told())?.includes("second-canary") ? true : undefined);

    value.current = undefined;
    await (await restart()).body?.cancel();
    const status = await until(async () => {
      const text = await (await fetch(`${url}/api/servers/user`)).text();
      return text.includes("the secret vault:secret/app#key") ? text : undefined;
    });
    assert.match(status, /answered 403: the token is not valid, has expired, or may not read it/);
    value.current = "third-canary";
    await until(async () => (await told())?.includes("third-canary") ? true : undefined);
    const page = await (await fetch(`${url}/api/servers`)).text();
    const shown = gateway.log() + status + page;
    assert.doesNotMatch(shown, /canary/);
    for (const folder of [cli.dataDir, cli.home]) {
      for await (const { name, isFile } of Deno.readDir(folder)) {
        if (!isFile) continue;
        const bytes = await Deno.readFile(join(folder, name));
        assert.doesNotMatch(new TextDecoder("latin1").decode(bytes), /canary/, name);
      }
    }
  }));
