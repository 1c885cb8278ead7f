import assert from "node:assert/strict";
import { ServerSpec } from "../core/server.ts";
import { commandWords } from "./command_words.ts";
import { freeName, suggestedName } from "./suggested_name.ts";

function nameOf(text: string): string {
  if (/^https?:/.test(text)) return suggestedName({ type: "http", url: text, headers: {} });
  const [command, ...args] = commandWords(text);
  return suggestedName(ServerSpec.parse({ type: "stdio", command, args }));
}

Deno.test("suggestedName() says what is started or where it is", () => {
  const names: [string, string][] = [
    ["npx -y @modelcontextprotocol/server-filesystem /notes", "filesystem"],
    ["npx -y @upstash/context7-mcp@latest", "context7"],
    ["uvx mcp-server-git --repository .", "git"],
    ["docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server:1.2", "github"],
    ["deno run -A /x/echo_server.ts", "echo_server"],
    ["node build/index.js", "index"],
    ["https://mcp.linear.app/sse", "linear"],
    ["https://api.githubcopilot.com/mcp/", "githubcopilot"],
    ["http://localhost:3000/mcp", "local"],
    ["http://127.0.0.1:9/weather/mcp", "weather"],
    ["npx", "npx"],
  ];
  for (const [text, name] of names) assert.equal(nameOf(text), name, text);
});

Deno.test("freeName() counts up from a name that is taken", () => {
  assert.equal(freeName("git", new Set()), "git");
  assert.equal(freeName("git", new Set(["git", "git-2"])), "git-3");
});
