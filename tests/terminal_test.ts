import assert from "node:assert/strict";
import { join } from "@std/path";
import { VERSION } from "../lib/core/product.ts";
import { processesWith } from "./left_behind.ts";
import { openTerminal, shellWord, type TerminalOptions } from "./terminal.ts";

const DENO = shellWord(Deno.execPath());

/** Starts the gateway on a terminal with README's command, in a data folder of its own. */
async function onTerminal(
  run: (
    open: (flags?: string, options?: TerminalOptions) => ReturnType<typeof openTerminal>,
    folder: string,
  ) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const env = { XDG_CONFIG_HOME: folder, QUARTERMASTER_EMBEDDINGS: "none", NO_COLOR: "" };
  try {
    await run((flags = "", options = {}) =>
      openTerminal(
        `${DENO} task start --port 0 --data-dir ${shellWord(join(folder, "data"))} ${flags}`,
        { ...options, env: { ...env, ...options.env } },
      ), folder);
    assert.deepEqual(await processesWith(folder), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A port on which nobody listens. */
function closedPort(): Deno.NetAddr {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr;
}

async function logFileIn(folder: string): Promise<string> {
  const logs = join(folder, "data", "logs");
  const [file] = Array.from(Deno.readDirSync(logs), ({ name }) => name);
  return await Deno.readTextFile(join(logs, file!));
}

Deno.test("a terminal shows the banner, keeps requests off it, and stops at Ctrl-C", () =>
  onTerminal(async (open, folder) => {
    await using terminal = open();
    const [, url] = await terminal.shows(/Console +(http:\/\/127\.0\.0\.1:\d+)\n/);
    await terminal.shows(/1 of 1 server ready\n/);
    const lines = terminal.text().split("\n");
    // Deno's echo of the task, without the engine's flags.
    assert.match(
      lines[0]!,
      /^Task start deno run -q -R -E --allow-run --no-config lib\/cli\/launch\.ts/,
    );
    assert.match(terminal.text(), new RegExp(`^ +Quartermaster ${VERSION}$`, "m"));
    assert.match(terminal.text(), /^ +Config +none found$/m);
    assert.ok(
      terminal.text().includes(`claude mcp add --transport http quartermaster ${url}/mcp\n`),
    );
    assert.match(terminal.text(), /^ +Log file +\/.*\/logs\/quartermaster_.*\.log$/m);
    assert.match(terminal.text(), /^ +Press Ctrl-C to stop\.$/m);
    // deno-lint-ignore no-control-regex
    assert.match(terminal.raw(), /\x1b\[1mQuartermaster/);
    const before = terminal.text();
    for (const path of ["/", "/servers", "/nothing"]) await (await fetch(url + path)).text();
    await terminal.interrupt();
    const { code } = await terminal.ended();
    assert.equal(
      terminal.text().slice(before.length).replace(/\^C|\r/g, ""),
      "Stopping...Stopped.\n",
    );
    assert.equal(code, 0);
    assert.match(await logFileIn(folder), /"path":"\/servers","status":200/);
  }));

Deno.test("a terminal shows each server that fails with its reason, and what is wrong with the config", () =>
  onTerminal(async (open, folder) => {
    const config = join(folder, "mcp.json");
    const { port } = closedPort();
    await Deno.writeTextFile(
      config,
      JSON.stringify({
        mcpServers: {
          gone: { command: "no-such-program" },
          refused: { type: "http", url: `http://127.0.0.1:${port}/mcp`, colour: "red" },
        },
      }),
    );
    await using terminal = open(`--config ${shellWord(config)}`, { env: { NO_COLOR: "1" } });
    // Each as it fails, and the count once none is starting.
    await terminal.shows(/✗ refused: .+\n/);
    await terminal.shows(/0 of 2 servers ready\n/);
    assert.ok(terminal.text().includes(`Config       ${config}\n`), terminal.text());
    assert.match(terminal.text(), /^ +✗ gone: .*command "no-such-program" is not on PATH/m);
    assert.match(terminal.text(), /^\d\d:\d\d:\d\d warning: .*colour/m);
    // The banner comes first, and nobody is told twice.
    assert.ok(terminal.text().indexOf("Ctrl-C") < terminal.text().indexOf("warning:"));
    assert.doesNotMatch(terminal.text(), /warning: Server/);
    assert.doesNotMatch(terminal.raw().slice(terminal.raw().indexOf("Quartermaster")), /\[\d+m/);
    await terminal.interrupt();
    assert.equal((await terminal.ended()).code, 0);
  }));

Deno.test("a narrow terminal shows each value on its own line", () =>
  onTerminal(async (open) => {
    await using terminal = open("", { columns: 40 });
    await terminal.shows(/^ +Console\n +http:\/\/127\.0\.0\.1:\d+\n/m);
    await terminal.shows(/1 of 1 server ready\n/);
    await terminal.interrupt();
    assert.equal((await terminal.ended()).code, 0);
  }));

for (
  const [format, pattern] of [
    ["pretty", /^\d\d:\d\d:\d\d\.\d{3} INFO {2}cli: Open http:\S+ \{"address":"(http:\S+)"\}$/m],
    ["json", /^\{"level":"info",.*"address":"(http:\S+)","msg":"Open http:\S+"\}$/m],
  ] as const
) {
  Deno.test(`a terminal shows every log line with --log-format ${format}`, () =>
    onTerminal(async (open) => {
      await using terminal = open(`--log-format ${format}`);
      const [, url] = await terminal.shows(pattern);
      await (await fetch(`${url}/servers`)).text();
      await terminal.shows(/Request.*\/servers|\/servers.*Request/);
      assert.doesNotMatch(terminal.text(), /Press Ctrl-C|\n +at /);
      await terminal.interrupt();
      assert.equal((await terminal.ended()).code, 0);
      assert.match(terminal.text(), /Stopped/);
    }));
}

Deno.test("a terminal that cannot be steered shows plain text", () =>
  onTerminal(async (open) => {
    await using terminal = open("", { env: { TERM: "dumb" } });
    await terminal.shows(/1 of 1 server ready\n/);
    await terminal.interrupt();
    assert.equal((await terminal.ended()).code, 0);
    assert.match(terminal.text(), /ready\n(\^C)?Stopped\.\n$/);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(terminal.raw().slice(terminal.raw().indexOf("Quartermaster")), /\x1b/);
  }));

Deno.test("a terminal shows what cannot work in one sentence", () =>
  onTerminal(async (open) => {
    await using terminal = open("--prot 1");
    assert.equal((await terminal.ended()).code, 2);
    assert.match(terminal.text(), /^quartermaster: Unknown option --prot/m);
    assert.doesNotMatch(terminal.text(), /\n +at /);
  }));
