import assert from "node:assert/strict";
import { join } from "@std/path";
import { refuseTemporary } from "../lib/cli/service/commands.ts";
import { TestCli } from "./cli.ts";

const isLinux = Deno.build.os === "linux";

/**
 * Puts a `systemctl` first on the PATH that notes what it is asked: no user manager runs where tests
 * do. It fails for the verb that the test names.
 */
async function withSystemctl(cli: TestCli) {
  const bin = join(cli.home, "bin");
  const [calls, failing] = [join(bin, "calls"), join(bin, "failing")];
  await cli.write(
    join(bin, "systemctl"),
    `#!/bin/sh\necho "$*" >> '${calls}'\n` +
      `if grep -qsx -- "$2" '${failing}'; then echo "no such luck" >&2; exit 1; fi\n`,
  );
  await Deno.chmod(join(bin, "systemctl"), 0o755);
  cli.settings.env.PATH = `${bin}:${Deno.env.get("PATH")}`;
  return {
    fail: (verb: string) => cli.write(failing, `${verb}\n`),
    async takeCalls(): Promise<string[]> {
      const text = await Deno.readTextFile(calls).catch(() => "");
      await Deno.remove(calls).catch(() => {});
      return text.trim().split("\n");
    },
  };
}

Deno.test({
  name: "service: installed with the options given, updated in place, shown and removed",
  ignore: !isLinux,
  fn: () =>
    TestCli.use(async (cli) => {
      const systemctl = await withSystemctl(cli);
      const unit = join(cli.home, ".config", "systemd", "user", "quartermaster.service");
      assert.deepEqual((await cli.run(["service", "status"])).code, 1);
      await cli.write(join(cli.project, ".mcp.json"), { mcpServers: {} });

      const printed = await cli.ok("service", "install", "--print", "--port", "4321");
      await assert.rejects(Deno.stat(unit), Deno.errors.NotFound);
      assert.match(printed, /"--port" "4321"/);
      assert.ok(printed.includes(`"--data-dir" "${cli.dataDir}"`), printed);
      assert.ok(printed.includes(`"--config" "${join(cli.project, ".mcp.json")}"`), printed);

      cli.settings.env.QUARTERMASTER_ADMIN_TOKEN = "a-token-for-the-test-alone";
      cli.settings.env.DENO_KV_ACCESS_TOKEN = "another-token-for-the-test";
      const { code, out, err } = await cli.run(["service", "install", "--port", "4321"]);
      assert.equal(code, 0, err);
      assert.match(out, /^Installed and started: /);
      for (const variable of ["QUARTERMASTER_ADMIN_TOKEN", "DENO_KV_ACCESS_TOKEN"]) {
        assert.match(
          err,
          new RegExp(`${variable} is not passed to the service; put it in .*env`),
        );
      }
      assert.equal(await Deno.readTextFile(unit), printed);
      assert.deepEqual(await systemctl.takeCalls(), [
        "--user show-environment",
        "--user daemon-reload",
        "--user enable quartermaster.service",
        "--user restart quartermaster.service",
      ]);

      assert.equal((await cli.json("service", "install", "--port", "4322")).updated, true);
      assert.match(await Deno.readTextFile(unit), /"--port" "4322"/);
      const state = await cli.json("service", "status");
      assert.deepEqual(state, {
        installed: true,
        enabled: true,
        running: true,
        manager: "systemd",
        file: unit,
        logs: "journalctl --user -u quartermaster.service",
        dataDir: cli.dataDir,
      });
      await systemctl.fail("is-active");
      const stopped = await cli.run(["service", "status"]);
      assert.equal(stopped.code, 1);
      assert.match(stopped.out, /is not running and starts at login/);

      await systemctl.takeCalls();
      delete cli.settings.env.QUARTERMASTER_DATA_DIR;
      const removed = await cli.ok("service", "remove");
      assert.ok(removed.includes(`Your data stays in ${cli.dataDir}\n`), removed);
      assert.ok(
        (await systemctl.takeCalls()).includes("--user disable --now quartermaster.service"),
      );
      await assert.rejects(Deno.stat(unit), Deno.errors.NotFound);
      assert.match(await cli.ok("service", "remove"), /No service is installed/);
    }),
});

Deno.test({
  name: "a failed service install leaves nothing behind, and other units are not touched",
  ignore: !isLinux,
  fn: () =>
    TestCli.use(async (cli) => {
      const systemctl = await withSystemctl(cli);
      const unit = join(cli.home, ".config", "systemd", "user", "quartermaster.service");
      await systemctl.fail("show-environment");
      await cli.fails(
        1,
        /Cannot reach your systemd user manager: no such luck\n.*Log in as this/,
        ...[
          "service",
          "install",
        ],
      );
      await systemctl.fail("enable");
      await cli.fails(1, /systemctl --user enable .* failed: no such luck/, "service", "install");
      await assert.rejects(Deno.stat(unit), Deno.errors.NotFound);
      await cli.write(unit, "[Service]\nExecStart=/bin/true\n");
      for (const verb of ["install", "remove", "status"]) {
        await cli.fails(1, /Quartermaster did not create/, "service", verb);
      }
      assert.match(await Deno.readTextFile(unit), /bin\/true/);
    }),
});

Deno.test("service install refuses to run from npx's temporary cache", () => {
  refuseTemporary("/usr/local/lib/node_modules/quartermaster/");
  assert.throws(
    () => refuseTemporary("/home/me/.npm/_npx/0a1b/node_modules/quartermaster/"),
    /npx's temporary cache; install the package first/,
  );
});
