import assert from "node:assert/strict";
import { join } from "node:path";
import type { Isolation } from "../../../core/server.ts";
import { ownerOf } from "../../transports/testing/transport_harness.ts";
import { findInstaller } from "../installer.ts";
import { containerArgs, denoArgs, type PermittedProgram } from "./fallbacks.ts";
import { Isolator } from "./isolator.ts";

const NO_BUBBLEWRAP = { problem: "bubblewrap (bwrap) is not installed" };

function isolate(line: string[], isolation: Isolation, path = "/nowhere") {
  const [command = "", ...args] = line;
  const isolator = new Isolator({
    hidden: [],
    allowPrivate: false,
    tryBubblewrap: () => Promise.resolve(NO_BUBBLEWRAP),
  });
  const env = { PATH: path, HOME: "/nowhere" };
  const entry = { command, args, env, isolation, declared: {}, baseEnv: env };
  const events = { onMessage() {}, onClose() {}, onLog() {} };
  const context = { owner: ownerOf("lease"), installs: undefined, events, signal: undefined };
  return isolator.isolate(entry, context);
}

Deno.test("Isolator.isolate() says what to do where a program cannot be isolated", async () => {
  const sandbox = { kind: "sandbox" } as const;
  const todo =
    /bubblewrap \(bwrap\) is not installed: install bubblewrap and allow user namespaces/;
  await assert.rejects(isolate(["uvx", "name"], sandbox), todo);
  await assert.rejects(isolate(["/usr/bin/server"], sandbox), todo);
  await assert.rejects(isolate(["npx", "-p", "a", "-p", "b", "c"], sandbox), /only one package/);
  await assert.rejects(isolate(["npx", "git+https://a.example/b"], sandbox), /only one package/);
  await assert.rejects(isolate(["true"], { kind: "container" }), /needs podman or docker/);
});

Deno.test("Isolator.isolate() runs a container without network, and refuses what it cannot limit", async () => {
  const bin = await Deno.makeTempDir({ prefix: "quartermaster_" });
  await Deno.writeTextFile(join(bin, "docker"), "#!/bin/sh\n", { mode: 0o755 });
  try {
    const container = { kind: "container", image: "alpine:3" } as const;
    const run = await isolate(["server", "--flag"], { ...container, read: [bin] }, bin);
    assert.equal(run.command, join(bin, "docker"));
    assert.match(
      run.args.join(" "),
      /^run --rm .* --network none --read-only .* alpine:3 server --flag$/,
    );
    await run[Symbol.asyncDispose]();
    await assert.rejects(isolate(["server"], { kind: "container" }, bin), /needs an "image"/);
    const net = { ...container, net: ["example.com"] };
    await assert.rejects(isolate(["server"], net, bin), /cannot be limited to hosts/);
    await assert.rejects(
      isolate(["uvx", "name"], container, bin),
      /uvx cannot be run in a container/,
    );
  } finally {
    await Deno.remove(bin, { recursive: true });
  }
});

Deno.test("containerArgs() names mounts, variables and what is covered", () => {
  const args = containerArgs({
    name: "one",
    isolation: { kind: "container" },
    command: "/cache/server.js",
    args: ["a"],
    isNode: true,
    variables: ["TOKEN"],
    cwd: "/project",
    mounts: [{ path: "/project", isWritable: false }, { path: "/a,b", isWritable: true }],
    covered: [{ path: "/project/data", isFolder: true }, {
      path: "/project/.mcp.json",
      isFolder: false,
    }],
  }).join(" ");
  assert.match(args, /--cap-drop ALL --security-opt no-new-privileges/);
  assert.match(args, /--mount type=bind,"src=\/project","dst=\/project",readonly /);
  assert.match(args, /--mount type=bind,"src=\/a,b","dst=\/a,b" /);
  assert.match(
    args,
    /--tmpfs \/project\/data --mount type=bind,"src=\/dev\/null","dst=\/project\/\.mcp\.json",readonly/,
  );
  assert.match(
    args,
    /--env TOKEN --workdir \/project docker\.io\/library\/node:22-slim node \/cache\/server\.js a$/,
  );
});

Deno.test("denoArgs() permits what the isolation names", () => {
  const program: PermittedProgram = {
    installer: findInstaller(["npx", "-y", "@scope/name@1.2.3", "arg"])!,
    isolation: { kind: "sandbox", net: ["example.com"] },
    mounts: [{ path: "/project", isWritable: false }, { path: "/notes", isWritable: true }],
    hidden: ["/data"],
    denoDir: "/deno",
    home: "/home",
  };
  const args = denoArgs(program);
  assert.deepEqual(args.filter((arg) => /^--(?:allow|deny)-(?:read|write|net|run|ffi)/.test(arg)), [
    "--allow-read=/project,/notes,/home,/deno/npm",
    "--allow-write=/notes,/home",
    "--allow-net=example.com",
    "--deny-read=/data",
    "--deny-write=/data",
  ]);
  assert.deepEqual(args.slice(-2), ["npm:@scope/name@1.2.3", "arg"]);
  const mounts = [{ path: "/a,b", isWritable: false }];
  assert.throws(
    () => denoArgs({ ...program, mounts }),
    /"\/a,b" has a comma, which Deno.s permissions cannot name/,
  );
});
