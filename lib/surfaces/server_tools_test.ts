import assert from "node:assert/strict";
import { EVERYONE } from "../core/principal.ts";
import { serverTools } from "./server_tools.ts";
import type { ServersAdmin } from "./servers_admin.ts";

Deno.test("add_server asks with the whole program, and the names of the secrets it would get", async () => {
  const asked: string[] = [];
  const admin = {
    checkFree: () => Promise.resolve(),
    add: () => Promise.reject(new Error("added")),
  } as unknown as ServersAdmin;
  const tool = serverTools(admin).find(({ name }) => name === "add_server")!;
  const add = (wanted: object) =>
    tool.run({ name: "box", ...wanted }, {
      signal: new AbortController().signal,
      principal: EVERYONE,
      confirm: (message) => Promise.resolve(void asked.push(message)).then(() => true),
    });
  await assert.rejects(
    add({
      command: "run",
      args: ["--db", "${secret:DB}"],
      env: { API_KEY: "key ${secret:PROD}", TOKEN: "canary", NODE_OPTIONS: "--inspect" },
    }),
    /added/,
  );
  await assert.rejects(add({ command: "run" }), /added/);
  const what =
    'Quartermaster is asked to add the server "box".\nIt will run this program on your ' +
    "machine: ";
  assert.deepEqual(asked, [
    what + '["run","--db","${secret:DB}"]\n' +
    'With the variables "API_KEY=***", "TOKEN=***", "NODE_OPTIONS=--inspect"\n' +
    "It will be given the secrets DB, PROD",
    `${what}["run"]`,
  ]);
});
