import assert from "node:assert/strict";
import { join } from "@std/path";
import {
  explainingLine,
  isBrokenNpx,
  type PipedProgram,
  ProgramOutput,
  startPiped,
} from "./program.ts";
import { OTHER_DENO } from "./testing/other_deno.ts";
import { failureCause } from "../../core/failure_cause.ts";

const env = { PATH: Deno.env.get("PATH") ?? "", HOME: Deno.env.get("HOME") ?? "" };

async function outputOf({ stdin, stdout, ended }: PipedProgram): Promise<string> {
  stdin.end();
  let text = "";
  for await (const chunk of stdout) text += new TextDecoder().decode(chunk);
  await ended;
  return text;
}

Deno.test("startPiped() gives a program the arguments that were named, also this very Deno", async () => {
  const folder = await Deno.makeTempDir();
  const script = join(folder, "tell.ts");
  const state = `Deno.permissions.querySync({ name: "net" }).state`;
  await Deno.writeTextFile(script, `console.log(Deno.args.join(), ${state})`);
  const deno = Deno.execPath();
  const ways: [command: string, args: string[], more?: Record<string, string>][] = [
    [OTHER_DENO, [script, "-e", "x"]],
    [deno, [script, "-e", "x"]],
    ["env", [deno, script, "-e", "x"]],
    ["sh", ["-c", `${deno} ${script} -e x`]],
    ["sh", ["-c", `$DENO ${script} -e x`], { DENO: deno }],
  ];
  for (const [command, args, more] of ways) {
    const program = await startPiped({ command, args, env: { ...env, NO_COLOR: "1", ...more } });
    assert.equal(await outputOf(program), "-e,x prompt\n", command);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("startPiped() gives a program nothing of the gateway's own environment", async () => {
  const before = Deno.env.get("NODE_V8_COVERAGE");
  Deno.env.set("NODE_V8_COVERAGE", "anywhere");
  try {
    const shown = await outputOf(await startPiped({ command: "env", args: [], env }));
    assert.deepEqual(Array.from(shown.matchAll(/^(\w+)=/gm), ([, name]) => name).sort(), [
      "HOME",
      "PATH",
    ]);
  } finally {
    if (before === undefined) Deno.env.delete("NODE_V8_COVERAGE");
    else Deno.env.set("NODE_V8_COVERAGE", before);
  }
});

Deno.test("startPiped() gives a program its own environment and folder, and tells how it ends", async () => {
  const cwd = await Deno.realPath(await Deno.makeTempDir());
  for (const mention of ["", Deno.execPath()]) {
    const run = (script: string) =>
      startPiped({ command: "sh", args: ["-c", script, mention], env: { ...env, A: "b" }, cwd });
    assert.equal(await outputOf(await run("pwd; env | grep -c ^A=b$; cat")), `${cwd}\n1\n`);
    assert.deepEqual(endOf(await (await run("exit 3")).ended), [3, null]);
    assert.deepEqual(endOf(await (await run("kill -9 $$")).ended), [137, "SIGKILL"]);
    // The leader of a group of its own.
    const { pid, ended } = await run("sleep 60");
    Deno.kill(-pid, "SIGTERM");
    assert.deepEqual(endOf(await ended), [143, "SIGTERM"]);
    const missing = startPiped({ command: "there-is-no-such-program", args: [mention], env });
    await assert.rejects(missing, { code: "ENOENT" });
  }
  await Deno.remove(cwd);
});

function endOf({ code, signal }: { code: number; signal: string | null }) {
  return [code, signal];
}

// What real programs wrote, with other paths and hosts: npm 11.19, Node 20, Python 3.11, Deno 2.9.
const SAMPLES: { of: string; wrote: string; telling: string; cause?: string }[] = [
  {
    of: "npx of a package that does not exist",
    wrote: `npm error code E404
npm error 404 Not Found - GET https://registry.example/@scope%2fserver-gone
npm error 404
npm error 404  The requested resource '@scope/server-gone@*' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log`,
    telling: "npm error 404 Not Found - GET https://registry.example/@scope%2fserver-gone",
    cause: "package_not_found",
  },
  {
    of: "npx of a version that does not exist",
    wrote: `npm warn Unknown user config "nodedir".
npm error code ETARGET
npm error notarget No matching version found for @scope/server-memory@0.0.99.
npm error notarget In most cases you or one of your dependencies are requesting a package version that doesn't exist.`,
    telling: "npm error notarget No matching version found for @scope/server-memory@0.0.99.",
    cause: "package_not_found",
  },
  {
    of: "an ES module without one of its packages",
    wrote: `node:internal/modules/esm/resolve:873
  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);
        ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zodd' imported from /srv/m.mjs
    at packageResolve (node:internal/modules/esm/resolve:873:9)
    at ModuleJob._link (node:internal/modules/esm/module_job:168:49) {
  code: 'ERR_MODULE_NOT_FOUND'
}

Node.js v20.20.2`,
    telling: "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zodd' imported from /srv/m.mjs",
    cause: "missing_module",
  },
  {
    of: "a CommonJS module without one of its files",
    wrote: `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module './gone'
Require stack:
- /srv/m.cjs
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/srv/m.cjs' ]
}

Node.js v20.20.2`,
    telling: "Error: Cannot find module './gone'",
    cause: "missing_module",
  },
  {
    of: "a Python traceback",
    wrote: `Traceback (most recent call last):
  File "/srv/p.py", line 4, in <module>
    main()
  File "/srv/p.py", line 3, in main
    import fastmcpx
ModuleNotFoundError: No module named 'fastmcpx'`,
    telling: "ModuleNotFoundError: No module named 'fastmcpx'",
    cause: "missing_module",
  },
  {
    of: "Python without a variable",
    wrote: `Traceback (most recent call last):
  File "/srv/q.py", line 2, in <module>
    os.environ["GITHUB_TOKEN"]
    ~~~~~~~~~~^^^^^^^^^^^^^^^^
  File "<frozen os>", line 679, in __getitem__
KeyError: 'GITHUB_TOKEN'`,
    telling: "KeyError: 'GITHUB_TOKEN'",
    cause: "missing_variable",
  },
  {
    of: "server-brave-search without its key",
    wrote: `npm warn Unknown user config "nodedir".
Error: BRAVE_API_KEY environment variable is required`,
    telling: "Error: BRAVE_API_KEY environment variable is required",
    cause: "missing_variable",
  },
  {
    of: "server-slack without its variables",
    wrote: "Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables",
    telling: "Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables",
    cause: "missing_variable",
  },
  {
    of: "server-filesystem with a folder that is not there",
    wrote: `Warning: Cannot access directory /nowhere, skipping
Error: None of the specified directories are accessible`,
    telling: "Error: None of the specified directories are accessible",
  },
  {
    of: "a server that prints its usage and exits",
    wrote: `Usage: mcp-server-filesystem [allowed-directory] [additional-directories...]
Note: Allowed directories can be provided via:
  1. Command-line arguments (shown above)`,
    telling: "Usage: mcp-server-filesystem [allowed-directory] [additional-directories...]",
    cause: "usage",
  },
  {
    of: "a shell without the command",
    wrote: "sh: 1: uvxx: not found",
    telling: "sh: 1: uvxx: not found",
    cause: "command_not_found",
  },
  {
    of: "a port that is taken",
    wrote: `node:events:502
      throw er; // Unhandled 'error' event
      ^

Error: listen EADDRINUSE: address already in use :::22222
    at Server.setupListenHandle [as _listen2] (node:net:1908:16)
Emitted 'error' event on Server instance at:
    at emitErrorNT (node:net:1944:8)
  code: 'EADDRINUSE',
  port: 22222
}`,
    telling: "Error: listen EADDRINUSE: address already in use :::22222",
    cause: "port_in_use",
  },
  {
    of: "Deno, in colors",
    wrote:
      "\x1b[0m\x1b[1m\x1b[31merror\x1b[0m: Uncaught (in promise) Error: boom\n    at file:///x:1:7",
    telling: "error: Uncaught (in promise) Error: boom",
  },
  {
    of: "a Rust panic",
    wrote: `thread 'main' panicked at src/main.rs:12:5:
no database at /data
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace`,
    telling: "thread 'main' panicked at src/main.rs:12:5: no database at /data",
  },
  {
    of: "a server that only chats",
    wrote: "Loading\nServer running on stdio\n\n",
    telling: "Server running on stdio",
  },
];

Deno.test("tellingLine() picks the line that explains", async (t) => {
  for (const { of, wrote, telling, cause } of SAMPLES) {
    await t.step(of, () => {
      const line = explainingLine(wrote.split("\n"));
      assert.equal(line, telling);
      assert.equal(failureCause(`Server "x" exited with code 1. Output: ${line}`), cause);
    });
  }
  assert.equal(explainingLine([]), undefined);
  assert.equal(explainingLine(["Error: " + "x".repeat(500)])?.length, 301);
});

Deno.test("isBrokenNpx() recognizes failures of a partial folder, and no others", () => {
  const folder = "/home/me/.npm/_npx/15b07286cbcc3329";
  const broken = [
    `Error: Cannot find package '${folder}/node_modules/zod/index.js' imported from ${folder}/x.js`,
    `Error: Cannot find module 'zod'\n- ${folder}/node_modules/x/index.js\n  code: 'MODULE_NOT_FOUND',`,
    `npm error code ENOTEMPTY\nnpm error path ${folder}/node_modules/zod`,
    `npm error code ENOENT\nnpm error path ${folder}/package.json`,
    "npm error Invalid Version: ",
  ];
  for (const text of broken) assert.ok(isBrokenNpx(text.split("\n"), folder), text);
  const sound = [
    "Error: Cannot find package 'zod' imported from /srv/own.mjs",
    "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/x",
    "npm error notarget No matching version found for x@9.",
    `Error: Cannot find package '/home/me/.npm/_npx/0000000000000000/node_modules/zod'`,
    `Reading ${folder}/node_modules/x/config.json\nError: BRAVE_API_KEY is required`,
    "npm error code ENOENT\nnpm error path /srv/package.json",
  ];
  for (const text of sound) assert.ok(!isBrokenNpx(text.split("\n"), folder), text);
});

Deno.test("ProgramOutput keeps both ends of a start, then the last lines", () => {
  const output = new ProgramOutput();
  for (let line = 0; line < 1_000; line++) output.add(String(line));
  assert.equal(output.lines[0], "0");
  assert.equal(output.lines.at(-1), "999");
  assert.equal(output.lines.length, 120);
  output.started();
  assert.deepEqual(output.lines, []);
  for (let line = 0; line < 1_000; line++) output.add(String(line));
  assert.equal(output.lines[0], "940");
});
