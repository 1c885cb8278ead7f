import assert from "node:assert/strict";
import { readPasted } from "../config/pasted_servers.ts";
import { loadInput } from "../config/testing/load_servers.ts";
import { type ErrorCode, GatewayError } from "../core/errors.ts";
import type { ServerStatus } from "../core/server.ts";
import { runOperation } from "./operation.ts";
import { PASTE_OPERATIONS, withAdvice } from "./server_pasting.ts";
import type { ServersAdmin } from "./servers_admin.ts";
import { callBy, servicesOf } from "./testing/services.ts";

async function read(text: string, isLocal = true) {
  const git = { name: "git", source: { kind: "store" } } as ServerStatus;
  const services = servicesOf({
    admin: { list: () => [git] } as unknown as ServersAdmin,
    readPasted: (text: string) => readPasted(text, loadInput("/here", {})),
  });
  return await runOperation(PASTE_OPERATIONS.read, services, { text }, callBy("me", { isLocal }));
}

Deno.test("server.read says what of an entry its reader decides", async () => {
  const note = async (text: string, isLocal: boolean) => {
    const found = await read(text, isLocal);
    return found.servers[0]?.notes.join() ?? "";
  };
  assert.equal(await note("npx x-y", true), "");
  assert.match(await note("npx x-y", false), /needs consent/);
  assert.match(await note("http://10.0.0.1/mcp", true), /private network\. It is allowed/);
  assert.match(await note("http://10.0.0.1/mcp", false), /can be allowed only/);
  assert.equal(await note("https://mcp.example/mcp", false), "");
});

Deno.test("server.read names what a text has, or what is wrong with it", async () => {
  const found = await read("npx mcp-server-git");
  assert.deepEqual([found.kind, found.servers[0]?.name], ["command", "git-2"]);
  await assert.rejects(read('{"mcpServers":'), {
    code: "INVALID_ARGUMENTS",
    message: /your text:1:/,
  });
});

function stepsFor(message: string, code: ErrorCode = "SERVER_DISCONNECTED"): string[] {
  const error = withAdvice(new GatewayError(code, { message, recoverySteps: ["Look again"] }));
  assert.ok(error instanceof GatewayError);
  return error.details.recoverySteps ?? [];
}

Deno.test("withAdvice() says what helps with the common failures", () => {
  const advice: [string, RegExp][] = [
    ['command "x" is not on PATH', /Install the program/],
    ["Cannot reach a.example: connection refused", /Start the server/],
    ["HTTP 401 from a.example", /Authorization/],
    ["HTTP 404 from a.example, which is not an MCP response", /URL's path/],
    ['Server "x" did not complete the MCP handshake within 60 s', /in a terminal/],
    ['Server "x" exited with code 3', /its output/],
  ];
  for (const [message, step] of advice) assert.match(stepsFor(message)[0] ?? "", step, message);
});

Deno.test("withAdvice() leaves other errors as they are", () => {
  assert.deepEqual(stepsFor("Something else"), ["Look again"]);
  assert.deepEqual(stepsFor('"x" is not on PATH', "CONFLICT"), ["Look again"]);
});
