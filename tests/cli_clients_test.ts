import assert from "node:assert/strict";
import { dirname, join } from "@std/path";
import { clientConfigFiles } from "../lib/config/clients.ts";
import { TestCli } from "./cli.ts";
import { ELSEWHERE, WITH_ADMIN } from "./elsewhere.ts";
import { startHttpFixture } from "./fixtures/start_fixture.ts";
import { startGateway } from "./gateway.ts";

/** Where a client of this test's user keeps its servers. */
function configOf(cli: TestCli, client: string, scope = "user"): string {
  const env = { get: (name: string) => cli.settings.env[name] };
  const files = clientConfigFiles({ os: Deno.build.os, env, cwd: cli.project });
  return files.find((file) => file.client === client && file.scope === scope)!.path;
}

function backupsOf(file: string): string[] {
  return Array.from(Deno.readDirSync(dirname(file)), ({ name }) => name)
    .filter((name) => name.includes(".backup-"));
}

Deno.test("connect prints what to put where, and changes nothing", async () => {
  await TestCli.use(async (cli) => {
    const url = "http://127.0.0.1:4321";
    const claude = await cli.ok("connect", "claude-code", "--port", "4321");
    assert.ok(
      claude.includes(`claude mcp add --transport http --scope user quartermaster ${url}/mcp`),
    );
    assert.match(claude, /No gateway is running/);
    const cursor = await cli.json("connect", "cursor", "--port", "4321", "--name", "tools");
    assert.deepEqual(cursor.entry, { url: `${url}/mcp` });
    assert.equal(cursor.name, "tools");
    const vscode = await cli.json("connect", "vscode", "--port", "4321", "--scope", "project");
    assert.deepEqual(vscode.entry, { type: "http", url: `${url}/mcp` });
    assert.equal(vscode.file, join(cli.project, ".vscode", "mcp.json"));
    assert.match(await cli.ok("connect", "vscode", "--port", "4321"), /"servers": \{/);
    const { entry } = await cli.json("connect", "claude-desktop");
    assert.equal(entry.command, Deno.execPath());
    assert.deepEqual(entry.args.slice(-3), ["--stdio", "--data-dir", cli.dataDir]);
    assert.ok(entry.args.some((word: string) => word.endsWith("main.ts")));
    assert.deepEqual(Array.from(Deno.readDirSync(cli.project)), []);
    assert.deepEqual(Array.from(Deno.readDirSync(cli.home)), []);

    await cli.fails(2, /Did you mean cursor\?/, "connect", "cusor");
    await cli.fails(2, /connect requires CLIENT/, "connect");
    await cli.fails(
      2,
      /does not support project configs/,
      "connect",
      "claude-desktop",
      "--scope",
      "project",
    );
    await cli.fails(2, /--port 0/, "connect", "cursor", "--port", "0");
    await cli.fails(1, /no server "x"/, "connect", "cursor", "--server", "x");
    await cli.fails(1, /no toolset "x"/, "connect", "cursor", "--toolset", "x");
  });
});

Deno.test("connect --write and disconnect --write change that one entry alone", async () => {
  await TestCli.use(async (cli) => {
    const file = configOf(cli, "cursor");
    const before =
      '{\n  // mine\n  "mcpServers": {\n    "files": { "command": "npx" } // note\n  }\n}\n';
    await cli.write(file, before);
    await using gateway = await startGateway([], cli.gateway);

    const first = await cli.json("connect", "cursor", "--write");
    assert.equal(first.written, true);
    assert.deepEqual(first.entry, { url: `${gateway.url}/mcp` });
    assert.equal(await Deno.readTextFile(first.backup), before);
    const written = await Deno.readTextFile(file);
    assert.ok(written.includes("// mine") && written.includes("// note"), written);
    assert.ok(written.includes(`${gateway.url}/mcp`));
    assert.match(await cli.ok("connect", "cursor", "--write"), /already has this gateway/);
    assert.equal(backupsOf(file).length, 1);

    await cli.ok("connect", "cursor", "--server", "weather", "--write");
    assert.ok((await Deno.readTextFile(file)).includes(`${gateway.url}/servers/weather/mcp`));
    assert.equal(backupsOf(file).length, 2);

    assert.match(await cli.ok("disconnect", "cursor"), /^Would remove "quartermaster" from /);
    assert.notEqual(await Deno.readTextFile(file), before);
    assert.match(await cli.ok("disconnect", "cursor", "--write"), /^Removed "quartermaster" from /);
    assert.equal(await Deno.readTextFile(file), before);
    assert.match(await cli.ok("disconnect", "cursor", "--write"), /^Nothing to remove/);
    assert.equal(backupsOf(file).length, 3);
  });
});

Deno.test("connect --write keeps the tokens in its entry, whether or not a gateway runs", async () => {
  await TestCli.use(async (cli) => {
    const [cursor, desktop] = [configOf(cli, "cursor"), configOf(cli, "claude-desktop")];
    const headers = { authorization: "Bearer mine" };
    const url = "http://127.0.0.1:4321/mcp?expose=all";
    await cli.write(cursor, { mcpServers: { quartermaster: { url, headers } } });
    const entryIn = async (file: string) =>
      JSON.parse(await Deno.readTextFile(file)).mcpServers.quartermaster;
    const wanted = { url: "http://127.0.0.1:4321/mcp", headers };
    for (const flags of [[], ["--require-token"]]) {
      await cli.ok("connect", "cursor", "--port", "4321", "--write", ...flags);
      assert.deepEqual(await entryIn(cursor), wanted);
    }

    await cli.ok("connect", "claude-desktop", "--write");
    const entry = await entryIn(desktop);
    const env = { QUARTERMASTER_TOKEN: "mine" };
    await cli.write(desktop, { mcpServers: { quartermaster: { ...entry, env } } });
    await cli.ok("connect", "claude-desktop", "--write");
    assert.deepEqual(await entryIn(desktop), { ...entry, env });
  });
});

Deno.test("connect --write touches neither a broken file nor somebody else's entry", async () => {
  await TestCli.use(async (cli) => {
    const file = configOf(cli, "claude-code");
    for (
      const [text, code, message] of [
        ['{\n  "mcpServers": {,}\n}\n', 2, /\.claude\.json:2:18: /],
        [
          '{ "mcpServers": { "quartermaster": { "command": "other" } } }',
          1,
          /already has a server/,
        ],
      ] as const
    ) {
      await cli.write(file, text);
      await cli.fails(code, message, "connect", "claude-code", "--write");
      assert.equal(await Deno.readTextFile(file), text);
      assert.deepEqual(backupsOf(file), []);
    }
    await cli.ok("connect", "claude-code", "--write", "--name", "tools");
    assert.ok((await Deno.readTextFile(file)).includes('"command": "other"'));
  });
});

Deno.test("import takes over the clients' servers", async (t) => {
  await using chaos = await startHttpFixture("chaos_http");
  await TestCli.use(async (cli) => {
    await cli.write(configOf(cli, "claude-code"), {
      numStartups: 1,
      mcpServers: {
        remote: { type: "http", url: chaos.url, headers: { "X-Key": "canary-header" } },
        quartermaster: { type: "http", url: "http://127.0.0.1:3333/mcp" },
      },
      projects: {
        [cli.project]: { mcpServers: { local: cli.program([], { KEY: "canary-env" }) } },
      },
    });
    await cli.write(configOf(cli, "cursor"), {
      mcpServers: {
        remote: { url: chaos.url, headers: { "X-Key": "canary-header" } },
        gone: { url: "http://127.0.0.1:59998/mcp?api_key=canary-query" },
        local: { command: "other" },
      },
    });
    await cli.write(configOf(cli, "vscode"), '{ "servers": {,} }');
    type Row = { name: string; from: string; state: string; done?: string };
    const summary = (servers: Row[]) =>
      servers.map(({ name, from, state, done }) => [name, from, state, done].join(" | "));
    const names = async () =>
      (await cli.json("server", "list")).servers.map(({ name }: Row) => name);

    await t.step("without a choice they are listed, and no secret with them", async () => {
      const { code, out, err } = await cli.run(["import"]);
      assert.equal(code, 0);
      assert.match(out, /^local +new +Claude Code in /m);
      assert.match(out, /^quartermaster +this gateway +Claude Code +/m);
      assert.match(out, /^remote +exists +Cursor +/m);
      assert.match(out, /^local +name taken +Cursor +/m);
      assert.match(out, /To import all of them, use --all/);
      assert.match(err, /mcp\.json:1:15: /);
      assert.ok(!`${out}${err}`.includes("canary"), out);
      assert.deepEqual(await names(), []);
    });

    await t.step("--dry-run does nothing", async () => {
      assert.match(await cli.ok("import", "--all", "--dry-run"), /3 would be imported/);
      assert.deepEqual(await names(), []);
    });

    await t.step(
      "--all goes on after one that cannot be connected to, and fails at the end",
      async () => {
        const { code, out, err } = await cli.run(["import", "--all", "--json"]);
        assert.equal(code, 1, err);
        assert.deepEqual(summary(JSON.parse(out).servers), [
          "remote | Claude Code | new | added",
          "quartermaster | Claude Code | self | left",
          `local | Claude Code in ${cli.project} | new | added`,
          "remote | Cursor | present | left",
          "gone | Cursor | new | failed",
          "local | Cursor | differs | left",
        ]);
        assert.ok(!`${out}${err}`.includes("canary"), out);
        assert.deepEqual(await names(), ["local", "remote"]);
      },
    );

    await t.step("through a running gateway, by name, renamed and unchecked", async () => {
      const env = { ...cli.gateway.env, ...WITH_ADMIN };
      await using gateway = await startGateway([], { ...cli.gateway, env });
      const refused = await fetch(`${gateway.url}/api/servers?check=false`, {
        method: "POST",
        headers: { "content-type": "application/json", ...ELSEWHERE },
        body: JSON.stringify({ name: "far", url: chaos.url }),
      });
      assert.equal((await refused.json()).error.errorType, "ACCESS_DENIED");
      assert.equal((await cli.run(["import", "--server", "gone"])).code, 1);
      assert.deepEqual(await names(), ["local", "remote"]);
      await cli.ok("import", "cursor", "--server", "gone", "--no-check");
      assert.deepEqual(await names(), ["gone", "local", "remote"]);
      const { code, err } = await cli.run(["import", "cursor", "--server", "local"]);
      assert.equal(code, 1);
      assert.match(err, /Another server is already called "local"/);
      await cli.ok(
        "import",
        "cursor",
        "--server",
        "local",
        "--rename",
        "local=other",
        "--no-check",
      );
      assert.deepEqual(await names(), ["gone", "local", "other", "remote"]);
      assert.equal(await cli.ok("tools", "call", "local.echo", "a=1"), '{"a":1}\n');
    });

    await t.step("what is named wrongly is exit code 2", async () => {
      await cli.fails(2, /Did you mean cursor\?/, "import", "cusor");
      await cli.fails(
        2,
        /No client has a server "gon"\. Did you mean gone/,
        "import",
        "cursor",
        "--server",
        "gon",
      );
      await cli.fails(2, /Cannot combine/, "import", "cursor", "--server", "gone", "--all");
      await cli.fails(2, /Cannot use --rename/, "import", "--rename", "a");
      await cli.fails(2, /mcp\.json:1:15: /, "import", "vscode");
    });

    await t.step("a file can be named too", async () => {
      const file = join(cli.project, "servers.json");
      await cli.write(file, { mcpServers: { filed: cli.program() } });
      assert.match(await cli.ok("import", file, "--all"), /^Added filed: 15 tools$/m);
    });
  });
});

/** What each client's file may hold before, with a comment where it can have one. */
const FILES: Record<string, string> = {
  windsurf: '{\n  "mcpServers": {\n    "files": { "command": "npx", "args": ["files"] }\n  }\n}\n',
  zed:
    '{\n  // mine\n  "theme": "One",\n  "context_servers": {\n    "files": { "command": { "path": "npx", "args": ["files"] } }\n  }\n}\n',
  codex: '# mine\nmodel = "o3"\n\n[mcp_servers.files]\ncommand = "npx"\nargs = ["files"]\n',
  "gemini-cli":
    '{\n  "ui": {},\n  "mcpServers": {\n    "files": { "command": "npx", "args": ["files"] }\n  }\n}\n',
  opencode:
    '{\n  // mine\n  "mcp": {\n    "files": { "type": "local", "command": ["npx", "files"], "enabled": true }\n  }\n}\n',
  goose:
    "# mine\nextensions:\n  files:\n    type: stdio\n    name: files\n    cmd: npx\n    args:\n      - files\n    enabled: true\n  developer:\n    type: builtin\n",
  "lm-studio":
    '{\n  "mcpServers": {\n    "files": { "command": "npx", "args": ["files"] }\n  }\n}\n',
};

Deno.test("connect, import and disconnect know the files of every client", async (t) => {
  await TestCli.use(async (cli) => {
    const url = "http://127.0.0.1:4321/mcp";
    for (const [client, before] of Object.entries(FILES)) {
      await t.step(client, async () => {
        const file = configOf(cli, client);
        await cli.write(file, before);
        const listed = await cli.json("import", client);
        assert.deepEqual(
          listed.servers.map(({ name, entry }: Record<string, unknown>) => ({ name, entry })),
          [{ name: "files", entry: "npx files" }],
        );
        const first = await cli.json("connect", client, "--port", "4321", "--write");
        assert.equal(first.written, true);
        assert.equal(await Deno.readTextFile(first.backup), before);
        const written = await Deno.readTextFile(file);
        assert.ok(written.includes(url), written);
        assert.equal(written.includes("mine"), before.includes("mine"));
        const again = await cli.json("connect", client, "--port", "4321", "--write");
        assert.equal(again.written, false);
        assert.match(await cli.ok("disconnect", client, "--write"), /^Removed "quartermaster"/);
        assert.equal(await Deno.readTextFile(file), before);
      });
    }
  });
});

Deno.test("connect puts a token into the headers of every client that sends them", async () => {
  await TestCli.use(async (cli) => {
    for (const client of Object.keys(FILES)) {
      const text = await cli.ok("connect", client, "--port", "4321", "--require-token");
      assert.match(text, /Authorization"?(:| =) "?Bearer YOUR_TOKEN/, client);
    }
  });
});
