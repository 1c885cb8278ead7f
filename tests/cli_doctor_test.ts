import assert from "node:assert/strict";
import { join } from "@std/path";
import type { CheckResult } from "../lib/cli/doctor/checks.ts";
import { TestCli } from "./cli.ts";
import { brokenNpxServer } from "./fixtures/broken_npx.ts";
import { startGateway, until } from "./gateway.ts";

async function examine(cli: TestCli, ...flags: string[]) {
  const { code, out, err } = await cli.run(["doctor", "--json", ...flags]);
  assert.equal(err, "");
  const { findings, problems, warnings } = JSON.parse(out);
  assert.equal(code, problems > 0 ? 1 : 0);
  const found: CheckResult[] = findings;
  return {
    problems,
    warnings,
    of: (about: string) => found.filter((finding) => finding.about === about),
    levels: (about: string) =>
      found.filter((finding) => finding.about === about).map(({ level }) => level),
    all: found,
  };
}

Deno.test("doctor finds nothing wrong on a fresh machine, and makes nothing", async () => {
  await TestCli.use(async (cli) => {
    const found = await examine(cli, "--port", "0");
    assert.equal(found.problems, 0, JSON.stringify(found.all));
    for (const about of ["deno", "data", "store", "config", "port", "evaluator", "client"]) {
      assert.ok(found.of(about).length > 0, about);
    }
    assert.deepEqual(Array.from(Deno.readDirSync(cli.dataDir)), []);
    assert.match(await cli.ok("doctor", "--port", "0"), /^ok +data +.*is writable$/m);
  });
});

Deno.test("doctor names the program that evaluates, and its version", async () => {
  await TestCli.use(async (cli) => {
    const flags = ["--port", "0", "--enable-optimization", "--claude-path"];
    const claude = join(cli.home, "claude");
    const missing = await examine(cli, ...flags, claude);
    assert.deepEqual(missing.levels("evaluator"), ["warning"]);
    assert.match(missing.of("evaluator")[0]!.fix ?? "", /npm install -g/);
    await Deno.writeTextFile(claude, "#!/bin/sh\necho '2.1.0 (Claude Code)'\n");
    await Deno.chmod(claude, 0o755);
    const [found] = (await examine(cli, ...flags, claude)).of("evaluator");
    assert.equal(found?.message, `claude CLI 2.1.0 (Claude Code), ${claude}`);
  });
});

Deno.test("doctor says what is wrong and what to do, where no gateway runs", async (t) => {
  await TestCli.use(async (cli) => {
    const file = join(cli.project, ".mcp.json");
    await cli.write(file, {
      mcpServers: {
        good: cli.program(),
        gone: { url: "http://127.0.0.1:59998/mcp" },
        missing: { command: "no-such-program" },
        off: { command: "no-such-program", disabled: true },
        unset: { command: "npx", args: ["${QUARTERMASTER_TEST_UNSET}"] },
        odd: { url: "http://127.0.0.1:59998/mcp", disabled: true, haeders: {} },
      },
    });
    await cli.write(join(cli.home, ".cursor", "mcp.json"), {
      mcpServers: { quartermaster: { url: "http://127.0.0.1:59997/mcp" } },
    });

    await t.step("servers, entries and clients", async () => {
      using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const { port } = listener.addr;
      const found = await examine(cli, "--port", String(port));
      assert.deepEqual(found.levels("server good"), ["ok"]);
      assert.match(found.of("server good")[0]!.message, /15 tools/);
      assert.deepEqual(found.levels("server gone"), ["problem"]);
      assert.match(found.of("server gone")[0]!.message, /refused/);
      assert.deepEqual(found.levels("server missing"), ["problem"]);
      assert.match(found.of("server missing")[0]!.message, /"no-such-program" is not on PATH/);
      assert.deepEqual(found.levels("server off"), ["ok"]);
      const config = found.of("config").map(({ message }) => message).join("\n");
      assert.match(config, /\.mcp\.json:\d+:\d+: .*QUARTERMASTER_TEST_UNSET is not set/);
      assert.match(config, /\.mcp\.json:\d+:\d+: .*unknown key "haeders"/);
      assert.match(found.of("port")[0]!.message, /used by another program/);
      assert.deepEqual(found.levels("client"), ["warning"]);
      for (const { level, fix, message } of found.all) {
        assert.ok(level === "ok" || fix, message);
      }
    });

    await t.step("a port that clients refuse", async () => {
      const found = await examine(cli, "--port", "10080");
      assert.match(found.of("port")[0]!.message, /refuse to connect/);
    });

    await t.step("a broken config file, with its place", async () => {
      await cli.write(file, '{\n  "mcpServers": {,}\n}');
      const found = await examine(cli, "--port", "0");
      assert.match(found.of("config")[0]!.message, /\.mcp\.json:2:18: extra comma$/);
      assert.equal(found.of("config")[0]!.fix, "Remove it");
    });

    await t.step("a damaged store", async () => {
      const kv = join(cli.dataDir, "damaged.kv");
      await Deno.writeTextFile(kv, "no database ".repeat(500));
      const found = await examine(cli, "--port", "0", "--kv", kv);
      assert.deepEqual(found.levels("store"), ["problem"]);
      assert.match(found.of("store")[0]!.fix!, /restore/);
    });
  });
});

Deno.test("doctor asks the gateway that runs", async () => {
  await TestCli.use(async (cli) => {
    await cli.write(join(cli.project, ".mcp.json"), {
      mcpServers: {
        good: cli.program(),
        gone: { url: "http://127.0.0.1:59998/mcp" },
        odd: { type: "carrier-pigeon", url: "http://127.0.0.1:59998/mcp" },
        unset: { command: "${QUARTERMASTER_TEST_UNSET}" },
      },
    });
    await using gateway = await startGateway([], cli.gateway);
    await until(async () => {
      const { servers } = await cli.json("server", "list");
      const states = servers.map(({ state }: { state: string }) => state);
      return states.includes("ready") && states.includes("failed") || undefined;
    });
    await cli.ok("connect", "vscode", "--write");
    const { port } = new URL(gateway.url);
    const found = await examine(cli, "--port", port);
    assert.deepEqual(found.levels("gateway"), ["ok"]);
    assert.match(found.of("port")[0]!.message, /used by this gateway/);
    assert.deepEqual(found.levels("server good"), ["ok"]);
    assert.deepEqual(found.levels("server gone"), ["problem"]);
    for (const name of ["odd", "unset"]) {
      const named = found.all.filter(({ about, message }) => `${about} ${message}`.includes(name));
      assert.deepEqual(named.map(({ about }) => about), ["config"], name);
    }
    assert.match(found.of("client")[0]!.message, /VS Code uses this gateway/);
    const elsewhere = join(cli.dataDir, "elsewhere");
    const other = await examine(cli, "--port", port, "--data-dir", elsewhere);
    assert.match(other.of("port")[0]!.message, /used by a gateway with another data folder/);
  });
});

Deno.test({
  name: "doctor sees what a killed gateway left running",
  // Elsewhere nobody can tell by whom a process was started.
  ignore: Deno.build.os !== "linux",
  async fn() {
    await TestCli.use(async (cli) => {
      await cli.write(join(cli.project, ".mcp.json"), {
        mcpServers: { good: cli.program(["--stubborn-grandchild"]) },
      });
      await using gateway = await startGateway([], cli.gateway);
      await until(() => /"state":"ready"/.test(gateway.log()) || undefined);
      await gateway.stop("SIGKILL");
      const found = await examine(cli, "--port", "0");
      assert.deepEqual(found.levels("leftovers"), ["warning"]);
      // It only looks: the next gateway ends them.
      assert.deepEqual((await examine(cli, "--port", "0")).levels("leftovers"), ["warning"]);
      await using _next = await startGateway([], cli.gateway);
      await until(async () => (await examine(cli)).levels("leftovers").includes("ok") || undefined);
    });
  },
});

Deno.test({
  name: "doctor --fix repairs a broken npx cache, with a gateway and without",
  ignore: Deno.build.os === "windows",
  fn: () =>
    TestCli.use(async (cli) => {
      const file = join(cli.project, ".mcp.json");
      const breakCache = async () =>
        await cli.write(file, { mcpServers: { half: await brokenNpxServer(cli.home) } });
      await breakCache();
      const [before] = (await examine(cli, "--port", "0")).of("server half");
      assert.equal(before?.level, "problem");
      assert.match(before?.fix ?? "", /server repair half.*doctor --fix/);
      const [fixed] = (await examine(cli, "--port", "0", "--fix")).of("server half");
      assert.deepEqual([fixed?.level, fixed?.message.split(":")[0]], ["ok", "Repaired"]);
      const after = await examine(cli, "--port", "0");
      assert.deepEqual(after.levels("server half"), ["ok"]);
      // Its entry says so.
      assert.deepEqual(after.levels("packages of half"), ["warning"]);

      await breakCache();
      await using _gateway = await startGateway([], cli.gateway);
      await until(async () =>
        (await examine(cli)).of("server half")[0]?.level === "problem" || undefined
      );
      const [repaired] = (await examine(cli, "--fix")).of("server half");
      assert.match(repaired?.message ?? "", /^Repaired: .* \d+ tools$/);
    }),
});
