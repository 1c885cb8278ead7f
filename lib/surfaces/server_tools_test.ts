import assert from "node:assert/strict";
import { EVERYONE } from "../core/principal.ts";
import { serverTools } from "./server_tools.ts";
import type { ServerAsker } from "./server_asker.ts";
import type { ServersAdmin } from "./servers_admin.ts";

Deno.test("add_server and update_server leave it to the owner whether a program is run", async () => {
  const asked: string[] = [];
  const askers: ServerAsker[] = [];
  const take = (_name: string, _spec: unknown, { by }: { by: ServerAsker }) => {
    askers.push(by);
    return Promise.reject(new Error("handed on"));
  };
  const admin = {
    checkFree: () => Promise.resolve(),
    checkChangeable: () => Promise.resolve(),
    add: take,
    update: take,
  } as unknown as ServersAdmin;
  for (const name of ["add_server", "update_server"]) {
    const tool = serverTools(admin).find((tool) => tool.name === name)!;
    const run = tool.run({ name: "box", command: "run", env: { KEY: "${secret:PROD}" } }, {
      signal: new AbortController().signal,
      principal: EVERYONE,
      confirm: (message) => Promise.resolve(void asked.push(message)).then(() => true),
    });
    await assert.rejects(run, /handed on/);
  }
  assert.deepEqual(asked, []);
  const expected = { via: "mcp", principal: EVERYONE, from: "MCP", isHere: false };
  assert.deepEqual(askers, [expected, expected]);
});
