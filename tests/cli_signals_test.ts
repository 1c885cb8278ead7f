import assert from "node:assert/strict";
import { join } from "@std/path";
import { cliCommand, TestCli } from "./cli.ts";
import { startGateway, until } from "./gateway.ts";
import { kill, processesOf, processesWith } from "./left_behind.ts";
import { ROOT } from "./terminal.ts";

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

/** Runs a test with a temporary folder by which its processes are found; those left are killed. */
function withProcesses(
  work: (
    cli: TestCli,
    env: Record<string, string>,
    running: () => Promise<number[]>,
  ) => Promise<void>,
): Promise<void> {
  return TestCli.use(async (cli) => {
    const folder = join(cli.home, "temporary");
    await Deno.mkdir(folder);
    const running = () => processesOf(folder);
    try {
      await work(cli, { ...cli.settings.env, TMPDIR: folder }, running);
    } finally {
      for (const pid of await running()) kill(pid);
    }
  });
}

for (const [signal, ...flags] of [["SIGINT"], ["SIGTERM", "--harden"]] as const) {
  Deno.test({
    name: `a second ${signal} ends a gateway that is still stopping: ${
      ["start", ...flags].join(" ")
    }`,
    ignore: Deno.build.os !== "linux",
    fn: () =>
      withProcesses(async (cli, env, running) => {
        const config = join(cli.project, ".mcp.json");
        await cli.write(config, {
          mcpServers: { stubborn: cli.program(["--stubborn-grandchild"]) },
        });
        await using gateway = await startGateway(["--config", config, ...flags], {
          ...cli.gateway,
          env,
          command: ["task", "-q", "--config", join(ROOT, "deno.json"), "start"],
        });
        await until(async () => {
          const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
          return servers.ready === 1 || undefined;
        });
        // A stop waits two seconds for a request in flight, and two for a stubborn program.
        const { hostname, port, host } = new URL(gateway.url);
        using request = await Deno.connect({ hostname, port: Number(port) });
        const head =
          `POST /api/data.backup HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`;
        await request.write(
          new TextEncoder().encode(`${head}content-length: 1\r\nexpect: 100-continue\r\n\r\n`),
        );
        const answer = new Uint8Array(100);
        await request.read(answer);
        assert.match(new TextDecoder().decode(answer), /^HTTP\/1\.1 100 /);
        Deno.kill(gateway.pid, signal);
        try {
          await until(() => gateway.log().includes('"msg":"Stopping"') || undefined);
          // For two seconds it counts as the same.
          await until(() => !sendTo(gateway.pid, signal) || undefined);
          assert.deepEqual(await processesWith(cli.dataDir), [], "the launcher ended first");
        } finally {
          for (const pid of await running()) kill(pid);
        }
        assert.equal((await gateway.stop()).code, 130, gateway.log());
      }),
  });
}

/** False if the process has ended. */
function sendTo(pid: number, signal: Deno.Signal): boolean {
  try {
    Deno.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** The first process that another starts, as soon as it is there: before that one can act on it. */
/** Without a pause: the signal has to be early. */
function firstChildOf(pid: number): number {
  for (const over = Date.now() + 60_000; Date.now() < over;) {
    const children = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`);
    if (children !== "") return parseInt(children);
  }
  throw new Error(`Process ${pid} has started no other`);
}

for (const flags of [[], ["--harden"]]) {
  Deno.test({
    name: `an early signal leaves no gateway behind: ${["start", ...flags].join(" ")}`,
    ignore: Deno.build.os !== "linux",
    fn: () =>
      withProcesses(async (cli, env, running) => {
        const { start } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json"))).tasks;
        const [, ...words] = start.command.split(" ");
        // The moment is a matter of luck.
        for (let attempt = 0; attempt < 5; attempt++) {
          const launcher = new Deno.Command(Deno.execPath(), {
            args: [...words, "--port", "0", "--data-dir", cli.dataDir, ...flags],
            cwd: ROOT,
            env,
            stdin: "null",
            stdout: "null",
            stderr: "null",
          }).spawn();
          const starting = flags.length > 0 ? firstChildOf(launcher.pid) : launcher.pid;
          firstChildOf(starting);
          Deno.kill(starting, "SIGTERM");
          await launcher.status;
          assert.deepEqual(await running(), [], `attempt ${attempt}`);
        }
      }),
  });
}
