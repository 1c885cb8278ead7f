import assert from "node:assert/strict";
import { join } from "node:path";
import { ServerName } from "../core/server.ts";
import { loadServers } from "./mcp_file.ts";
import { inFolder, loadInput, type LoadSettings, loadText } from "./testing/load_servers.ts";

Deno.test("loadServers() reads Claude Code's .mcp.json", async () => {
  const { servers, problems, declared } = await loadText(
    `{
      "mcpServers": {
        "files": { "type": "stdio", "command": "npx", "args": ["-y", "\${PKG}"], "env": { "A": "\${A:-b}" } },
        "api": { "type": "http", "url": "\${BASE:-https://example.com}/mcp",
          "headers": { "Authorization": "Bearer \${TOKEN}" }, "timeout": 1000 },
        "old": { "type": "sse", "url": "https://example.com/sse" }
      }
    }`,
    { variables: { PKG: "some-package", TOKEN: "tok-123" } },
  );
  assert.deepEqual(problems, []);
  assert.equal(declared, 3);
  assert.deepEqual(servers.map(({ name, spec }) => [name, spec]), [
    ["files", { type: "stdio", command: "npx", args: ["-y", "some-package"], env: { A: "b" } }],
    ["api", {
      type: "http",
      url: "https://example.com/mcp",
      headers: { Authorization: "Bearer tok-123" },
      timeoutMs: 1000,
    }],
    ["old", { type: "sse", url: "https://example.com/sse", headers: {} }],
  ]);
  assert.ok(servers[1]?.secrets.includes("tok-123"));
  assert.ok(servers.every(({ problem }) => problem === undefined));
});

Deno.test("loadServers() reads Claude Desktop's file and leaves the rest of it alone", async () => {
  const text = `{
    "globalShortcut": "", "preferences": {},
    "mcpServers": { "x": { "command": "uvx", "args": ["mcp-server-time"] } } }`;
  await inFolder({ "claude_desktop_config.json": text }, async (folder) => {
    const path = "claude_desktop_config.json";
    const { file, servers, problems } = await loadServers(loadInput(folder, { path }));
    assert.equal(file, join(folder, path));
    assert.deepEqual(problems, []);
    assert.deepEqual(servers[0]?.source, { kind: "file", path: join(folder, path) });
  });
});

Deno.test("loadServers() reads Cursor's file, its variables and its envFile", async () => {
  const text = `{ "mcpServers": {
    "one": { "command": "node", "args": ["\${workspaceFolder}\${/}server.js", "\${userHome}"],
      "env": { "KEY": "\${env:KEY}", "B": "entry" }, "envFile": "\${workspaceFolder}/.env" },
    "two": { "url": "https://example.com/mcp", "headers": { "X": "\${env:KEY}" } } } }`;
  const files = { ".cursor/mcp.json": text, ".env": "# comment\nexport A='file a'\nB=file\n" };
  await inFolder(files, async (folder) => {
    const path = join(folder, ".cursor", "mcp.json");
    const variables = { KEY: "k3y-value", HOME: "/home/ada" };
    const { servers, problems } = await loadServers(loadInput("/", { path, variables }));
    assert.deepEqual(problems, []);
    assert.deepEqual(servers[0]?.spec, {
      type: "stdio",
      command: "node",
      args: [join(folder, "server.js"), "/home/ada"],
      env: { A: "file a", B: "entry", KEY: "k3y-value" },
      cwd: folder,
    });
    assert.ok(servers[0].secrets.includes("file a"));
    assert.equal(servers[1]?.spec.type, "http");
  });
});

Deno.test("loadServers() reads VS Code's mcp.json with its inputs and comments", async () => {
  const text = `\uFEFF{
    // what the user is asked for
    "inputs": [
      { "type": "promptString", "id": "api-key", "password": true },
      { "type": "pickString", "id": "region", "options": ["eu", "us"], "default": "eu" },
    ],
    "servers": {
      "one": { "type": "stdio", "command": "npx", "gallery": true, "version": "1", "dev": {},
        "env": { "KEY": "\${input:api-key}", "PORT": 8080, "DEBUG": true, "GONE": null } },
      "two": { "type": "http", "url": "https://\${input:region}.example.com/mcp" },
    },
  }`;
  await inFolder({ ".vscode/mcp.json": text }, async (folder) => {
    const path = ".vscode/mcp.json";
    const variables = { QUARTERMASTER_INPUT_API_KEY: "asked-key" };
    const { servers, problems } = await loadServers(loadInput(folder, { path, variables }));
    assert.deepEqual(problems, []);
    assert.deepEqual(servers.map(({ spec }) => spec), [
      {
        type: "stdio",
        command: "npx",
        args: [],
        env: { KEY: "asked-key", PORT: "8080", DEBUG: "true" },
      },
      { type: "http", url: "https://eu.example.com/mcp", headers: {} },
    ]);
    const unasked = await loadServers(loadInput(folder, { path }));
    assert.equal(unasked.servers[0]?.problem, "the input api-key has no value (in env.KEY)");
    assert.equal(unasked.problems[0]?.fix, "Set QUARTERMASTER_INPUT_API_KEY");
  });
});

Deno.test("loadServers() reads the servers in VS Code's settings.json", async () => {
  const text = `{ "editor.fontSize": 12, "mcp": { "inputs": [{ "id": "x", "default": "1" }],
    "servers": { "one": { "command": "a", "args": ["\${input:x}"] } } } }`;
  await inFolder({ "settings.json": text }, async (folder) => {
    const { servers, problems } = await loadServers(loadInput(folder, { path: "settings.json" }));
    assert.deepEqual(problems, []);
    assert.deepEqual(servers.map(({ name }) => name), ["one"]);
    assert.deepEqual(servers[0]?.spec, { type: "stdio", command: "a", args: ["1"], env: {} });
  });
});

Deno.test("loadServers() looks at --config, then ./.mcp.json, then the config folder", async () => {
  const one = (name: string) => JSON.stringify({ mcpServers: { [name]: { command: "x" } } });
  const files = {
    "work/.mcp.json": one("project"),
    "empty/x": "",
    "config/mcp.json": one("user"),
    "other/.mcp.json": one("dotted"),
    "named.json": one("named"),
  };
  await inFolder(files, async (folder) => {
    const name = async (cwd: string, settings: LoadSettings) =>
      (await loadServers(loadInput(join(folder, cwd), settings))).servers[0]?.name;
    const configDir = join(folder, "config");
    assert.equal(await name("work", { configDir, path: "../named.json" }), "named");
    assert.equal(await name("work", { configDir }), "project");
    assert.equal(await name("empty", { configDir }), "user");
    assert.equal(await name("empty", { configDir: join(folder, "other") }), "dotted");
    assert.deepEqual(await loadServers(loadInput(join(folder, "empty"), {})), {
      file: undefined,
      servers: [],
      problems: [],
      leftOut: [],
      declared: 0,
    });
  });
});

Deno.test("loadServers() runs a project's servers in the project's folder", async () => {
  const text = JSON.stringify({
    mcpServers: {
      plain: { command: "./bin/server", args: ["./data"] },
      moved: { command: "bin/server", cwd: "sub" },
      global: { command: "npx" },
    },
  });
  await inFolder({ ".mcp.json": text, "mcp.json": text }, async (folder) => {
    const elsewhere = await loadServers(loadInput("/", { path: join(folder, ".mcp.json") }));
    const [plain, moved, global] = elsewhere.servers.map(({ spec }) => spec);
    const common = { type: "stdio", env: {} };
    const inside = join(folder, "bin", "server");
    assert.deepEqual(plain, { ...common, command: inside, args: ["./data"], cwd: folder });
    const sub = join(folder, "sub");
    assert.deepEqual(moved, { ...common, command: join(sub, "bin/server"), args: [], cwd: sub });
    assert.deepEqual(global, { ...common, command: "npx", args: [], cwd: folder });
    const user = await loadServers(loadInput("/", { configDir: folder }));
    assert.deepEqual(user.servers[2]?.spec, { ...common, command: "npx", args: [] });
    assert.equal("command" in (user.servers[0]?.spec ?? {}), true);
  });
});

Deno.test("loadServers() makes names usable, and tells which it had to change", async () => {
  const { servers, leftOut, problems, lines } = await loadText(`{ "mcpServers": {
  "my.server": { "command": "a" },
  "my server": { "command": "b" },
  "": { "command": "c" },
  "${"x".repeat(70)}": { "command": "d" }
} }`);
  assert.equal(servers.length, 2);
  assert.deepEqual(servers[0]?.name, "my_server");
  assert.ok(servers.every(({ name }) => ServerName.safeParse(name).success));
  assert.deepEqual(lines.slice(0, 3), [
    'warning 2:3 server "my.server" is renamed to "my_server". Use 1 to 64 letters, digits, _ or -',
    'error 3:3 server "my server" conflicts with "my.server": both become "my_server". ' +
    "Rename one of them",
    "error 4:3 a server has no name. Give it a name",
  ]);
  assert.deepEqual(
    leftOut.map(({ name, problem, place }) => [name, problem?.slice(0, 20), place?.line]),
    [["my_server-2", 'server "my server" c', 3], ["unnamed", "a server has no name", 4]],
  );
  assert.deepEqual(problems.slice(1, 3).map(({ server }) => server), ["my_server-2", "unnamed"]);
  assert.ok(leftOut.every(({ name }) => ServerName.safeParse(name).success));
});

Deno.test("loadServers() lets the last of two equal names count and names both places", async () => {
  const { servers, lines } = await loadText(`{
    "mcpServers": { "x": { "command": "one" } },
    "servers": {
      "x": { "command": "two" }
    }
  }`);
  assert.equal(servers.length, 1);
  assert.ok(servers[0]?.spec.type === "stdio" && servers[0].spec.command === "two");
  assert.deepEqual(lines, [
    'warning 4:7 server "x" is defined twice; this definition is used, not the one at line 2, ' +
    "column 21. Remove one of them",
  ]);
});

Deno.test("loadServers() warns of unknown keys beside the servers", async () => {
  const { lines } = await loadText('{ "mcpServers": {}, "input": [], "extra": 1, "$schema": "x" }');
  assert.deepEqual(lines, [
    'warning 1:21 unknown key "input". Did you mean "inputs"?',
    'warning 1:34 unknown key "extra". Remove it',
  ]);
});

const UNUSABLE: [name: string, content: string | Uint8Array, message: RegExp][] = [
  ["is empty", "", /\.mcp\.json is empty; write at least \{ "mcpServers"/],
  ["is null", "null", /\.mcp\.json:1:1: expected an object, found null; write/],
  ["is a list", "[]", /expected an object, found a list/],
  ["has a syntax error", '{\n "mcpServers": {,}\n}', /\.mcp\.json:2:17: extra comma/],
  ["is not UTF-8", new Uint8Array([0xff, 0xfe, 0x7b]), /it is not UTF-8 text; save it as UTF-8/],
  ["is too large", `{}${" ".repeat(4 * 1024 * 1024)}`, /it is larger than 4 MiB/],
  ["has a list of servers", '{"mcpServers":[]}', /:1:15: "mcpServers" must be an object/],
  [
    "has its servers at the top",
    '{"git":{"command":"a"}}',
    /:1:2: no "mcpServers".*move "git" and the other servers into "mcpServers"/,
  ],
  ["misspells the key", '{"mcpServer":{}}', /:1:2: .*rename "mcpServer" to "mcpServers"/],
  ["has other things only", '{"a":1}', /:1:1: no "mcpServers" \(Claude, Cursor\)/],
];

for (const [name, content, message] of UNUSABLE) {
  Deno.test(`loadServers() refuses a file that ${name}`, async () => {
    await inFolder({ ".mcp.json": content }, async (folder) => {
      await assert.rejects(loadServers(loadInput(folder, {})), { code: "CONFIG_INVALID", message });
    });
  });
}

Deno.test("loadServers() refuses a folder, and a file that was asked for but is not there", async () => {
  await inFolder({ ".mcp.json/x": "" }, async (folder) => {
    await assert.rejects(loadServers(loadInput(folder, {})), {
      code: "CONFIG_INVALID",
      message: `Cannot read ${join(folder, ".mcp.json")}: it is a folder; choose a file inside it`,
    });
    for (const path of ["no.json", ".mcp.json/x/y"]) {
      await assert.rejects(loadServers(loadInput(folder, { path })), {
        code: "CONFIG_INVALID",
        message: `Cannot read ${join(folder, path)}: file not found; ` +
          "correct --config, or omit it",
      });
    }
  });
});

Deno.test({
  name: "loadServers() refuses a file that may not be read",
  // root may read everything.
  ignore: Deno.build.os === "windows" || Deno.uid() === 0,
  fn: async () => {
    await inFolder({ ".mcp.json": "{}" }, async (folder) => {
      await Deno.chmod(join(folder, ".mcp.json"), 0);
      await assert.rejects(loadServers(loadInput(folder, {})), { message: /permission denied/ });
    });
  },
});

Deno.test("loadServers() takes an empty object for a file without servers", async () => {
  for (const text of ["{}", '{"mcpServers":{}}', '{"$schema":"x"}']) {
    const { servers, declared, lines } = await loadText(text);
    assert.deepEqual([servers, declared, lines], [[], 0, []]);
  }
});
