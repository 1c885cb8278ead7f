import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { join } from "@std/path";
import { MINIMUM_DENO } from "../lib/core/product.ts";
import { commandIn, sh, withCopy } from "./checkout_copy.ts";
import { startCommand, startGateway, until } from "./gateway.ts";
import { fetchDeno } from "./other_deno.ts";

/** The newest that is older than the minimum. */
const TOO_OLD = "2.4.4";

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test(`the built program runs on Deno ${MINIMUM_DENO}: console, a tool, a program, a stop`, () =>
  withFolder(async (folder) => {
    const program = await fetchDeno(MINIMUM_DENO, folder);
    const server = join(folder, "echo.ts");
    await Deno.writeTextFile(server, ECHO_SERVER);
    await Deno.writeTextFile(
      join(folder, ".mcp.json"),
      JSON.stringify({
        mcpServers: { echo: { command: program, args: ["run", "-q", server] } },
      }),
    );
    const built = await Deno.stat(new URL("../_fresh/start.js", import.meta.url));
    await using gateway = await startGateway([], { deno: program, cwd: folder });
    await until(async () => {
      const { servers, version } = await (await fetch(`${gateway.url}/readyz`)).json();
      assert.ok(version);
      return servers.ready === 1 ? true : undefined;
    });
    assert.match(await (await fetch(gateway.url)).text(), /echo/);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
    const called = await client.callTool({ name: "echo_say", arguments: { text: "hello" } });
    await client.close();
    assert.match(JSON.stringify(called), /hello/);
    const { code } = await gateway.stop();
    assert.equal(code, 0, gateway.log());
    assert.doesNotMatch(gateway.log(), /"level":"(warn|error)"/);
    // A build that another Deno made is as good.
    const after = await Deno.stat(new URL("../_fresh/start.js", import.meta.url));
    assert.deepEqual(after.mtime, built.mtime);
  }));

Deno.test(`Deno ${MINIMUM_DENO} builds a program that runs`, () =>
  withCopy(async ({ root, folder }) => {
    await Deno.remove(join(root, "_fresh"), { recursive: true });
    const program = await fetchDeno(MINIMUM_DENO, folder);
    // First without a limit of time, as far as the build goes.
    await sh(program, [...commandIn(root), "--version"]);
    await using gateway = await startGateway([], { deno: program, command: commandIn(root) });
    assert.match(await (await fetch(gateway.url)).text(), /weather/);
    assert.equal((await gateway.stop()).code, 0, gateway.log());
  }));

Deno.test(`Deno ${TOO_OLD} gets one sentence that it is too old`, () =>
  withFolder(async (folder) => {
    const { code, stdout, stderr } = await new Deno.Command(await fetchDeno(TOO_OLD, folder), {
      args: startCommand(),
      cwd: folder,
      env: { XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
    }).output();
    const said = new TextDecoder().decode(stderr);
    assert.equal(code, 2, said);
    assert.equal(said.trim().split("\n").length, 1, said);
    assert.ok(
      said.startsWith(`Quartermaster requires Deno ${MINIMUM_DENO} or newer; this is ${TOO_OLD}.`),
    );
    assert.equal(stdout.length, 0);
  }));

/** A server in one file, so that it needs nothing but the Deno that is tried. */
const ECHO_SERVER = `
const decoder = new TextDecoder();
let rest = "";
for await (const chunk of Deno.stdin.readable) {
  const lines = (rest + decoder.decode(chunk, { stream: true })).split("\\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const tool = { name: "say", description: "Says it", inputSchema: { type: "object" } };
    const result = method === "initialize"
      ? {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "echo", version: "1" },
      }
      : method === "tools/list"
      ? { tools: [tool] }
      : method === "tools/call"
      ? { content: [{ type: "text", text: params.arguments.text }] }
      : {};
    console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }
}
`;
