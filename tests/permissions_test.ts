import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { EndpointClient } from "./faults.ts";
import { sh } from "./checkout_copy.ts";
import { TestCli } from "./cli.ts";
import { type RunningGateway, startCommand, startGateway, until } from "./gateway.ts";
import { openTerminal, ROOT } from "./terminal.ts";

const FIXTURE = fromFileUrl(new URL("fixtures/leaky_server.ts", import.meta.url));
const TASK = ["task", "-q", "--config", join(ROOT, "deno.json"), "start"];
const AWAY = { type: "http", url: "https://named.invalid:8443/mcp" };
const ignore = Deno.build.os !== "linux";

/** Tries to write a file in each folder that it is given, and says which it could. */
const PROBE = `console.log(JSON.stringify(Deno.args.map((folder) => {
  try {
    Deno.writeTextFileSync(folder + "/probe", "");
    return "written";
  } catch (error) {
    return error.name;
  }
})))`;

interface Process {
  pid: number;
  words: string[];
}

/** The gateway's processes below this one: what started it, and last the gateway. */
async function chainOf(pid: number): Promise<[Process, ...Process[]]> {
  const commandOf = async (pid: number): Promise<Process> => ({
    pid,
    words: (await Deno.readTextFile(`/proc/${pid}/cmdline`)).split("\0").slice(0, -1),
  });
  const first = await commandOf(pid);
  const below = (await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`)).trim().split(" ");
  const children = await Promise.all(below.filter((text) => text).map(Number).map(commandOf));
  const next = children.find(({ words }) =>
    words.some((word) => /\/?(?:main|launch)\.ts$/.test(word))
  );
  return next ? [first, ...await chainOf(next.pid)] : [first];
}

/** What a process with the permissions of this one can write. */
async function writable(cli: TestCli, { words }: Process, folders: string[]): Promise<string[]> {
  const probe = join(cli.home, "probe.ts");
  await Deno.writeTextFile(probe, PROBE);
  const main = words.findIndex((word) => word.endsWith("main.ts"));
  const [deno = "", ...flags] = words.slice(0, main);
  return JSON.parse(await sh(deno, [...flags, probe, ...folders]));
}

/** Folders of a user whose temporary folder is not around all the others. */
async function foldersOf(cli: TestCli) {
  const temporary = join(cli.home, "temporary");
  const npm = join(cli.home, "npm");
  const caches = join(cli.home, "caches");
  Object.assign(cli.gateway.env, {
    TMPDIR: temporary,
    npm_config_cache: npm,
    XDG_CACHE_HOME: caches,
    VAULT_ADDR: "http://vault.invalid:8200",
  });
  const npx = join(npm, "_npx");
  const isolated = join(caches, "quartermaster", "isolated", "npm", "_npx");
  for (const folder of [temporary, npx, isolated]) await Deno.mkdir(folder, { recursive: true });
  return { temporary, npx, isolated };
}

function program(cli: TestCli) {
  const { DENO_DIR = "" } = cli.settings.env;
  return {
    command: Deno.execPath(),
    args: ["run", "-A", "-q", "--no-lock", FIXTURE],
    env: { DENO_DIR, LEAK: "${secret:TOKEN}" },
  };
}

/** A backup is made in the temporary folder. */
function requestBackup({ url }: Pick<RunningGateway, "url">): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(`${url}/api/data.backup`, { method: "POST", headers, body: "{}" });
}

/** Secrets, a program, a page, a backup, and a changed config file. */
async function use(cli: TestCli, { url }: RunningGateway): Promise<void> {
  const headers = { "content-type": "application/json" };
  const value = JSON.stringify({ value: "of-the-token" });
  const set = { method: "PUT", headers, body: value };
  assert.equal((await fetch(`${url}/api/secrets/TOKEN`, set)).status, 200);
  assert.ok(await Deno.stat(join(cli.dataDir, "secret.key")));
  const tell = (server: string) =>
    until(async () => {
      try {
        const client = await EndpointClient.open(`${url}/servers/${server}/mcp?names=original`);
        return await client.must("tell");
      } catch {
        return undefined;
      }
    });
  assert.match(await tell("user"), /of-the-token/);
  assert.match(await (await fetch(`${url}/servers`)).text(), /user/);
  const backup = await requestBackup({ url });
  assert.equal(backup.status, 200, await backup.clone().text());
  assert.ok((await backup.bytes()).length > 100);
  await cli.write(join(cli.project, ".mcp.json"), {
    mcpServers: { user: program(cli), later: program(cli), away: AWAY },
  });
  assert.match(await tell("later"), /of-the-token/);
}

for (const flags of [[], ["--harden"]]) {
  Deno.test({
    name: `\`${
      ["deno task start", ...flags].join(" ")
    }\` works, and Deno refuses it to write elsewhere`,
    ignore,
    fn: () =>
      TestCli.use(async (cli) => {
        const { temporary, npx, isolated } = await foldersOf(cli);
        await cli.write(join(cli.project, ".mcp.json"), {
          mcpServers: {
            user: program(cli),
            away: AWAY,
          },
        });
        const config = ["--config", join(cli.project, ".mcp.json")];
        await using gateway = await startGateway([...config, ...flags], {
          ...cli.gateway,
          command: TASK,
        });
        const chain = await chainOf(gateway.pid);
        const last = chain.at(-1)!;
        // The launcher found the folders, so that nothing had to be started twice.
        assert.equal(chain.length, flags.length === 0 ? 3 : 4);
        assert.ok(last.words.includes("--no-prompt"));

        await use(cli, gateway);
        const allowed = [cli.dataDir, temporary, npx, isolated];
        const others = [cli.home, cli.project, join(ROOT, "_fresh")];
        assert.deepEqual(await writable(cli, last, [...allowed, ...others]), [
          ...allowed.map(() => "written"),
          ...others.map(() => "NotCapable"),
        ]);
        if (flags.length > 0) await checkHosts(gateway, last);

        assert.equal((await gateway.stop()).code, 0, gateway.log());
        await assert.rejects(Deno.stat(`/proc/${last.pid}`), Deno.errors.NotFound);
        const left = await Array.fromAsync(Deno.readDir(temporary), ({ name }) => name);
        assert.deepEqual(left.filter((name) => name.startsWith("quartermaster_")), []);
      }),
  });
}

/** The gateway connects to hosts that its configuration named at the start, and to no others. */
async function checkHosts({ url }: RunningGateway, { words }: Process): Promise<void> {
  const hosts = words.find((word) => word.startsWith("--allow-net="))!.slice("--allow-net=".length)
    .split(",");
  const named = ["127.0.0.1", "[::1]", "localhost", "named.invalid", "vault.invalid"];
  assert.deepEqual(named.filter((host) => !hosts.includes(host)), []);
  const added = await fetch(`${url}/api/server.add`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      name: "unknown",
      type: "http",
      url: "https://other.invalid/",
    }),
  });
  const { error } = await added.json();
  assert.match(
    error.message,
    /Cannot reach other\.invalid: .* with --harden, add the server to the/,
  );
  // That one was tried, at least: whether a name is found is not ours to say.
  const reason = await until(async () => {
    const { servers } = await (await fetch(`${url}/api/servers`)).json();
    const away = servers.find(({ name }: { name: string }) => name === "away");
    return /Cannot reach named\.invalid.*/.exec(away?.reason ?? "")?.[0];
  });
  assert.doesNotMatch(reason, /--harden/);
}

Deno.test({
  name:
    "a gateway whose settings name another data folder starts itself again, and may write there",
  ignore,
  fn: () =>
    TestCli.use(async (cli) => {
      const { temporary } = await foldersOf(cli);
      const dataDir = join(cli.home, "else where");
      const settings = join(cli.settings.env.XDG_CONFIG_HOME!, "quartermaster", "settings.json");
      await cli.write(settings, { dataDir });
      await using gateway = await startGateway([], {
        ...cli.gateway,
        env: { ...cli.settings.env, QUARTERMASTER_DATA_DIR: "" },
        command: TASK,
        diskless: true,
      });
      const chain = await chainOf(gateway.pid);
      assert.equal(chain.length, 4);
      assert.deepEqual(
        await writable(cli, chain.at(-1)!, [dataDir, temporary, cli.dataDir]),
        ["written", "written", "NotCapable"],
      );
      assert.equal((await fetch(`${gateway.url}/readyz`)).status, 200);
      assert.equal((await gateway.stop()).code, 0, gateway.log());
      await assert.rejects(Deno.stat(`/proc/${chain.at(-1)!.pid}`), Deno.errors.NotFound);
    }),
});

for (
  const [variable, expected, start, ...flags] of [
    ["--unset=TMPDIR", "/tmp", TASK],
    ["TMPDIR=", "/tmp", TASK],
    ["TMPDIR=relative", "/tmp", TASK],
    ["TMPDIR=HOME/elsewhere", "HOME/elsewhere", TASK],
    ["TMPDIR=", "/tmp", startCommand(), "--harden"],
  ] as const
) {
  Deno.test({
    name: `a gateway may write temporary files: ${[variable, ...flags].join(" ")}`,
    ignore,
    fn: () =>
      TestCli.use(async (cli) => {
        const [word, folder] = [variable, expected].map((text) => text.replace("HOME", cli.home));
        await Deno.mkdir(join(cli.home, "elsewhere"));
        await using gateway = await startGateway([...flags], {
          ...cli.gateway,
          deno: "env",
          command: [word!, Deno.execPath(), ...start],
        });
        const { pid } = (await chainOf(gateway.pid)).at(-1)!;
        const environment = (await Deno.readTextFile(`/proc/${pid}/environ`)).split("\0");
        assert.deepEqual(
          environment.filter((variable) => variable.startsWith("TMPDIR=")),
          [`TMPDIR=${folder}`],
        );
        const backup = await requestBackup(gateway);
        assert.equal(backup.status, 200, await backup.text());
      }),
  });
}

Deno.test({
  name: "a client's entry works with a temporary folder that it does not name",
  ignore,
  fn: () =>
    TestCli.use(async (cli) => {
      const env = { ...cli.settings.env, TMPDIR: "/var/tmp" };
      await using gateway = await startGateway([], { ...cli.gateway, env });
      assert.equal((await chainOf(gateway.pid)).length, 1);
      const backup = await requestBackup(gateway);
      assert.equal(backup.status, 200, await backup.text());
    }),
});

Deno.test({
  name: "a gateway keeps narrower permissions of its user's, and says what it may not write",
  ignore,
  fn: () =>
    TestCli.use(async (cli) => {
      await foldersOf(cli);
      const command = startCommand().map((word) =>
        word.startsWith("--allow-write=") ? `--allow-write=${cli.dataDir}` : word
      );
      await using gateway = await startGateway([], { ...cli.gateway, command });
      assert.equal((await chainOf(gateway.pid)).length, 1);
      const backup = await requestBackup(gateway);
      const { error } = await backup.json();
      assert.equal(error.message, "The gateway is not permitted to write the temporary folder");
      assert.match(error.recoveryAction, /--allow-write/);
    }),
});

for (
  const [flags, narrowed, message] of [
    [[], ["--allow-write=/nowhere", "--allow-net=127.0.0.1"], /do not include writing to .*data/],
    [["--harden"], ["--allow-net=127.0.0.1"], /--harden: it would widen .* "net"/],
    [["--harden"], ["--allow-read=/"], /--harden: it would widen .* "read"/],
  ] as const
) {
  Deno.test({
    name: `a gateway does not widen its user's permissions: ${[...narrowed, ...flags].join(" ")}`,
    ignore,
    fn: () =>
      TestCli.use(async (cli) => {
        const command = startCommand().map((word) =>
          narrowed.find((flag) => flag.startsWith(`${word.split("=", 1)[0]}=`)) ?? word
        );
        const { code, stderr } = await new Deno.Command(Deno.execPath(), {
          ...cli.settings,
          args: [...command, ...flags, "--port", "0"],
          stdin: "null",
          stdout: "null",
          stderr: "piped",
          signal: AbortSignal.timeout(60_000),
        }).output();
        const text = new TextDecoder().decode(stderr);
        assert.match(text, message);
        assert.equal(code, 2, text);
      }),
  });
}

Deno.test({
  name: "on a terminal, a gateway that starts itself again asks nothing, and Ctrl-C ends all of it",
  ignore,
  fn: () =>
    TestCli.use(async (cli) => {
      await foldersOf(cli);
      const line = `'${Deno.execPath()}' ${TASK.join(" ")} --harden --port 0`;
      await using terminal = openTerminal(line, { cwd: ROOT, env: cli.settings.env });
      const [, url = ""] = await terminal.shows(/(http:\/\/127\.0\.0\.1:\d+)/);
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
      await terminal.interrupt();
      assert.equal((await terminal.ended()).code, 0, terminal.text());
      assert.doesNotMatch(terminal.text(), /Deno requests|Allow\?/);
    }),
});
