import assert from "node:assert/strict";
import { join } from "@std/path";
import { cliCommand } from "./cli.ts";
import { canTry } from "./installed.ts";
import { fixtureCommand, startHttpFixture } from "./fixtures/start_fixture.ts";
import { startGateway, until } from "./gateway.ts";

/** A command line that always uses the same data folder, which nothing else knows. */
function cliOn(dataDir: string) {
  const settings = {
    cwd: dataDir,
    env: { XDG_CONFIG_HOME: dataDir, QUARTERMASTER_DATA_DIR: dataDir },
  };
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      ...settings,
      args: [...cliCommand(), ...args],
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
  };
  return {
    run,
    settings,
    /** The output of a command that has to succeed. */
    async ok(...args: string[]): Promise<string> {
      const { code, out, err } = await run(...args);
      assert.equal(code, 0, `${args.join(" ")}: ${err}`);
      assert.equal(err, "", args.join(" "));
      return out;
    },
    async json(...args: string[]) {
      return JSON.parse(await this.ok(...args, "--json"));
    },
    async fails(code: number, message: RegExp, ...args: string[]): Promise<void> {
      const result = await run(...args);
      assert.equal(result.code, code, `${args.join(" ")}: ${result.out}${result.err}`);
      assert.match(result.err, message, args.join(" "));
      assert.doesNotMatch(result.err, /\n\s+at /, "a stack trace");
      assert.equal(result.out, "");
    },
  };
}

async function inFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    await work(dataDir);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

const local = fixtureCommand("chaos_server", ["--stderr-flood=2"]);
const PROGRAM = ["--", local.command, ...local.args];

Deno.test("the CLI says how it is used, and exits with 2 where it is used wrongly", async () => {
  await inFolder(async (dataDir) => {
    const cli = cliOn(dataDir);
    const help = await cli.ok("--help");
    for (const part of ["status", "server add NAME", "backup FILE", "--data-dir", "Exit codes"]) {
      assert.ok(help.includes(part), part);
    }
    assert.match(await cli.ok("server", "--help"), /server tools SERVER(?![^]*backup)/);
    assert.match(await cli.ok("server", "add", "--help"), /--header "K: V"/);
    const wrong: [RegExp, string[]][] = [
      [/Unknown command "sever"\. Did you mean server\?/, ["sever", "list"]],
      [/Unknown command "server lst"\. Did you mean server list\?/, ["server", "lst"]],
      [/server requires a subcommand/, ["server"]],
      [/server list does not take --url/, ["server", "list", "--url", "http://a"]],
      [/Unknown option --jsn\. Did you mean --json\?/, ["status", "--jsn"]],
      [/server restart requires NAME/, ["server", "restart"]],
      [/server remove requires confirmation; pass --yes/, ["server", "remove", "a"]],
      [/Cannot combine --enable and --all/, ["server", "tools", "a", "--all", "--enable", "b"]],
      [/Cannot add server "a\.b"/, ["server", "add", "a.b", ...PROGRAM]],
    ];
    await Promise.all(wrong.map(([message, args]) => cli.fails(2, message, ...args)));
    // Without a change, it updates the server's package.
    await cli.fails(1, /There is no server "a"/, "server", "update", "a");
  });
});

Deno.test("the CLI works on the store where no gateway runs", async (t) => {
  await using chaos = await startHttpFixture("chaos_http");
  await inFolder(async (dataDir) => {
    const cli = cliOn(dataDir);
    await Deno.writeTextFile(
      join(dataDir, ".mcp.json"),
      JSON.stringify({ mcpServers: { filed: { url: "http://127.0.0.1:59997/mcp" } } }),
    );

    await t.step("status says so, with exit code 1", async () => {
      const { code, out } = await cli.run("status");
      assert.equal(code, 1);
      assert.match(out, /^No gateway is running on /);
      assert.deepEqual(JSON.parse((await cli.run("status", "--json")).out), {
        running: false,
        gateways: [],
      });
    });

    await t.step("add connects to that server alone, and stores it", async () => {
      const url = new URL("/s/a/mcp?tools=5", chaos.url).href;
      const out = await cli.ok(
        "server",
        "add",
        "remote",
        "--url",
        url,
        "--header",
        "X-Key: canary",
      );
      assert.match(
        out,
        /^Added remote: 20 tools\.\nIts URL points to this machine.*\nNo gateway is running/,
      );
      assert.match(await cli.ok("server", "add", "local", ...PROGRAM), /^Added local: 15 tools/);
    });

    await t.step("what does not work, or is there already, is not stored", async () => {
      const url = "http://127.0.0.1:59998/mcp";
      await cli.fails(
        1,
        /Cannot add server "gone": .*refused/,
        "server",
        "add",
        "gone",
        "--url",
        url,
      );
      await cli.fails(1, /already/, "server", "add", "remote", "--url", chaos.url);
      await cli.fails(1, /already/, "server", "add", "filed", "--url", chaos.url);
    });

    await t.step("list shows what the next start will have", async () => {
      const out = await cli.ok("server", "list");
      assert.match(out, /^NAME +STATE +TYPE +TOOLS +REASON\n/);
      assert.match(out, /^filed +not running +http +0 /m);
      assert.match(out, /^local +not running +stdio +15 /m);
      assert.match(out, /^remote +not running +http +20 /m);
      const { servers } = await cli.json("server", "list");
      assert.equal(servers.length, 3);
    });

    await t.step(
      "update tries what is reached in another way, and changes that alone",
      async () => {
        const url = new URL("/s/b/mcp?tools=1", chaos.url).href;
        const update = ["server", "update", "remote"];
        assert.match(
          await cli.ok(...update, "--url", url, "--max-concurrent", "2"),
          /^Changed remote: 16 tools\.\nIts URL points to this machine.*\nNo gateway is running/,
        );
        assert.match(await cli.ok(...update, "--mode", "confirm"), /^Changed remote\.\nNo gateway/);
        const gone = "http://127.0.0.1:59998/mcp";
        await cli.fails(2, /Cannot send the stored value of X-Key/, ...update, "--url", gone);
        const unset = ["--url", gone, "--unset", "x-key"];
        await cli.fails(1, /Cannot change server "remote": .*refused/, ...update, ...unset);
        const off = await cli.json(...update, "--disabled", "--max-concurrent", "none");
        assert.equal(off.server.state, "disabled");
        assert.match(await cli.ok("server", "list"), /^remote +disabled +http +16 /m);
        const on = await cli.json(...update, "--no-disabled");
        assert.deepEqual([on.server.state, on.server.toolCount], ["ready", 16]);
        const { entries } = await cli.json("audit", "list", "--action", "server.change");
        assert.deepEqual(entries[0].after, {
          type: "http",
          url,
          headers: { "X-Key": "[redacted]" },
          allowPrivate: true,
          mode: "confirm",
          disabled: false,
        });
      },
    );

    await t.step("update says which file an entry is in, and which name was meant", async () => {
      const file = join(dataDir, ".mcp.json").replaceAll(".", "\\.");
      const mode = ["--mode", "read-only"];
      await cli.fails(
        1,
        new RegExp(`"filed" is defined in a config file .*\\n +Edit .*${file}`),
        "server",
        "update",
        "filed",
        ...mode,
      );
      const unknown = /no server "remot"\n[^]*Did you mean remote\?/;
      await cli.fails(1, unknown, "server", "update", "remot", ...mode);
    });

    await t.step("tools are chosen", async () => {
      const out = await cli.ok("server", "tools", "local", "--enable", "echo, pid");
      assert.match(out, /^on {3}echo$/m);
      assert.match(out, /^off {2}crash$/m);
      assert.match(out, /2 of 15 tools of local are on/);
    });

    await t.step("restart and logs need a gateway", async () => {
      await cli.fails(
        1,
        /No gateway is running on .*\n.*quartermaster start/,
        "server",
        "restart",
        "local",
      );
      await cli.fails(1, /No gateway is running/, "server", "logs", "local");
    });

    await t.step("remove", async () => {
      assert.equal(await cli.ok("server", "remove", "remote", "--yes"), "Removed remote.\n");
      await cli.fails(1, /no server "remote"/, "server", "remove", "remote", "--yes");
      await cli.fails(
        1,
        /"filed" is defined in a config file/,
        "server",
        "remove",
        "filed",
        "--yes",
      );
    });

    await t.step(
      "backup, audit export, restore and completions tell what they did as JSON",
      async () => {
        const file = join(dataDir, "made.backup");
        const saved = await cli.json("backup", file);
        assert.equal(saved.file, file);
        assert.ok(saved.entries > 0 && Date.parse(saved.createdAt) > 0);
        const all = await cli.json("audit", "export", "--action", "server.add");
        assert.deepEqual(all.map(({ subject }: { subject: string }) => subject), [
          "local",
          "remote",
        ]);
        const output = join(dataDir, "audit.csv");
        assert.deepEqual(
          await cli.json("audit", "export", "--format", "csv", "--output", output),
          { file: output },
        );
        const { movedTo, ...restored } = await cli.json("restore", file);
        assert.ok((await Deno.stat(movedTo)).isFile);
        assert.deepEqual(restored, {
          file,
          entries: saved.entries,
          createdAt: saved.createdAt,
          sealedElsewhere: [],
          discardedStaged: false,
        });
        const { shell, script } = await cli.json("completions", "bash");
        assert.equal(shell, "bash");
        assert.equal(script, await cli.ok("completions", "bash"));
      },
    );

    await t.step("a gateway that starts then has all of it", async () => {
      await using gateway = await startGateway([], { dataDir });
      const { gateways } = await cli.json("status");
      assert.equal(gateways[0].pid, gateway.pid);
      await until(async () =>
        /^local +ready +stdio +15 /m.test(await cli.ok("server", "list")) || undefined
      );
      assert.match(await cli.ok("server", "tools", "local"), /2 of 15 tools of local are on/);
    });
  });
});

Deno.test("the CLI speaks to the gateway that runs on its data folder", async (t) => {
  await using chaos = await startHttpFixture("chaos_http", ["--token=canary-token"]);
  await inFolder(async (dataDir) => {
    await using gateway = await startGateway([], { dataDir });
    const cli = cliOn(dataDir);

    await t.step("status", async () => {
      const out = await cli.ok("status");
      assert.ok(out.includes(`is running at ${gateway.url}\n  pid ${gateway.pid}, up `), out);
      const { running, gateways: [found] } = await cli.json("status");
      assert.equal(running, true);
      assert.equal(found.address, gateway.url);
      assert.equal(typeof found.uptimeSeconds, "number");
      assert.deepEqual(found.servers, { ready: 1 });
    });

    await t.step("add by url, with the headers it needs", async () => {
      const url = chaos.url;
      assert.match(
        await cli.ok("server", "add", "locked", "--url", url),
        /^Added locked \(needs login\): /,
      );
      const header = "Authorization: Bearer canary-token";
      const out = await cli.ok("server", "add", "remote", "--url", url, "--header", header);
      assert.match(out, /^Added remote: 15 tools\.\nIts URL points to this machine; .*\n$/);
      const old = new URL("/s/old/sse", url).href;
      const { server } = await cli.json(
        "server",
        "add",
        "old",
        "--url",
        old,
        "--type",
        "sse",
        "--header",
        header,
      );
      assert.equal(server.state, "ready");
      await cli.fails(
        1,
        /Cannot add server "gone"/,
        "server",
        "add",
        "gone",
        "--url",
        "http://127.0.0.1:59998",
      );
    });

    await t.step("add a program, with its variables", async () => {
      const variables = ["--env", "API_TOKEN=canary-env", "--env", "PLAIN=x=y"];
      assert.equal(
        await cli.ok("server", "add", "local", ...variables, ...PROGRAM),
        "Added local: 15 tools.\n",
      );
      await cli.fails(1, /not on PATH/, "server", "add", "bad", "--", "no-such-program");
    });

    await t.step("list", async () => {
      const out = await cli.ok("server", "list");
      assert.match(out, /^local +ready +stdio +15 +Connected$/m);
      assert.match(out, /^locked +needs login +http +0 /m);
      assert.deepEqual(
        (await cli.json("server", "list")).servers.map(({ name }: { name: string }) => name),
        ["local", "locked", "old", "remote"],
      );
    });

    await t.step("logs, and following them over a restart", async () => {
      const out = await cli.ok("server", "logs", "local", "--lines", "1");
      assert.match(out, /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}Line 2 of the flood\n$/);
      assert.equal((await cli.json("server", "logs", "local")).lines.length, 2);
      const child = new Deno.Command(Deno.execPath(), {
        ...cli.settings,
        args: [...cliCommand(), "server", "logs", "local", "--follow", "--json"],
        stdin: "null",
        stdout: "piped",
      }).spawn();
      let text = "";
      const reading = (async () => {
        for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) text += chunk;
      })();
      const lines = () => text.trim().split("\n").map((line) => JSON.parse(line || "{}").line);
      try {
        await until(() => lines().length === 2 || undefined);
        assert.equal(await cli.ok("server", "restart", "local"), "Restarted local: 15 tools.\n");
        await until(() => lines().length === 4 || undefined);
        assert.deepEqual(lines().slice(2), ["Line 1 of the flood", "Line 2 of the flood"]);
      } finally {
        child.kill("SIGKILL");
        await child.status;
        await reading;
      }
    });

    await t.step("tools", async () => {
      assert.match(await cli.ok("server", "tools", "local"), /All 15 tools of local are on/);
      const chosen = await cli.json(
        "server",
        "tools",
        "local",
        "--enable",
        "echo,pid",
        "--enable",
        "env",
      );
      assert.deepEqual(chosen.enabled.sort(), ["echo", "env", "pid"]);
      await cli.fails(1, /has no tool "nope"/, "server", "tools", "local", "--enable", "nope");
      assert.deepEqual((await cli.json("server", "tools", "local", "--none")).enabled, []);
      assert.equal((await cli.json("server", "tools", "local", "--all")).enabled, null);
    });

    await t.step("update, with what is not named kept", async () => {
      const url = new URL("/s/moved/mcp", chaos.url).href;
      assert.match(
        await cli.ok("server", "update", "remote", "--url", url, "--calls-per-minute", "60"),
        /^Changed remote: 15 tools\.\nIts URL points to this machine/,
      );
      const { server } = await cli.json("server", "update", "local", "--env", "PLAIN=z");
      assert.equal(server.state, "ready");
      assert.match(
        await cli.ok(
          "server",
          "update",
          "remote",
          "--calls-per-minute",
          "none",
          "--trust=untrusted",
        ),
        /^Changed remote: (connecting|\d+ tools)\.\n$/,
      );
      const shown = async (name: string) =>
        (await (await fetch(`${gateway.url}/api/servers/${name}`)).json()).spec;
      assert.deepEqual(await shown("remote"), {
        type: "http",
        url,
        headers: { Authorization: "***" },
        allowPrivate: true,
        trust: "untrusted",
      });
      assert.deepEqual((await shown("local")).env, { API_TOKEN: "***", PLAIN: "***" });
      const told = await cli.json("tools", "call", "local.env", "name=API_TOKEN");
      assert.match(JSON.stringify(told), /canary-env/);
      const bad = ["server", "update", "local", "--unset=API_TOKEN", "--unset=PLAIN", "--"];
      await cli.fails(1, /Cannot change .*not on PATH/, ...bad, "no-such-program");
      assert.equal((await shown("local")).command, local.command);
    });

    await t.step("what is not there is named, as JSON on request", async () => {
      await cli.fails(1, /no server "locl"\n[^]*Did you mean local\?/, "server", "restart", "locl");
      const { code, out, err } = await cli.run("server", "logs", "locl", "--json");
      assert.equal(code, 1);
      assert.equal(out, "");
      assert.equal(JSON.parse(err).error.errorType, "SERVER_NOT_FOUND");
    });

    await t.step({
      name: "on a terminal remove asks, and list has colors unless NO_COLOR is set",
      // Makes a terminal for a program that runs in a test.
      ignore: Deno.build.os !== "linux" || !await canTry("script"),
      async fn() {
        const onTerminal = async (
          answer: string,
          env: Record<string, string>,
          ...args: string[]
        ) => {
          const command = [Deno.execPath(), ...cliCommand(), ...args].map((word) => `'${word}'`)
            .join(" ");
          const child = new Deno.Command("script", {
            cwd: cli.settings.cwd,
            env: { ...cli.settings.env, TERM: "xterm", NO_COLOR: "", ...env },
            args: ["-qec", command, "/dev/null"],
            stdin: "piped",
            stdout: "piped",
          }).spawn();
          const writer = child.stdin.getWriter();
          await writer.write(new TextEncoder().encode(answer));
          const { code, stdout } = await child.output();
          await writer.close().catch(() => {});
          return { code, out: new TextDecoder().decode(stdout) };
        };
        const declined = await onTerminal("n\n", {}, "server", "remove", "old");
        assert.match(declined.out, /Remove server "old"\? Clients lose its 15 tools\./);
        assert.equal(declined.code, 1);
        const colored = await onTerminal("", {}, "server", "list");
        assert.ok(colored.out.includes("\x1b[32mready\x1b[39m"), colored.out);
        const plain = await onTerminal("", { NO_COLOR: "1" }, "server", "list");
        assert.match(plain.out, /^old +ready/m);
        assert.ok(!plain.out.includes("\x1b["));
        const agreed = await onTerminal("y\n", {}, "server", "remove", "old");
        assert.match(agreed.out, /Removed old\./);
      },
    });

    await t.step("remove", async () => {
      assert.equal(await cli.ok("server", "remove", "local", "--yes"), "Removed local.\n");
      const { removed, undo } = await cli.json("server", "remove", "locked", "--yes");
      assert.deepEqual([removed, typeof undo], ["locked", "string"]);
    });

    const files = Array.from(Deno.readDirSync(join(dataDir, "logs")), ({ name }) => name);
    const logs = files.map((name) => Deno.readTextFileSync(join(dataDir, "logs", name))).join("");
    assert.ok(!`${gateway.log()}${logs}`.includes("canary"), "a secret is in the log");
  });
});
