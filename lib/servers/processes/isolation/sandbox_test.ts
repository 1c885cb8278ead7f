import assert from "node:assert/strict";
import { join } from "node:path";
import { namedMounts, workingMount } from "./mounts.ts";
import { type Bubblewrap, sandboxed, type SandboxedProgram, tryBubblewrap } from "./sandbox.ts";

const NOBODY = 65_534;
const PATH = "/usr/local/bin:/usr/bin:/bin";
const bubblewrap = await tryBubblewrap(Deno.env.get("PATH") ?? "");
const ignore = "problem" in bubblewrap;

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What a shell script prints in a sandbox. */
async function output(script: string, program: Partial<SandboxedProgram> = {}, uid?: number) {
  const line = await sandboxed(bubblewrap as Bubblewrap, {
    command: "sh",
    args: ["-c", script],
    env: { PATH },
    cwd: undefined,
    mounts: [],
    hidden: [],
    ...program,
  });
  const { stdout, stderr } = await new Deno.Command(line.command, {
    args: line.args,
    env: line.env,
    clearEnv: true,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  }).output();
  const decoder = new TextDecoder();
  return decoder.decode(stdout) + decoder.decode(stderr);
}

Deno.test({
  name:
    "a sandbox has no capabilities, no network and no other processes, as root and as another user",
  ignore,
  async fn() {
    const script =
      "id -u; grep CapEff /proc/self/status; ls /sys/class/net /proc | grep -c '^[0-9]'; " +
      "unshare --user true && echo nested; cat /proc/net/dev | wc -l; ls -A $HOME; ls / | tr '\\n' ' '";
    for (const uid of Deno.uid() === 0 ? [undefined, NOBODY] : [undefined]) {
      const text = await output(script, { env: { PATH, HOME: "/run/quartermaster/home" } }, uid);
      assert.match(text, new RegExp(`^${uid ?? Deno.uid()}$`, "m"));
      assert.match(text, /CapEff:\s+0+$/m);
      // Loopback only, below two lines of headings.
      assert.match(text, /^3$/m);
      assert.doesNotMatch(text, /nested/);
      assert.doesNotMatch(text, /\b(?:home|root|sys|var)\b(?= )/);
    }
  },
});

Deno.test({
  name: "a sandbox covers the gateway's files in a folder that is shared",
  ignore,
  fn: () =>
    inFolder(async (folder) => {
      await Deno.mkdir(join(folder, "data/inner"), { recursive: true });
      await Deno.writeTextFile(join(folder, "data/inner/key"), "the key");
      await Deno.writeTextFile(join(folder, "config.json"), "the config");
      await Deno.writeTextFile(join(folder, "plain"), "plain");
      const hidden = [join(folder, "data"), join(folder, "config.json"), join(folder, "absent")];
      const script = `cat ${folder}/plain; cat ${folder}/config.json; ls -A ${folder}/data; ` +
        `cat ${folder}/data/inner/key`;
      for (const path of [folder, join(folder, "data/inner")]) {
        const text = await output(script, { mounts: [{ path, isWritable: true }], hidden });
        assert.doesNotMatch(text, /the key|the config/);
        if (path === folder) assert.match(text, /^plain/);
      }
    }),
});

Deno.test({
  name: "a sandbox mounts a folder to read inside one to write, whatever their order",
  ignore,
  fn: () =>
    inFolder(async (folder) => {
      const inner = join(folder, "inner");
      await Deno.mkdir(inner);
      const mounts = [{ path: inner, isWritable: false }, { path: folder, isWritable: true }];
      const script = `echo a > ${folder}/a; echo b > ${inner}/b; cat ${folder}/a`;
      assert.match(await output(script, { mounts }), /^a\n.*Read-only file system/s);
    }),
});

Deno.test("sandboxed() gives variables of the loader to the program alone", async () => {
  const line = await sandboxed({ command: "/usr/bin/bwrap", flags: [] }, {
    command: "true",
    args: [],
    env: { PATH, LD_PRELOAD: "/a.so" },
    cwd: undefined,
    mounts: [],
    hidden: [],
  });
  assert.deepEqual(line.env, { PATH });
  assert.match(line.args.join(" "), /--setenv LD_PRELOAD \/a\.so .*-- true$/);
});

Deno.test("namedMounts() refuses what does not exist or would show everything", () =>
  inFolder(async (folder) => {
    await Deno.symlink("/proc", join(folder, "link"));
    const refused: [path: string, reason: RegExp][] = [
      ["notes", /names "notes", which is not an absolute path/],
      [join(folder, "absent"), /which does not exist/],
      ["/", /cannot be shared/],
      ["/run", /cannot be shared/],
      ["/proc/self", /cannot be shared/],
      [join(folder, "link"), /cannot be shared/],
    ];
    for (const [path, reason] of refused) {
      await assert.rejects(namedMounts({ kind: "sandbox", read: [path] }, folder), reason);
    }
    assert.deepEqual(await namedMounts({ kind: "sandbox", write: ["~"] }, folder), [
      { path: folder, isWritable: true },
    ]);
  }));

Deno.test("workingMount() shows a folder of its own, not the home folder or the gateway's", () =>
  inFolder(async (home) => {
    const project = join(home, "project");
    await Deno.mkdir(join(project, "data"), { recursive: true });
    const shown = (cwd: string, hidden: string[] = []) => workingMount(cwd, home, hidden);
    assert.deepEqual(await shown(project), [{ path: project, isWritable: false }]);
    assert.deepEqual(await shown(home), []);
    assert.deepEqual(await shown("/"), []);
    assert.deepEqual(await shown("/tmp"), []);
    assert.deepEqual(await shown(project, [join(project, "data")]), []);
  }));
