import assert from "node:assert/strict";
import { join } from "node:path";
import { readClientServers } from "./client_servers.ts";
import { inFolder, loadInput } from "./testing/load_servers.ts";

Deno.test("readClientServers() reads Claude Code's file: everywhere, and for each project", async () => {
  const content = {
    numStartups: 3,
    mcpServers: {
      everywhere: { type: "http", url: "https://example.com/mcp" },
      own: { type: "http", url: "http://localhost:3333/mcp" },
    },
    projects: {
      "/project/a": {
        allowedTools: [],
        mcpServers: { "my files": { command: "npx", args: ["x"] } },
      },
      "/project/b": { mcpServers: {} },
      "/project/c": { mcpServers: { wrong: { command: 7 } } },
    },
  };
  await inFolder({ ".claude.json": JSON.stringify(content) }, async (folder) => {
    const path = join(folder, ".claude.json");
    const found = await readClientServers(
      { path, client: "claude-code", scope: "user" },
      loadInput(folder, {}),
    );
    assert.deepEqual(
      found?.servers.map(({ name, writtenAs, project, isSelf }) => [
        name,
        writtenAs,
        project,
        isSelf,
      ]),
      [
        ["everywhere", "everywhere", undefined, false],
        ["own", "own", undefined, true],
        ["my_files", "my files", "/project/a", false],
      ],
    );
    const [, , files] = found.servers;
    assert.equal(files?.spec.type === "stdio" && files.spec.cwd, "/project/a");
    assert.ok(
      found.problems.some(({ message }) => /server "wrong" has an invalid value/.test(message)),
    );
  });
});

Deno.test("readClientServers() accepts a client's file that names no servers", async () => {
  await inFolder({ "claude_desktop_config.json": '{ "theme": "dark" }' }, async (folder) => {
    const path = join(folder, "claude_desktop_config.json");
    const file = { path, client: "claude-desktop", scope: "user" } as const;
    const input = loadInput(folder, {});
    assert.deepEqual(await readClientServers(file, input), { servers: [], problems: [] });
    await Deno.writeTextFile(path, "");
    assert.deepEqual(await readClientServers(file, input), { servers: [], problems: [] });
    await Deno.writeTextFile(path, '{ "mcpServers": {,} }');
    await assert.rejects(readClientServers(file, input), /config\.json:1:18: /);
    assert.equal(await readClientServers({ ...file, path: `${path}.gone` }, input), undefined);
  });
});

Deno.test("readClientServers() has a project's programs run in that project", async () => {
  const content = { servers: { a: { command: "npx" }, b: { command: "npx", cwd: "/elsewhere" } } };
  await inFolder({ ".vscode/mcp.json": JSON.stringify(content) }, async (folder) => {
    const path = join(folder, ".vscode", "mcp.json");
    const found = await readClientServers(
      { path, client: "vscode", scope: "project" },
      loadInput(folder, {}),
    );
    assert.deepEqual(
      found?.servers.map(({ spec }) => spec.type === "stdio" && spec.cwd),
      [folder, "/elsewhere"],
    );
  });
});
