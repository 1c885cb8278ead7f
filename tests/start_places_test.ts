import assert from "node:assert/strict";
import { join } from "@std/path";
import { type RunningGateway, startGateway } from "./gateway.ts";
import { commandIn, sh, withCopy } from "./checkout_copy.ts";
import { ROOT } from "./terminal.ts";

const NOBODY = 65_534;

async function denoDir(): Promise<string> {
  return JSON.parse(await sh(Deno.execPath(), ["info", "--json", "--no-config"])).denoDir;
}

async function assertWorks({ url, stop, log }: RunningGateway): Promise<void> {
  assert.match(await (await fetch(url)).text(), /weather/);
  const style = (await (await fetch(url)).text()).match(/href="([^"]+\.css[^"]*)"/)?.[1];
  assert.ok(style);
  const { status, body } = await fetch(new URL(style, url));
  await body?.cancel();
  assert.equal(status, 200);
  assert.equal((await stop()).code, 0, log());
  assert.match(log(), /"msg":"Stopped"/);
}

Deno.test("the start works from another folder, from a path with spaces, and with new file times", () =>
  withCopy(async ({ root, folder }) => {
    await using gateway = await startGateway([], {
      command: ["task", "--config", join(root, "deno.json"), "start"],
      cwd: folder,
    });
    await assertWorks(gateway);
    assert.doesNotMatch(gateway.log(), /Building/);
  }));

Deno.test("the start works without HOME and any other variable", () =>
  withCopy(async ({ root, folder }) => {
    await using gateway = await startGateway([], {
      command: commandIn(root),
      cwd: folder,
      clearEnv: true,
      env: { DENO_DIR: await denoDir() },
    });
    await assertWorks(gateway);
  }));

for (const isStale of [false, true]) {
  const which = isStale ? "an older build" : "a build";
  Deno.test(`the start works as another user from a read-only checkout with ${which}`, () =>
    withCopy(async ({ root, folder }) => {
      if (isStale) {
        await Deno.writeTextFile(join(root, "start.ts"), "\n// Later.\n", { append: true });
      }
      await sh("chmod", ["-R", "a-w,a+rX", root]);
      // Nobody else may get at the one that runs the test, if it is in somebody's home.
      const deno = join(folder, "deno");
      await Deno.copyFile(Deno.execPath(), deno);
      await Deno.chmod(deno, 0o755);
      const uid = Deno.uid() === 0 ? NOBODY : undefined;
      const home = join(folder, "home");
      await Deno.mkdir(home);
      if (uid !== undefined) await Deno.chown(home, uid, uid);
      await using gateway = await startGateway([], {
        command: commandIn(root),
        cwd: home,
        diskless: true,
        deno,
        clearEnv: true,
        uid,
        env: { HOME: home, XDG_CONFIG_HOME: home, DENO_DIR: join(home, "deno") },
      });
      await assertWorks(gateway);
      assert.ok(Deno.statSync(join(home, ".local/share/quartermaster/quartermaster.kv")).isFile);
      const warning = /^quartermaster: the build in .* is older than its sources/m;
      if (isStale) assert.match(gateway.log(), warning);
      else assert.doesNotMatch(gateway.log(), warning);
    }));
}

Deno.test("a first start without a terminal says in plain lines that it builds", () =>
  withCopy(async ({ root, folder }) => {
    await Deno.remove(join(root, "_fresh"), { recursive: true });
    const run = async () => {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [...commandIn(root), "--version"],
        cwd: folder,
      }).output();
      const decoder = new TextDecoder();
      return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
    };
    const first = await run();
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /^quartermaster \d/);
    const steps = ["Building the console...", "Building the program..."];
    assert.equal(first.stderr, steps.map((step) => `quartermaster: ${step}\n`).join(""));
    assert.equal((await run()).stderr, "");
  }));

Deno.test("the task serve has the permissions of the set start", async () => {
  const { permissions, tasks } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const flags: string[] = tasks.serve.command.split(" ")
    .filter((word: string) => word.startsWith("--allow-"));
  const wanted = Object.entries<true | string[]>(permissions.start).map(([name, what]) =>
    `--allow-${name}${what === true ? "" : `=${what}`}`
  );
  assert.deepEqual(flags.sort(), wanted.sort());
});
