import assert from "node:assert/strict";
import { join } from "node:path";
import {
  findInstaller,
  isInstallerProcess,
  isLocked,
  npxFolder,
  npxFolderState,
  removeNpxFolder,
} from "./installer.ts";
import { inFolder } from "../../config/testing/load_servers.ts";

function found(line: string): string | undefined {
  const installer = findInstaller(line.split(" "));
  return installer && `${installer.name}: ${installer.packages.join(" ")}`;
}

Deno.test("findInstaller() recognizes every installer and what it fetches", () => {
  const expected: [line: string, name: string][] = [
    ["npx -y @scope/name@1.2.3 /tmp", "npx: @scope/name@1.2.3"],
    ["npx --yes --package=@scope/name -- tool arg", "npx: @scope/name"],
    ["npx -p one -p two tool", "npx: one two"],
    ["/usr/local/bin/npx -y name", "npx: name"],
    ["C:\\nodejs\\npx.cmd -y name", "npx: name"],
    ["cmd /c npx -y name", "npx: name"],
    ["cmd.exe /C npx.cmd -y name", "npx: name"],
    ["env A=1 B=2 npx name", "npx: name"],
    ["npm exec --yes -- name --flag", "npx: name"],
    ["npm x name", "npx: name"],
    ["node /usr/lib/node_modules/npm/bin/npx-cli.js -y name", "npx: name"],
    ["npx --tag next --omit dev name", "npx: name"],
    ["uvx name@latest --flag", "uvx: name@latest"],
    ["uvx --index-strategy first-index --prerelease allow name", "uvx: name"],
    ["uvx --link-mode copy --keyring-provider disabled name", "uvx: name"],
    ["uvx --from git+https://example.com/x name", "uvx: git+https://example.com/x"],
    ["uv tool run name", "uvx: name"],
    ["uv run --with mcp name", "uv: name"],
    ["pipx run --spec name==1.0 tool", "pipx: name==1.0"],
    ["python3 /usr/bin/pipx run name", "pipx: name"],
    ["bunx name", "bunx: name"],
    ["bun x name", "bunx: name"],
    ["pnpm dlx name", "pnpm dlx: name"],
    ["pnpm --package=name dlx tool", ""],
    ["yarn dlx -p name tool", "yarn dlx: name"],
    ["docker run -i --rm -e KEY mcp/fetch:1", "docker: mcp/fetch:1"],
    ["docker run --rm=true --name x image arg", "docker: image"],
    ["podman run -i image", "podman: image"],
  ];
  for (const [line, name] of expected) assert.equal(found(line) ?? "", name, line);
});

Deno.test("findInstaller() reads a shell command that runs one program, and no other", () => {
  const through = (text: string) => findInstaller(["sh", "-c", text])?.packages[0];
  assert.equal(through("npx -y 'name'"), "name");
  assert.equal(through("exec npx -y name"), "name");
  assert.equal(findInstaller(["/bin/bash", "-lc", "uvx name"])?.name, "uvx");
  assert.equal(through("cd /tmp && npx -y name"), undefined);
  assert.equal(through("npx -y $NAME"), undefined);
  assert.equal(through("npx 'unclosed"), undefined);
});

Deno.test("findInstaller() leaves other programs alone", () => {
  for (
    const line of [
      "node server.js",
      "npm run start",
      "npm install",
      "npx",
      "npx .",
      "npx ./local",
      "uv run server.py",
      "uv sync",
      "docker compose up",
      "docker ps",
      "python3 -m server",
      "npxx name",
      "bun run dev",
    ]
  ) assert.equal(found(line), undefined, line);
});

Deno.test("findInstaller() returns what determines the cache's location", () => {
  assert.deepEqual(findInstaller(["env", "npm_config_cache=/c", "npx", "a"])?.env, {
    npm_config_cache: "/c",
  });
  assert.equal(findInstaller(["npx", "--cache", "/c", "a"])?.cache, "/c");
});

Deno.test("isInstallerProcess() tells an installer from the program it runs", () => {
  // As the processes of npm 11 showed themselves, one after the other.
  const installers = [
    "/usr/bin/env node /usr/bin/npx -y @scope/name",
    "node /usr/bin/npx -y @scope/name",
    "/bin/bash /home/me/.asdf/shims/npx -y name",
    "npm",
    "npm exec @scope/name",
    "uv tool uvx name",
    "python3 /usr/bin/pipx run name",
  ];
  for (const line of installers) assert.ok(isInstallerProcess(line.split(" ")), line);
  assert.ok(!isInstallerProcess(["sh", "-c", "mcp-server-name"]));
  assert.ok(!isInstallerProcess(["sh", "-c", "mcp-server-name '/a b'"]));
  assert.ok(!isInstallerProcess(["node", "/home/me/.npm/_npx/0123/node_modules/.bin/name"]));
  assert.ok(!isInstallerProcess([]));
});

const entry = (...packages: string[]) => ({ packages, env: {} });

Deno.test("npxFolder() is the folder that npx uses", async () => {
  await inFolder({ ".npmrc": "registry=x\ncache=${HOME}/own\n" }, async (home) => {
    // As npm 11.19.1 named them.
    assert.equal(
      await npxFolder(entry("@modelcontextprotocol/server-everything@2026.8.31"), {
        env: { npm_config_cache: "/cache" },
      }),
      "/cache/_npx/a705c79b42eea4c8",
    );
    assert.equal(
      await npxFolder(entry("@modelcontextprotocol/server-memory"), { env: { HOME: "/home/me" } }),
      "/home/me/.npm/_npx/15b07286cbcc3329",
    );
    const one = entry("a");
    const parent = async (env: Record<string, string>, more = {}) =>
      (await npxFolder({ ...one, ...more }, { env })).split("/_npx/")[0];
    assert.equal(await parent({ HOME: home }), join(home, "own"));
    assert.equal(await parent({ HOME: home, NPM_CONFIG_CACHE: "/c" }), "/c");
    assert.equal(await parent({ HOME: home }, { env: { npm_config_cache: "/d" } }), "/d");
    assert.equal(await parent({ npm_config_cache: "/c" }, { cache: "/e" }), "/e");
    assert.equal(
      await npxFolder(entry("b", "a"), { env: {} }),
      await npxFolder(entry("a", "b"), { env: {} }),
    );
  });
});

Deno.test("npxFolderState() tells a whole install from what a killed one left", async () => {
  const done = "node_modules/.package-lock.json";
  const cases: [files: Record<string, string>, state: string][] = [
    [{ "concurrency.lock/x": "" }, "absent"],
    [{ "node_modules/zod/index.js": "" }, "partial"],
    [{ [done]: "{}", "node_modules/zod/index.js": "", "node_modules/.bin/x": "" }, "complete"],
    [{ [done]: "{}", "node_modules/.zod-Ab3dEf9h/index.js": "" }, "partial"],
    [{ [done]: "{}", "node_modules/@a/.zod-Ab3dEf9h/index.js": "" }, "partial"],
  ];
  for (const [files, state] of cases) {
    await inFolder(files, async (folder) => {
      assert.equal(await npxFolderState(folder), state, Object.keys(files).join());
    });
  }
  assert.equal(await npxFolderState("/nowhere/_npx/0123456789abcdef"), "absent");
});

Deno.test("isLocked() detects a running npm, not a killed one", async () => {
  await inFolder({ "concurrency.lock/x": "" }, async (folder) => {
    assert.equal(await isLocked(folder), true);
    const old = new Date(Date.now() - 60_000);
    await Deno.utime(join(folder, "concurrency.lock"), old, old);
    assert.equal(await isLocked(folder), false);
  });
});

Deno.test("removeNpxFolder() removes one folder of the npx cache and nothing else", async () => {
  const files = {
    "_npx/0123456789abcdef/node_modules/a/x": "",
    "_npx/fedcba9876543210/x": "",
    "_npx/elsewhere/x": "",
    "other/0123456789abcdef/x": "",
  };
  await inFolder(files, async (folder) => {
    assert.equal(await removeNpxFolder(join(folder, "_npx/0123456789abcdef")), true);
    assert.equal(await removeNpxFolder(join(folder, "_npx/0123456789abcdef")), false);
    await Deno.symlink(join(folder, "other"), join(folder, "_npx/00000000000000ff"));
    assert.equal(await removeNpxFolder(join(folder, "_npx/00000000000000ff")), false);
    for (const other of ["_npx/elsewhere", "_npx", "other/0123456789abcdef", "_npx/.."]) {
      await assert.rejects(removeNpxFolder(join(folder, other)), /not a folder of the npx cache/);
    }
    for (const kept of Object.keys(files).slice(1)) await Deno.stat(join(folder, kept));
  });
});
