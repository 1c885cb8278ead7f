import assert from "node:assert/strict";
import { join } from "@std/path";
import { dataFolderOf, launchdPlist, systemdUnit, windowsTask } from "./definition.ts";

const DEFINITION = {
  command: ["/opt/my node/node", "/opt/100% mine/quarter$master.mjs", "--data-dir", '/home/a "b"'],
  env: { PATH: "/usr/bin:/opt/a b:/100%", QUOTE: 'a"b\\c' },
  workingDirectory: "/home/me/my data",
  envFile: "/home/me/.config/quartermaster/service.env",
  logFile: "/home/me/my data/logs/service.log",
};

Deno.test("systemdUnit() quotes paths with spaces, percent and dollar signs", () => {
  const lines = systemdUnit(DEFINITION).split("\n");
  assert.ok(lines.includes(
    'ExecStart="/opt/my node/node" "/opt/100%% mine/quarter$$master.mjs" "--data-dir" ' +
      '"/home/a \\"b\\""',
  ));
  assert.ok(lines.includes("WorkingDirectory=/home/me/my data"));
  assert.ok(lines.includes('Environment="PATH=/usr/bin:/opt/a b:/100%%"'));
  assert.ok(lines.includes('Environment="QUOTE=a\\"b\\\\c"'));
  assert.ok(lines.includes("Restart=on-failure"));
  assert.ok(lines.includes("KillMode=mixed"));
});

Deno.test({
  name: "systemdUnit() is accepted by systemd-analyze verify",
  ignore: !await hasSystemdAnalyze(),
  async fn() {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "quartermaster_" }));
    try {
      // Only programs that exist are accepted.
      const program = join(folder, "a b 100% $x.sh");
      await Deno.writeTextFile(program, "#!/bin/sh\n", { mode: 0o755 });
      const file = join(folder, "quartermaster.service");
      const definition = {
        ...DEFINITION,
        command: [program, "--data-dir", folder],
        workingDirectory: folder,
      };
      const verify = async (text: string) => {
        await Deno.writeTextFile(file, text);
        const { success, stderr } = await new Deno.Command("systemd-analyze", {
          args: ["verify", "--user", file],
          env: { XDG_RUNTIME_DIR: folder },
        }).output();
        return { success, said: new TextDecoder().decode(stderr) };
      };
      const { success, said } = await verify(systemdUnit(definition));
      assert.ok(success && !said.includes("quartermaster.service"), said);
      const broken = await verify(systemdUnit({ ...definition, command: ["/not/there"] }));
      assert.ok(!broken.success, "verify accepts a program that is not there");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test("launchdPlist() names the program, its variables and its log, as XML", () => {
  const text = launchdPlist({ ...DEFINITION, command: ["/opt/<a> & b/node", "x"] });
  assert.match(text, /<string>\/opt\/&lt;a&gt; &amp; b\/node<\/string>\n<string>x<\/string>/);
  assert.match(text, /<key>PATH<\/key>\n<string>\/usr\/bin:\/opt\/a b:\/100%<\/string>/);
  assert.match(text, /<key>StandardErrorPath<\/key>\n<string>\/home\/me\/my data\/logs/);
});

Deno.test("windowsTask() quotes arguments as Windows programs split them", () => {
  const text = windowsTask({
    ...DEFINITION,
    command: ["C:\\Program Files\\node.exe", "C:\\a b\\", 'say "hi"', "plain", ""],
  });
  assert.match(text, /<Command>C:\\Program Files\\node\.exe<\/Command>/);
  assert.ok(text.includes('<Arguments>"C:\\a b\\\\" "say \\"hi\\"" plain ""</Arguments>'), text);
});

Deno.test("dataFolderOf() reads the data folder of every kind of definition, and of no other file", () => {
  for (const workingDirectory of ["/home/me/my data", 'C:\\a "b"\\', "/a--b---c/-->"]) {
    for (const text of [systemdUnit, launchdPlist, windowsTask]) {
      assert.equal(dataFolderOf(text({ ...DEFINITION, workingDirectory })), workingDirectory);
    }
  }
  assert.equal(dataFolderOf("[Service]\nExecStart=/bin/true\n"), undefined);
  assert.doesNotMatch(
    launchdPlist({ ...DEFINITION, workingDirectory: "/a--b" }),
    /<!--.*a--b.*-->/,
  );
});

async function hasSystemdAnalyze(): Promise<boolean> {
  try {
    return (await new Deno.Command("systemd-analyze", { args: ["--version"] }).output()).success;
  } catch {
    return false;
  }
}
