import assert from "node:assert/strict";
import { cliCommand, TestCli } from "./cli.ts";
import { startGateway } from "./gateway.ts";

for (const words of [[], ["start"]]) {
  const line = ["quartermaster", ...words].join(" ");
  Deno.test(`\`${line}\` starts the gateway, and commands find it`, () =>
    TestCli.use(async (cli) => {
      const command = [...cliCommand(), ...words];
      await using gateway = await startGateway([], { ...cli.gateway, command });
      const [found] = (await cli.json("status")).gateways;
      assert.equal(found.address, gateway.url);
      assert.equal((await gateway.stop()).code, 0);
    }));
}

Deno.test("`quartermaster` tells options and commands apart, wherever the command stands", () =>
  TestCli.use(async (cli) => {
    const before = await cli.run(["--data-dir", cli.dataDir, "status"]);
    assert.match(before.out, /^No gateway is running/);
    await cli.fails(2, /Unknown option --prot\. Did you mean --port\?/, "--prot", "1");
    await cli.fails(2, /Cannot start with the argument "status"/, "start", "status");
    await cli.fails(2, /Unknown command "sttus"\. Did you mean status\?/, "sttus");
  }));

Deno.test("`quartermaster --help` shows the commands and the gateway's options", () =>
  TestCli.use(async (cli) => {
    const all = await cli.ok("--help");
    assert.match(all, /^Usage: quartermaster \[OPTIONS\] +Start the gateway$/m);
    assert.match(all, /^ {2}start +Start the gateway \(default\)$/m);
    assert.match(all, /^ {2}service install/m);
    assert.match(all, /^ {2}--port PORT +Port to listen on/m);
    assert.match(await cli.ok("start", "--help"), /--public-url URL/);
    assert.match(await cli.ok("status", "--help"), /^Usage: quartermaster status$/m);
    assert.match(await cli.ok("--version"), /^quartermaster \d/);
    assert.equal(await cli.ok("help"), all);
    assert.equal(await cli.ok("help", "status"), await cli.ok("status", "--help"));
    assert.equal(await cli.ok("version"), await cli.ok("--version"));
  }));
