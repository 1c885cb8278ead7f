import assert from "node:assert/strict";
import { join } from "@std/path";
import { launchBrowser, within } from "./browser.ts";
import { canTry } from "./installed.ts";
import { processesWith } from "./left_behind.ts";
import { openTerminal, ROOT } from "./terminal.ts";

/** Deno and packages are fetched and the console is built, on a machine that may be busy. */
const FIRST_START_MS = 300_000;

async function output(program: string, args: string[], cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

function git(args: string[], cwd: string): Promise<string> {
  return output("git", args, cwd);
}

/** The start command as README has it. */
async function startLine(): Promise<string> {
  const readme = await Deno.readTextFile(join(ROOT, "README.md"));
  const [, line] = readme.match(/^## Start in a minute$[^]*?^```sh\n(npx .+)\n```$/m) ?? [];
  assert.ok(line, "README.md does not name its start command");
  return line;
}

/** A clone of the checkout as it is now, changes that are not committed yet included. */
async function cloneInto(folder: string): Promise<void> {
  await git(["clone", "-q", "--no-hardlinks", ROOT, folder], ROOT);
  const changed = await git(["ls-files", "-z", "-m", "-o", "--exclude-standard"], ROOT);
  for (const file of changed.split("\0").filter(Boolean)) {
    const target = join(folder, file);
    await Deno.mkdir(join(target, ".."), { recursive: true });
    await Deno.copyFile(join(ROOT, file), target).catch(() => Deno.remove(target));
  }
}

Deno.test({
  name: "README's start command in a fresh clone, with nothing cached, on a terminal",
  ignore: !await canTry("npx"),
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
    const [clone, home] = ["clone", "home"].map((name) => join(folder, name));
    const registry = (await output("npm", ["config", "get", "registry"], ROOT)).trim();
    try {
      await cloneInto(clone!);
      await Deno.mkdir(home!);
      const before = await git(["status", "--short"], clone!);
      {
        await using terminal = openTerminal(
          `${await startLine()} --port 0`,
          {
            cwd: clone!,
            env: {
              HOME: home!,
              XDG_DATA_HOME: "",
              DENO_DIR: join(folder, "deno"),
              npm_config_cache: join(folder, "npm"),
              npm_config_registry: registry,
              npm_config_update_notifier: "false",
            },
          },
        );
        await terminal.shows(/Download|Building the console\.\.\./, FIRST_START_MS);
        const [, url] = await terminal.shows(/Console +(http:\S+)/, FIRST_START_MS);
        assert.match(terminal.text(), /Building the console\.\.\./);
        assert.doesNotMatch(terminal.text(), /Building the console[^]*Fetching packages/);
        await terminal.shows(/1 of 1 server ready\n/);
        assert.doesNotMatch(terminal.text(), /\n +at |\w*Error:|^error/m);

        const browser = await launchBrowser();
        try {
          const page = await browser.newPage();
          const errors: string[] = [];
          page.on("pageerror", (error) => errors.push(String(error)));
          const response = await page.goto(url!);
          assert.equal(response?.status(), 200);
          await page.getByRole("heading", { level: 1 }).first().waitFor();
          assert.ok(await page.getByText("weather").filter({ visible: true }).first().isVisible());
          assert.deepEqual(errors, []);
        } finally {
          await within(browser.close(), 30_000, "Closing the browser");
        }
        await terminal.interrupt();
        const { code } = await terminal.ended();
        assert.match(terminal.text(), /Stopped\.\s*$/);
        // The gateway ends with 0, npx says that it was interrupted.
        assert.ok([0, 130].includes(code), `exit code ${code}`);
      }
      assert.deepEqual(await processesWith(folder), []);
      // The clone has its build, which git ignores, and the home the data; nothing else is new.
      assert.equal(await git(["status", "--short"], clone!), before);
      const names = Array.from(Deno.readDirSync(home!), ({ name }) => name);
      assert.deepEqual(names, [".local"]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
