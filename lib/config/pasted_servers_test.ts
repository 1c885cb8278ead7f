import assert from "node:assert/strict";
import { readPasted } from "./pasted_servers.ts";
import { loadInput } from "./testing/load_servers.ts";

const context = loadInput("/project", { variables: { HOME: "/home/me", TOKEN: "s3cret-value" } });

async function read(text: string) {
  const { kind, servers } = await readPasted(text, context);
  return { kind, servers };
}

Deno.test("readPasted() takes an address, and names it by its host", async () => {
  const { kind, servers } = await read("  https://mcp.linear.app/mcp\n");
  assert.equal(kind, "address");
  assert.deepEqual(servers, [{
    name: "linear",
    spec: { type: "http", url: "https://mcp.linear.app/mcp", headers: {} },
    secrets: [],
    notes: [],
  }]);
  await assert.rejects(read("ftp://example.com"), /use a full URL, such as https:\/\/example.com/);
  await assert.rejects(read("http://example.com:6000/mcp"), /port 6000/);
});

Deno.test("readPasted() takes a host with a port for an address, and says so", async () => {
  const { kind, servers } = await read("localhost:3000/mcp");
  assert.equal(kind, "address");
  assert.deepEqual(servers[0]?.spec, {
    type: "http",
    url: "http://localhost:3000/mcp",
    headers: {},
  });
  assert.match(servers[0]?.notes[0] ?? "", /Interpreted as http:\/\/localhost:3000\/mcp/);
  await assert.rejects(read("localhost:6000"), /port 6000/);
});

Deno.test("readPasted() takes a command line with variables and a home folder", async () => {
  const { kind, servers } = await read("API_KEY=abcdef npx -y @x/server-notes ~/notes 'a b'");
  assert.equal(kind, "command");
  assert.deepEqual(servers[0]?.spec, {
    type: "stdio",
    command: "npx",
    args: ["-y", "@x/server-notes", "/home/me/notes", "a b"],
    env: { API_KEY: "abcdef" },
  });
  assert.equal(servers[0]?.name, "notes");
  assert.deepEqual(servers[0]?.secrets, ["abcdef"]);
  const absolute = await read("/usr/bin/server --port 3");
  assert.equal(absolute.kind, "command");
  await assert.rejects(read("A=1 B=2"), /no program/);
  await assert.rejects(read(" "), /There is nothing to add; paste a URL/);
});

Deno.test("readPasted() takes a claude mcp add command", async () => {
  const remote = await read(
    'claude mcp add --transport http --scope user gh https://x.example/mcp -H "Authorization: Bearer abc"',
  );
  assert.deepEqual(remote.servers[0]?.spec, {
    type: "http",
    url: "https://x.example/mcp",
    headers: { Authorization: "Bearer abc" },
  });
  assert.equal(remote.servers[0]?.name, "gh");
  const local = await read("claude mcp add fs -e A=b -- npx -y fs --flag /x");
  assert.deepEqual(local.servers[0]?.spec, {
    type: "stdio",
    command: "npx",
    args: ["-y", "fs", "--flag", "/x"],
    env: { A: "b" },
  });
  await assert.rejects(read("claude mcp add"), /is missing/);
});

Deno.test("readPasted() takes files in the shape of every client, and parts of them", async () => {
  const entry = `{"command":"npx","args":["notes"]}`;
  const shapes: [string, string[]][] = [
    [`{"mcpServers":{"a":${entry},"b":{"url":"https://b.example/mcp"}}}`, ["a", "b"]],
    [`// VS Code\n{"servers":{"a":${entry}},"inputs":[]}`, ["a"]],
    [`{"mcp":{"servers":{"a":${entry}}}}`, ["a"]],
    [`{"a":${entry},"b":${entry},}`, ["a", "b"]],
    [`"a": ${entry}`, ["a"]],
    [entry, ["notes"]],
    ['{"serverUrl":"https://mcp.linear.app/sse"}', ["linear"]],
    [`{"numStartups":3,"mcpServers":{"my server":${entry}}}`, ["my_server"]],
  ];
  for (const [text, names] of shapes) {
    const { kind, servers } = await read(text);
    assert.equal(kind, "file", text);
    assert.deepEqual(servers.map(({ name }) => name), names, text);
    assert.ok(servers.every(({ spec, problem }) => spec && problem === undefined), text);
  }
});

Deno.test("readPasted() says what is wrong with an entry, and what to do", async () => {
  const { servers } = await read(`{"mcpServers":{
    "fine": {"url":"https://a.example/mcp","headers":{"Authorization":"Bearer \${TOKEN}"}},
    "unset": {"command":"x","env":{"A":"\${NOPE}"}},
    "both": {"command":"x","url":"https://a.example"},
    "off": {"command":"x","disabled":true}
  }}`);
  const byName = new Map(servers.map((server) => [server.name, server]));
  assert.ok(byName.get("fine")?.secrets.includes("s3cret-value"));
  assert.match(byName.get("unset")?.problem ?? "", /NOPE is not set \(in env\.A\)\. .+NOPE/);
  assert.equal(byName.get("both")?.problem, 'It has both "command" and "url". Keep only one');
  assert.equal(byName.get("both")?.spec, undefined);
  assert.deepEqual(byName.get("off")?.notes, ["It is disabled in that configuration"]);
  assert.equal(byName.get("off")?.spec?.disabled, undefined);
});

Deno.test("readPasted() says where broken JSON breaks, and what an empty file lacks", async () => {
  await assert.rejects(read('{"mcpServers":{\n"a":{"command" "x"}}}'), /your text:2:\d+: a colon/);
  await assert.rejects(read('{"mcpServers":{}}'), /Cannot find a server in your text; write/);
  await assert.rejects(read('{"theme":"dark"}'), /no "mcpServers"/);
});
