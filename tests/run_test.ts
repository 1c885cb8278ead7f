import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { until } from "./gateway.ts";
import { processesOf } from "./left_behind.ts";

const runner = fromFileUrl(new URL("run.ts", import.meta.url));

const PASSES = `Deno.test("fine", () => {});\nDeno.test.ignore("later", () => {});`;

/** Runs files with these contents until no process of them is left; tells what was printed. */
async function run(files: Record<string, string>, ...flags: string[]) {
  const folder = await Deno.makeTempDir({ prefix: "run_" });
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(join(folder, name), text);
    }
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "-q", runner, folder, ...flags],
      env: { TMPDIR: folder },
      stderr: "inherit",
    }).output();
    const lines = new TextDecoder().decode(stdout).trimEnd().split("\n");
    await until(async () => (await processesOf(folder)).length === 0 || undefined);
    return { code, lines, text: lines.join("\n") };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the runner counts the tests of all files, and says how far it is", async () => {
  const { code, lines, text } = await run({
    "a_test.ts": PASSES,
    "b_test.ts": PASSES,
    "c.ts": "!",
  });
  assert.equal(lines.at(-1), "2 passed, 0 failed");
  assert.equal(code, 0);
  assert.match(text, /^ok \S+\/[ab]_test\.ts: 1 passed, \d+s \(2 of 2 files\)$/m);
  assert.match(text, /^Ignored:\n {2}\S+_test\.ts: later/m);
  assert.match(text, /^Slowest files:\n {2}\d+s \S+_test\.ts$/m);
});

Deno.test("the runner fails if a test fails, a file cannot be loaded, or nothing ran", async () => {
  const { code, lines, text } = await run({
    "a_test.ts": PASSES,
    "b_test.ts": `Deno.test("wrong", () => { throw new Error("It is wrong"); });`,
    "c_test.ts": `throw new Error("It has no tests");`,
    "d_test.ts": `Deno.test("exits", () => Deno.exit(0));`,
  });
  assert.equal(lines.at(-1), "1 passed, 3 failed");
  assert.equal(code, 1);
  assert.match(text, /^FAILED \S+\/b_test\.ts: wrong/m);
  assert.match(text, /Error: It is wrong/);
  assert.match(text, /Error: It has no tests/);
  const nothing = await run({ "a_test.ts": PASSES }, "--filter", "no such test");
  assert.deepEqual([nothing.code, nothing.lines.at(-1)], [1, "0 passed, 1 failed"]);
});

Deno.test("the runner fails if a file leaves a process or does not end, and ends both", async () => {
  const started = `new Deno.Command("sleep", { args: ["3600"], detached: true }).spawn()`;
  const bare = `new Deno.Command("/bin/sleep", { args: ["3601"], clearEnv: true }).spawn()`;
  const leaves = await run({
    "a_test.ts": `Deno.test("leaves", () => ${started}.unref());`,
    "b_test.ts": `Deno.test("leaves", () => ${bare}.unref());`,
  });
  assert.equal(leaves.lines.at(-1), "2 passed, 2 failed");
  assert.equal(leaves.code, 1);
  assert.match(leaves.text, /^LEFT BEHIND by \S+\/a_test\.ts: \d+ \S*sleep 3600$/m);
  assert.match(leaves.text, /^LEFT BEHIND by \S+\/b_test\.ts: \d+ \S*sleep 3601$/m);

  const file = `Deno.test("hangs", async () => { await ${started}.status; });`;
  const hangs = await run({ "a_test.ts": file }, "--limit-ms", "5000");
  assert.equal(hangs.lines.at(-1), "0 passed, 1 failed");
  assert.match(hangs.text, /a_test\.ts did not end within 5000 ms/);
});
