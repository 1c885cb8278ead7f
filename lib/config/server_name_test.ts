import assert from "node:assert/strict";
import fc from "../../tests/fast_check.ts";
import { ServerName, ServerSpec } from "../core/server.ts";
import { freeName, suggestedName, usableServerName } from "./server_name.ts";
import { splitCommand } from "./shell.ts";

for (
  const [name, expected] of [
    ["github", "github"],
    ["Git_Hub-2", "Git_Hub-2"],
    ["my.server", "my_server"],
    ["a b/c@d", "a_b_c_d"],
    ["caf\u00e9", "caf_"],
    ["tool\u{1F527}box", "tool_box"],
    ["x".repeat(64), "x".repeat(64)],
  ] as const
) {
  Deno.test(`usableServerName() makes ${expected} of ${name}`, () => {
    assert.equal(usableServerName(name), expected);
  });
}

Deno.test("usableServerName() keeps long names that differ at the end apart", () => {
  const one = usableServerName("x".repeat(80) + "1");
  const two = usableServerName("x".repeat(80) + "2");
  assert.equal(one.length, 64);
  assert.notEqual(one, two);
  assert.equal(one, usableServerName("x".repeat(80) + "1"));
});

Deno.test("usableServerName() gives a valid name for every text that is not empty", () => {
  fc.assert(fc.property(
    fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 90 }),
    (units) => ServerName.safeParse(usableServerName(String.fromCharCode(...units))).success,
  ));
});

function nameOf(text: string): string {
  if (/^https?:/.test(text)) return suggestedName({ type: "http", url: text, headers: {} });
  const [command, ...args] = splitCommand(text);
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
