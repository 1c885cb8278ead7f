import assert from "node:assert/strict";
import { z } from "zod";
import type { Right } from "../core/access.ts";
import { builtin, type BuiltinTool } from "./builtin_tool.ts";
import type { CallerRights } from "./call_gate.ts";
import { serverTools } from "./server_tools.ts";
import type { ServersAdmin } from "./servers_admin.ts";
import { ToolRights } from "./tool_rights.ts";

/** Callers are named after their rights; one with ~ before them is for some servers alone. */
const RIGHTS = {
  grants: (principal: string) => ({
    isWhole: !principal.startsWith("~"),
    may: (right: Right) => principal.replace("~", "").split(" ").includes(right),
  }),
} as CallerRights;

function named(name: string): BuiltinTool {
  const run = () => Promise.resolve({ text: "", data: {} });
  return builtin({ name, title: name, description: name, input: z.object({}), run });
}

Deno.test("ToolRights.mayUse() asks for manage where a tool changes the gateway, or reads a log", () => {
  const rights = new ToolRights(RIGHTS);
  const tools = serverTools({} as ServersAdmin);
  rights.ofGateway(tools);
  const forReaders = tools.filter((tool) => rights.mayUse("read", tool)).map(({ name }) => name);
  assert.deepEqual(forReaders, ["list_servers", "get_enabled_tools"]);
  for (const tool of tools) {
    assert.ok(rights.mayUse("read manage", tool), tool.name);
    assert.ok(!rights.mayUse("~read manage", tool), tool.name);
  }
});

Deno.test("ToolRights.mayUse() asks for optimize where a tool spends model time, else for read", () => {
  const rights = new ToolRights(RIGHTS);
  rights.ofModels([named("optimize_tools")]);
  assert.ok(rights.mayUse("optimize", named("optimize_tools")));
  assert.ok(!rights.mayUse("read manage", named("optimize_tools")));
  assert.ok(rights.mayUse("~read", named("tool_discovery")));
  assert.ok(!rights.mayUse("call", named("tool_discovery")));
});
