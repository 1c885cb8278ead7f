import assert from "node:assert/strict";
import { cliCommand, TestCli } from "./cli.ts";
import { until } from "./gateway.ts";
import { processesWith } from "./left_behind.ts";

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test({
    name: `${signal} ends a command without a gateway, and the program that it had started`,
    ignore: Deno.build.os !== "linux",
    fn: () =>
      TestCli.use(async (cli) => {
        // A program that never answers, and does not mind that its input is closed.
        const mark = `quartermaster-${crypto.randomUUID()}`;
        const program = ["sh", "-c", "sleep 300; true", mark];
        const command = new Deno.Command(Deno.execPath(), {
          ...cli.settings,
          args: [...cliCommand(), "server", "add", "silent", "--", ...program],
          stdin: "null",
          stdout: "null",
          stderr: "null",
        }).spawn();
        const isRunning = async () =>
          (await processesWith(mark)).some((line) => !line.includes("silent"));
        await until(async () => await isRunning() || undefined);
        command.kill(signal);
        assert.equal((await command.status).code, code);
        assert.equal(await isRunning(), false);
        assert.deepEqual((await cli.json("server", "list")).servers, []);
      }),
  });
}
