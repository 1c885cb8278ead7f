import assert from "node:assert/strict";
import { join } from "@std/path";
import { type PipedProgram, startPiped } from "./piped_program.ts";
import { OTHER_DENO } from "./testing/other_deno.ts";

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
