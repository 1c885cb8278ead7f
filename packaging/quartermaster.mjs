#!/usr/bin/env node
// The installed command: runs the built program on the Deno that npm installed beside it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const IS_WINDOWS = process.platform === "win32";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

const deno = findDeno();
if (deno === undefined) {
  const platform = `${process.platform}-${process.arch}`;
  process.stderr.write(
    `quartermaster: Deno for ${platform} is not installed\n` +
      "  Reinstall the package without --omit=optional. Deno from npm runs on Windows, macOS\n" +
      "  and Linux with glibc (not on Alpine), on x64 and arm64.\n",
  );
  process.exit(1);
}

const args = process.argv.slice(2);
const folders = await import(new URL("../_fresh/folders.js", import.meta.url).href);
const machine = {
  os: IS_WINDOWS ? "windows" : process.platform,
  env: { get: (name) => process.env[name] },
  readText,
  cwd: process.cwd,
};
const child = spawn(deno, [...denoFlags(), ...args], {
  stdio: "inherit",
  env: {
    ...process.env,
    ...folders.processEnv(machine),
    // Inside the package, so that uninstalling it removes the cache too.
    DENO_DIR: join(ROOT, ".deno"),
    DENO_NO_UPDATE_CHECK: "1",
    QUARTERMASTER_NODE: process.execPath,
  },
});

// Ctrl-C on a terminal reaches both processes, `kill` and service managers only this one. On Windows
// the console always reaches both, and forwarding would end the gateway without a clean stop.
const onTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
for (const signal of SIGNALS) {
  process.on(signal, () => {
    if (!IS_WINDOWS && !(signal === "SIGINT" && onTerminal)) child.kill(signal);
  });
}

child.on("error", (error) => {
  process.stderr.write(`quartermaster: Cannot start ${deno}: ${error.message}\n`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  // Exits as the program did, so that a shell sees the same status or signal.
  for (const name of SIGNALS) process.removeAllListeners(name);
  process.kill(process.pid, signal);
});

/** The platform's program itself: the `deno` command of npm would add a process that blocks signals. */
function findDeno() {
  const name = IS_WINDOWS ? "deno.exe" : "deno";
  const libc = process.platform === "linux" ? "-glibc" : "";
  try {
    const shim = createRequire(import.meta.url).resolve("deno/package.json");
    const folders = [dirname(shim)];
    try {
      const platform = `@deno/${process.platform}-${process.arch}${libc}/package.json`;
      folders.unshift(dirname(createRequire(shim).resolve(platform)));
    } catch { /* The post-install step may have put a copy beside the shim. */ }
    return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  } catch {
    return undefined;
  }
}

/** What `deno task start` runs, with the built program in place of its source. */
function denoFlags() {
  const config = join(ROOT, "deno.json");
  const { tasks } = JSON.parse(readFileSync(config, "utf8"));
  const [, run, ...words] = tasks.serve.command.split(" ");
  const flags = words.map((word) => {
    if (word === "--allow-write" && startsGateway()) return allowWrite();
    return word.endsWith(".js") ? join(ROOT, word) : word;
  });
  // Named, because Deno looks for no config file inside node_modules.
  return [run, "--config", config, ...flags];
}

/** Commands write where they are told to. With options first, the command starts itself again. */
function startsGateway() {
  const [first] = args;
  return first === undefined || first === "start" || first.startsWith("-");
}

/** The permission to write the gateway's own folders. */
function allowWrite() {
  return folders.writeFlag(folders.writtenFolders(folders.dataPlaces(args, machine), machine));
}

function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
