import assert from "node:assert/strict";
import { TestCli } from "./cli.ts";
import { canTry } from "./installed.ts";

Deno.test({
  name: "completions: bash offers commands, flags and names",
  ignore: !await canTry("bash"),
  async fn() {
    await TestCli.use(async (cli) => {
      await cli.ok("server", "add", "files", ...cli.programWords());
      const script = await cli.ok("completions", "bash");
      const lines = [
        ["serv"],
        ["server", "re"],
        ["server", "restart", ""],
        ["tools", "call", "files.e"],
        ["connect", "cursor", "--sc"],
        ["connect", "cursor", "--scope", ""],
        ["connect", "claude"],
        ["server", "restart", "zzz"],
      ];
      const asks = lines.map((words) => {
        const quoted = words.map((word) => `'${word}'`).join(" ");
        return `COMP_WORDS=(quartermaster ${quoted}); COMP_CWORD=${words.length}; ` +
          '_quartermaster; echo "> ${COMPREPLY[*]}"';
      });
      const { stdout, stderr } = await new Deno.Command("bash", {
        ...cli.settings,
        args: ["--norc", "-c", [script, ...asks, "quartermaster --version"].join("\n")],
        stdin: "null",
      }).output();
      const out = new TextDecoder().decode(stdout);
      assert.deepEqual(
        out.trim().split("\n").map((line) => line.replace(/ [\d.]+$/, "").trim()),
        [
          "> server service",
          "> remove restart resume repair",
          "> files",
          "> files.echo files.env",
          "> --scope",
          "> user project",
          "> claude-code claude-desktop",
          ">",
          "quartermaster",
        ],
        new TextDecoder().decode(stderr),
      );
    });
  },
});

for (const shell of ["zsh", "fish"]) {
  Deno.test({
    name: `completions: ${shell} takes the script`,
    ignore: !await canTry(shell),
    async fn() {
      await TestCli.use(async (cli) => {
        const script = await cli.ok("completions", shell);
        const start = shell === "zsh" ? "autoload -Uz compinit && compinit -u\n" : "";
        // In zsh only the line editor of a terminal completes.
        const ask = shell === "zsh"
          ? "quartermaster complete -- quartermaster serv"
          : "complete -C 'quartermaster serv'";
        const { success, stdout, stderr } = await new Deno.Command(shell, {
          ...cli.settings,
          args: ["-c", `${start}${script}\n${ask}`],
          stdin: "null",
        }).output();
        assert.ok(success, new TextDecoder().decode(stderr));
        assert.match(new TextDecoder().decode(stdout), /^server\t/);
      });
    },
  });
}

Deno.test("completions says which shells there are; complete never fails", async () => {
  await TestCli.use(async (cli) => {
    await cli.fails(2, /Did you mean bash\?/, "completions", "bsh");
    await cli.fails(2, /completions requires SHELL/, "completions");
    assert.match(await cli.ok("completions", "zsh"), /^#compdef quartermaster\n/);
    assert.match(await cli.ok("completions", "fish"), /complete -c quartermaster/);
    assert.doesNotMatch(await cli.ok("--help"), /^ {2}complete /m);
    const kv = ["--kv", cli.dataDir];
    assert.equal(await cli.ok("complete", "--", "quartermaster", ...kv, "server", "logs", ""), "");
  });
});
