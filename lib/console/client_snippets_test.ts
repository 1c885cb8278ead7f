import assert from "node:assert/strict";
import { clientSnippets } from "./client_snippets.ts";
import { stubGateway } from "./testing/stub_gateway.ts";

Deno.test("clientSnippets() has each client's own shape for a server's door", () => {
  const snippets = clientSnippets(stubGateway(), { kind: "server", name: "git" });
  const byClient = new Map(snippets.map(({ client, code }) => [client, JSON.parse(code)]));
  const url = "http://127.0.0.1:3333/servers/git/mcp";
  assert.deepEqual(byClient.get("Cursor"), { mcpServers: { git: { url } } });
  assert.deepEqual(byClient.get("VS Code"), { servers: { git: { type: "http", url } } });
  assert.deepEqual(byClient.get("Claude Code"), { mcpServers: { git: { type: "http", url } } });
  const desktop = byClient.get("Claude Desktop").mcpServers.git;
  assert.equal(desktop.command, Deno.execPath());
  assert.deepEqual(desktop.args.slice(-3), ["--stdio", "--server", "git"]);
  assert.equal(
    snippets.find(({ client }) => client === "Claude Code")?.command,
    `claude mcp add --transport http --scope user git ${url}`,
  );
});
