import { operationCommands } from "./operation_command.ts";
import { OPERATIONS } from "../operations/all.ts";
import assert from "node:assert/strict";
import { CLIENTS } from "../config/clients.ts";
import { completionOf } from "./completion.ts";

const flag = (flag: string, placeholder?: string) => ({
  flag,
  meaning: flag,
  ...(placeholder === undefined ? {} : { placeholder }),
});

const COMMANDS = {
  status: { meaning: "Whether it runs", flags: [flag("json")] },
  ...operationCommands(
    [...OPERATIONS.values()].filter(({ cli = "" }) => /^server (list|update|logs)/.test(cli)),
    {},
  ),
  "tools list": { meaning: "All tools", flags: [flag("server", "NAME")] },
  "tools call": { meaning: "Call one" },
  connect: { meaning: "Connect", flags: [flag("scope", "SCOPE"), flag("toolset", "NAME")] },
  import: { meaning: "Import" },
  ...operationCommands(
    [...OPERATIONS.values()].filter(({ cli = "" }) => cli.startsWith("optimize")),
    {},
  ),
};

function complete(line: string): string {
  const completion = completionOf(["quartermaster", ...line.split(" ")], COMMANDS);
  if (completion.kind === "names") return `<${completion.of}>`;
  if (completion.kind === "other") return "";
  return completion.words.map(({ word }) => word).join(" ");
}

Deno.test("completionOf() offers commands, then their second words", () => {
  assert.equal(complete(""), "status server tools connect import optimize");
  assert.equal(complete("ser"), "status server tools connect import optimize");
  assert.equal(complete("server "), "list update logs");
  assert.equal(complete("--data-dir /x server "), "list update logs");
  assert.equal(complete("nonsense "), "");
});

Deno.test("completionOf() offers a command's own flags, and their values", () => {
  assert.equal(complete("server logs --"), "--lines --data-dir --kv --config --help");
  assert.equal(complete("--"), "--data-dir --kv --config --help");
  assert.equal(complete("connect cursor --scope "), "user project");
  assert.equal(complete("connect cursor --toolset "), "<toolset>");
  assert.equal(complete("tools list --server "), "<server>");
  assert.equal(complete("optimize run --depth "), "quick thorough");
  assert.equal(complete("server logs --lines "), "");
  assert.equal(complete("--config "), "");
});

Deno.test("completionOf() knows what stands at each place", () => {
  assert.equal(complete("server logs "), "<server>");
  assert.equal(complete("server logs --lines 5 "), "<server>");
  assert.equal(complete("server logs a "), "");
  assert.equal(complete("server update "), "<server>");
  assert.equal(complete("server update a --type "), "http sse");
  assert.equal(complete("tools call "), "<tool>");
  assert.equal(complete("tools call a.b "), "");
  assert.equal(complete("connect "), CLIENTS.join(" "));
  assert.equal(complete("import cursor "), CLIENTS.join(" "));
  assert.equal(complete("optimize status "), "<server>");
  assert.equal(complete("optimize run a.b "), "<tool>");
  assert.equal(complete("optimize promote "), "<tool>");
  assert.equal(complete("optimize promote a.b "), "<candidate>");
  assert.equal(complete("optimize record a.b c "), "<prompt>");
  assert.equal(complete("optimize jobs "), "<job>");
  assert.equal(complete("optimize report --format "), "markdown json csv");
  assert.equal(complete("server logs -- "), "");
});
