import assert from "node:assert/strict";
import { join } from "@std/path";
import { cliCommand, TestCli } from "./cli.ts";
import { startGateway, until } from "./gateway.ts";

async function configure(cli: TestCli, names: string[]): Promise<void> {
  const mcpServers = Object.fromEntries(names.map((name) => [name, cli.program()]));
  await cli.write(join(cli.project, ".mcp.json"), { mcpServers });
}

/** What holds whether a gateway runs or not. */
async function callSteps(t: Deno.TestContext, cli: TestCli): Promise<void> {
  await t.step("call prints text plainly, with values typed by the schema", async () => {
    assert.equal(await cli.ok("tools", "call", "one.sleep", "ms=1"), "Slept 1 ms\n");
    assert.equal(await cli.ok("tools", "call", "one_echo", "a=1", "b=x"), '{"a":1,"b":"x"}\n');
    assert.equal(await cli.ok("tools", "call", "one.echo", '{"a":[1]}'), '{"a":[1]}\n');
    const { code, out } = await cli.run(["tools", "call", "one.echo", "-"], '{"from":"stdin"}');
    assert.equal(code, 0);
    assert.equal(out, '{"from":"stdin"}\n');
  });

  await t.step("call --json prints the whole answer", async () => {
    const result = await cli.json("tools", "call", "one.pid");
    assert.equal(result.content[0].type, "text");
    assert.equal(typeof result.structuredContent.pid, "number");
  });

  await t.step("call shows progress on stderr", async () => {
    const { code, out, err } = await cli.run(["tools", "call", "one.progress", "steps=2"]);
    assert.equal(code, 0, err);
    assert.equal(out, "Made 2 steps\n");
    assert.match(err, /^1 of 2: Step 1\n2 of 2: Step 2\n$/);
  });

  await t.step("an answer that is an error is exit code 1", async () => {
    const { code, out, err } = await cli.run(["tools", "call", "one.ask", "kind=roots"]);
    assert.equal(code, 1);
    assert.equal(out, "");
    assert.match(err, /-32601/);
  });

  await t.step("what is written wrongly is exit code 2, with what to write", async () => {
    await cli.fails(2, /ms must be a whole number/, "tools", "call", "one.sleep", "ms=soon");
    await cli.fails(2, /not valid JSON/, "tools", "call", "one.sleep", "{ms: 1}");
    await cli.fails(2, /requires TOOL/, "tools", "call");
    await cli.fails(
      1,
      /no tool "one.slep"\n[^]*Did you mean one\.sleep/,
      "tools",
      "call",
      "one.slep",
    );
  });
}

Deno.test("tools: listed, shown and called through the gateway that runs", async (t) => {
  await TestCli.use(async (cli) => {
    await configure(cli, ["one", "two"]);
    await using _gateway = await startGateway([], cli.gateway);
    await until(async () => {
      const { servers } = await cli.json("server", "list");
      return servers.every(({ state }: { state: string }) => state === "ready") || undefined;
    });

    await t.step("list, by server and by words", async () => {
      const out = await cli.ok("tools", "list");
      assert.match(out, /^on +one\.echo +Returns its arguments/m);
      assert.match(out, /\n30 tools\.\n$/);
      const filtered = await cli.json(
        "tools",
        "list",
        "--server",
        "two",
        "--filter",
        "PROGRESS reports",
      );
      assert.deepEqual(
        filtered.tools.map(({ namespacedName, flatName }: Record<string, string>) => [
          namespacedName,
          flatName,
        ]),
        [["two.progress", "two_progress"]],
      );
      await cli.fails(
        1,
        /no server "tow"[^]*Did you mean two\?/,
        "tools",
        "list",
        "--server",
        "tow",
      );
    });

    await t.step("show", async () => {
      const out = await cli.ok("tools", "show", "one.ask");
      assert.match(out, /^Names +one\.ask, one_ask, ask$/m);
      assert.match(out, /^State +on$/m);
      assert.match(out, /^ {2}cancel_after_ms +integer$/m);
      assert.match(await cli.ok("tools", "show", "one.echo"), /changes nothing \(readOnlyHint\)/);
      assert.equal((await cli.json("tools", "show", "one_pid")).definition.name, "pid");
      await cli.fails(
        2,
        /2 servers have a tool "echo"\n.*one\.echo, two\.echo/,
        "tools",
        "show",
        "echo",
      );
    });

    await callSteps(t, cli);

    await t.step("Ctrl-C cancels the call downstream", async () => {
      const child = new Deno.Command(Deno.execPath(), {
        ...cli.settings,
        args: [...cliCommand(), "tools", "call", "one.progress", "steps=500", "ms=50"],
        stdin: "null",
        stdout: "null",
        stderr: "piped",
      }).spawn();
      let text = "";
      const reading = (async () => {
        for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) text += chunk;
      })();
      await until(() => text.includes("Step 2") || undefined);
      child.kill("SIGINT");
      const { code } = await child.status;
      await reading;
      assert.equal(code, 130);
      assert.match(text, /the call was canceled\n$/);
      await until(async () => {
        const { structuredContent } = await cli.json("tools", "call", "one.cancelled");
        return structuredContent.ids.length > 0 || undefined;
      });
    });

    await t.step("a tool that is off is shown as such and not called", async () => {
      await cli.ok("server", "tools", "one", "--enable", "echo");
      assert.match(await cli.ok("tools", "list", "--server", "one"), /^off +one\.pid /m);
      assert.match(await cli.ok("tools", "show", "one.pid"), /^State +off /m);
      await cli.fails(1, /"one\.pid" is off/, "tools", "call", "one.pid");
    });
  });
});

Deno.test("tools: from the store, and a server started for one call, where no gateway runs", async (t) => {
  await TestCli.use(async (cli) => {
    assert.match(await cli.ok("tools", "list"), /There are no tools/);
    await cli.ok("server", "add", "one", ...cli.programWords());
    assert.match(await cli.ok("tools", "list"), /\n15 tools\.\nNo gateway is running/);
    assert.match(await cli.ok("tools", "show", "echo"), /^Names +one\.echo/m);
    await callSteps(t, cli);

    await t.step("the server is ended with the call", async () => {
      const { structuredContent } = await cli.json("tools", "call", "pid");
      const isThere = () => {
        try {
          Deno.kill(structuredContent.pid, "SIGCONT");
          return true;
        } catch {
          return false;
        }
      };
      await until(() => !isThere() || undefined);
    });
  });
});

Deno.test("tools: names are those of the gateway that runs, however long it lets them be", async (t) => {
  await TestCli.use(async (cli) => {
    const long = "a-server-with-a-long-name";
    await configure(cli, [long]);
    const ofServer = async (...args: string[]) => {
      const { tools } = await cli.json("tools", "list", "--server", long, ...args);
      return tools.map(({ flatName }: { flatName: string }) => flatName);
    };
    const short = /^a_server_with_a_l_[0-9a-f]{6}$/;

    await t.step("while one runs", async () => {
      await using gateway = await startGateway(["--max-name-length", "24"], cli.gateway);
      await until(async () => {
        const { servers } = await cli.json("server", "list");
        return servers.every(({ state }: { state: string }) => state === "ready") || undefined;
      });
      const names = await ofServer();
      for (const name of names) assert.match(name, short);
      const { found } = await (await fetch(`${gateway.url}/api/search?limit=100`)).json();
      const atEndpoints = found.filter(({ server }: { server: string }) => server === long)
        .map(({ flatName }: { flatName: string }) => flatName);
      assert.deepEqual(names.sort(), atEndpoints.sort());

      const { name, namespacedName, flatName } = await cli.json("tools", "show", `${long}:pid`);
      for (const word of [namespacedName, flatName, `${long}.${name}`]) {
        assert.equal((await cli.json("tools", "show", word)).name, "pid", word);
        await cli.ok("tools", "call", word);
      }
    });

    await t.step("as the options say where none runs", async () => {
      for (const name of await ofServer("--max-name-length", "24")) assert.match(name, short);
      assert.ok((await ofServer()).includes("a_server_with_a_long_name_echo"));
      await cli.ok("tools", "call", `${long}:pid`);
    });
  });
});
