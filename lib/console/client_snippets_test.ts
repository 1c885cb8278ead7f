import assert from "node:assert/strict";
import { Access } from "../auth/access.ts";
import { clientSnippets } from "./client_snippets.ts";
import { stubGateway } from "./testing/stub_gateway.ts";

Deno.test("clientSnippets() has each client's own shape for a server's endpoint", async () => {
  const snippets = await clientSnippets(stubGateway(), { kind: "server", name: "git" });
  const byClient = new Map(snippets.map(({ client, code }) => [
    client,
    code.startsWith("{") ? JSON.parse(code) : code,
  ]));
  const url = "http://127.0.0.1:3333/servers/git/mcp";
  assert.deepEqual(byClient.get("Cursor"), { mcpServers: { git: { url } } });
  assert.deepEqual(byClient.get("VS Code"), { servers: { git: { type: "http", url } } });
  assert.deepEqual(byClient.get("Claude Code"), { mcpServers: { git: { type: "http", url } } });
  assert.deepEqual(byClient.get("Windsurf"), { mcpServers: { git: { serverUrl: url } } });
  assert.equal(byClient.get("Codex CLI"), `[mcp_servers.git]\nurl = "${url}"`);
  assert.match(byClient.get("Goose"), /^extensions:\n {2}git:\n[^]* {4}type: streamable_http\n/);
  const desktop = byClient.get("Claude Desktop").mcpServers.git;
  assert.equal(desktop.command, Deno.execPath());
  assert.deepEqual(desktop.args.slice(-3), ["--stdio", "--server", "git"]);
  assert.equal(
    snippets.find(({ client }) => client === "Claude Code")?.command,
    `claude mcp add --transport http --scope user git ${url}`,
  );
});

Deno.test("clientSnippets() leaves a place for the token where one is needed", async () => {
  const gateway = { ...stubGateway(), access: new Access({ isRequired: true }) };
  const snippets = await clientSnippets(gateway, { kind: "server", name: "git" });
  const byClient = new Map(snippets.map((snippet) => [snippet.client, snippet]));
  const headers = { Authorization: "Bearer YOUR_TOKEN" };
  const url = "http://127.0.0.1:3333/servers/git/mcp";
  assert.deepEqual(JSON.parse(byClient.get("Cursor")?.code ?? ""), {
    mcpServers: { git: { url, headers } },
  });
  const code = byClient.get("Claude Code");
  assert.match(code?.command ?? "", / --header "Authorization: Bearer YOUR_TOKEN"$/);
  assert.equal(code?.needsToken, true);
  const desktop = byClient.get("Claude Desktop");
  assert.doesNotMatch(desktop?.code ?? "YOUR_TOKEN", /YOUR_TOKEN/);
  assert.equal(desktop?.needsToken, undefined);

  const open = { ...stubGateway(), access: new Access({ isRequired: false }) };
  assert.doesNotMatch(
    JSON.stringify(await clientSnippets(open, { kind: "all", name: "" })),
    /TOKEN/,
  );
});
