import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { TestCli } from "./cli.ts";
import { startGateway, until } from "./gateway.ts";

const FIXTURE = fromFileUrl(new URL("fixtures/file_tools_server.ts", import.meta.url));
/** No model can be asked: what is tested here needs none. */
const FLAGS = ["--evaluator", "claude-cli", "--claude-path", "no-such-claude"];
const BETTER = "Shows which files have changed since the last commit; not for past commits.";

const plain = { type: "object" };
const STATUS = { name: "status", description: "Status", inputSchema: plain };
const LOG = { name: "log", description: "Log", inputSchema: plain };

/** A gateway with one server, `git`, whose tools are those of a file. */
async function startGit(cli: TestCli) {
  const list = join(cli.project, "tools.json");
  await cli.write(list, [STATUS, LOG]);
  const { DENO_DIR = "" } = cli.settings.env;
  const args = ["run", "-A", "-q", "--no-lock", FIXTURE, list];
  const git = { command: Deno.execPath(), args, env: { DENO_DIR } };
  await cli.write(join(cli.project, ".mcp.json"), { mcpServers: { git } });
  const gateway = await startGateway(FLAGS, cli.gateway);
  const described = async (tool: string): Promise<string | undefined> => {
    const answer = await (await fetch(`${gateway.url}/api/optimization/tools/git/${tool}`)).json();
    return answer.tool?.canonicalDescription;
  };
  await until(async () => await described("status") === "Status" || undefined);
  /** The server's own description becomes another one. */
  const describe = async (description: string) => {
    await cli.write(list, [{ ...STATUS, description }, LOG]);
    await cli.ok("server", "restart", "git");
    await until(async () => await described("status") === description || undefined);
  };
  return { gateway, describe, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

Deno.test("optimize keeps, promotes, shows and reverts descriptions", async (t) => {
  await TestCli.use(async (cli) => {
    await using git = await startGit(cli);
    const optimize = (...args: string[]) => cli.ok("optimize", ...args);
    const json = (...args: string[]) => cli.json("optimize", ...args);
    const fails = (code: number, message: RegExp, ...args: string[]) =>
      cli.fails(code, message, "optimize", ...args);
    let candidate = "";

    await t.step("status has a dot for every tool, and says that it is off", async () => {
      const text = await optimize("status");
      assert.match(
        text,
        /^Optimization is disabled. Enable it with `quartermaster optimize enable`/,
      );
      assert.match(text, /\ngit\.status +unoptimized\n[^]*git: 0 of 2 tools optimized\n/);
      const { enabled, reports } = await json("status", "git");
      assert.deepEqual([enabled, reports.length], [false, 1]);
      await fails(1, /There is no server "gti"[^]*Did you mean git\?/, "status", "gti");
    });

    await t.step("propose keeps a candidate by any of the tool's names", async () => {
      const { candidate: kept } = await json("propose", "git_status", "--description", BETTER);
      assert.equal(kept.charCount, BETTER.length);
      candidate = kept.id;
      const out = await optimize("propose", "git.log", "--description", "Lists past commits");
      assert.match(
        out,
        /^Saved candidate \S+ for git\.log: 18 of 280 characters\.\nEvaluate it with .*evaluate/,
      );
      const long = ["propose", "git.log", "--description", "x".repeat(295)];
      await Promise.all([
        fails(2, /Candidate exceeds 280 character limit \(got 295\)/, ...long),
        fails(2, /optimize propose requires --description/, "propose", "git.log"),
        fails(1, /Did you mean git\.status\?/, "propose", "git.statsu", "--description", "x"),
      ]);
    });

    await t.step("prompts saves those of a file, all or none, and lists them", async () => {
      const file = join(cli.project, "prompts.json");
      await cli.write(file, [
        { category: "direct", prompt: "Which files have I changed?" },
        { category: "negative", prompt: "Who made the last commit?" },
      ]);
      const saved = await optimize("prompts", "git.status", "--file", file);
      assert.match(
        saved,
        /^Saved 2 prompts for git\.status\.\nWarning: No indirect prompts defined/,
      );
      await cli.write(file, [{ category: "direct", prompt: "Short" }]);
      await fails(2, /10 to 4000 characters/, "prompts", "git.status", "--file", file);
      await cli.write(file, [{ prompt: "Which files have I changed?" }]);
      await fails(2, /prompts\.0\.category: /, "prompts", "git.status", "--file", file);
      const listed = await optimize("prompts", "git.status");
      assert.match(listed, /Direct \(1\)\n +- +\S+ +Which files have I changed\?\n/);
      assert.match(listed, /Negative \(1\)\n/);
      assert.equal((await json("prompts", "git.status", "--list")).prompts.length, 2);
    });

    await t.step("one prompt is edited, and one is retired", async () => {
      const { prompts } = await json("prompts", "git.status", "--list");
      const [direct, negative] = prompts;
      const text = "Which files have I edited?";
      const edited = await optimize("edit-prompt", "git.status", direct.id, "--prompt", text);
      assert.match(edited, /^Saved \S+ as version 2\.\n$/);
      const expected = ["--expected", '{"expectedTool":"log"}'];
      await optimize("edit-prompt", "git.status", negative.id, ...expected);
      await optimize("edit-prompt", "git.status", direct.id, "--prompt", direct.prompt);
      const file = join(cli.project, "more.json");
      await cli.write(file, [{ category: "direct", prompt: "Is anything staged right now?" }]);
      const more = await json("prompts", "git.status", "--file", file, "--mode", "merge");
      const out = await optimize("retire-prompt", "git.status", more.prompts[0].id);
      assert.match(out, /^Retired \S+\.\n$/);
      const { prompts: left } = await json("prompts", "git.status", "--list");
      assert.deepEqual(
        left.map(({ prompt, version }: typeof direct) => [prompt, version]),
        [[direct.prompt, 3], [negative.prompt, 2]],
      );
      assert.equal(left[1].expectedBehavior.expectedTool, "log");
      await fails(1, /no prompt "none"/i, "retire-prompt", "git.status", "none");
    });

    await t.step("record takes what a person saw; complete reports are evidence", async () => {
      const { prompts } = await json("prompts", "git.status", "--list");
      const record = (candidate: string, id: string, called: boolean) =>
        json("record", "git.status", candidate, id, called ? "--called" : "--not-called");
      for (const { id, category } of prompts) {
        const { correct } = await record("canonical", id, true);
        assert.equal(correct, category === "direct");
      }
      const usage = /either --called or --not-called/;
      await fails(2, usage, "record", "git.status", candidate, prompts[0].id);
      await fails(
        1,
        /There is no prompt "none"/i,
        "record",
        "git.status",
        candidate,
        "none",
        "--called",
      );
    });

    await t.step("promote against the evidence needs a reason, which is kept", async () => {
      const refused =
        /Cannot promote[^]*Promote it anyway with `.* promote git\.status \S+ --reason/;
      await fails(1, refused, "promote", "git.status", candidate);
      const reason = ["--reason", "Our people ask so"];
      const out = await optimize("promote", "git.status", candidate, ...reason);
      assert.match(out, /^Promoted \S+ for git\.status \(75 characters\): Shows which/);
      assert.match(out, /until it restarts/);
      const shown = await optimize("show", "git.status");
      assert.match(shown, /^git\.status {2}optimized, promoted .* by a person\n/);
      assert.match(shown, /Canonical description \(6 characters\):\n {2}Status\n/);
      assert.match(shown, /Optimized description, \S+ \(75 characters\):\n {2}Shows which files/);
      assert.match(shown, /Reason: Our people ask so\n/);
      assert.match(
        await optimize("status"),
        /git\.status +optimized\n[^]*git: 1 of 2 tools optimized/,
      );
      assert.match(await cli.ok("tools", "show", "git.status"), /Shows which files have changed/);
      await fails(1, /There is no candidate "none"/, "promote", "git.status", "none");
      await fails(2, /optimize promote requires CANDIDATE/, "promote", "git.status");
    });

    await t.step("a description that changes underneath is shown, and kept", async () => {
      await git.describe("Status of the files");
      const stale = await optimize("show", "git.status");
      assert.match(stale, /Warning: .*\n {2}was: Status\n {2}is: {2}Status of the files\n/);
      assert.match(await optimize("keep", "git.status"), /^git\.status keeps /);
      assert.doesNotMatch(await optimize("show", "git.status"), / {2}was: Status\n/);
    });

    await t.step("revert and history", async () => {
      assert.match(
        await optimize("revert", "git.status", "--reason", "A try"),
        /^git\.status is back to the server's own description\.\n/,
      );
      const { history } = await json("history", "git.status");
      const actions = history.map(({ action }: { action: string }) => action);
      assert.deepEqual(actions, ["revert", "keep", "promote"]);
      const text = await optimize("history", "git.status");
      assert.match(text, /revert .*\n {2}the canonical description\n {2}because: A try\n/);
      assert.match(text, /promote [^]*because: Our people ask so\n/);
      const { promotion } = await json("revert", "git.status", "--to", history[2].id);
      assert.equal(promotion.candidateId, candidate);
      await fails(1, /no such step/, "revert", "git.status", "--to", "none");
      await fails(1, /nothing is promoted/, "revert", "git.log");
      assert.match(await optimize("history", "git.log"), /^Nothing has been promoted/);
    });

    await t.step("report is printed or written in three formats", async () => {
      assert.match(await optimize("report"), /^# /);
      assert.match(await optimize("report", "--format", "csv"), /git,status/);
      assert.equal((await json("report", "--server", "git")).reports[0].optimizedCount, 1);
      const file = join(cli.project, "report.md");
      assert.match(await optimize("report", "--output", file), /^Wrote /);
      assert.equal(await Deno.readTextFile(file), await optimize("report"));
      await fails(2, /overwrite it with --force/, "report", "--output", file);
      await fails(2, /format: Invalid option: .*"markdown"/, "report", "--format", "xml");
    });

    await t.step(
      "what spends model time says how to switch it on, then what is missing",
      async () => {
        const off = /switched off|Optimization is off|optimize enable/;
        await fails(1, off, "generate", "git.status");
        await fails(1, off, "run", "git.status", "--yes");
        assert.match(await optimize("enable"), /^Optimization is on/);
        await fails(1, /Cannot generate: /, "generate", "git.status", "--candidates", "2");
        await fails(1, /Cannot evaluate: /, "run", "git", "--yes");
        const evaluate = ["optimize", "evaluate", "git.status", candidate];
        const { code, out, err } = await cli.run([...evaluate, "--yes"]);
        assert.deepEqual([code, out], [1, ""], "an estimate of what cannot be started");
        assert.match(err, /Cannot evaluate: [^]* npm install -g/);
        assert.doesNotMatch(err, /record_eval_run/, "the name of a tool for models");
        await cli.fails(2, /requires confirmation; pass --yes/, ...evaluate);
        const [unprompted] = (await json("show", "git.log")).tool.candidates;
        const missing = /git\.log: the tool has no golden prompts[^]*prompts git\.log --file FILE/;
        const quick = ["evaluate", "git.log", unprompted.id, "--depth", "quick", "--yes"];
        await fails(1, missing, ...quick);
        assert.deepEqual(await json("disable"), { enabled: false });
      },
    );

    await t.step("jobs that are not there, and arguments that do not fit", async () => {
      assert.match(await optimize("jobs"), /^There are no jobs/);
      assert.deepEqual(await json("jobs"), { jobs: [] });
      const wrong: [number, RegExp, string[]][] = [
        [1, /job_none/, ["jobs", "job_none"]],
        [1, /job_none/, ["pause", "job_none"]],
        [1, /job_none/, ["cancel", "job_none"]],
        [1, /optimize enable/, ["retry", "job_none"]],
        [1, /optimize enable/, ["resume", "job_none"]],
        [2, /optimize pause requires JOB/, ["pause"]],
        [2, /optimize jobs cannot use --follow in this form/, ["jobs", "--follow"]],
        [2, /candidatesPerTool: Too big/, ["run", "git", "--candidates", "11"]],
        [2, /optimize run does not take --limit/, ["run", "git", "--limit", "3"]],
        [2, /Did you mean optimize promote\?/, ["promot"]],
      ];
      await Promise.all(wrong.map(([code, message, args]) => fails(code, message, ...args)));
    });
  });
});

Deno.test("optimize reads without a gateway, and says that jobs need one", async () => {
  await TestCli.use(async (cli) => {
    const needsOne = /No gateway is running on [^]*Start one with `quartermaster start`/;
    await cli.fails(1, needsOne, "optimize", "run", "--all", "--yes");
    await cli.fails(1, needsOne, "optimize", "jobs", "job_1", "--follow");
    await cli.fails(1, /There is no server "git"/, "optimize", "show", "git.status");
    await cli.fails(1, /There is no server "git"/, "optimize", "history", "git.status");
    assert.match(await cli.ok("optimize", "enable"), /No gateway is running/);
    assert.match(await cli.ok("optimize", "status"), /No gateway is running/);
    assert.deepEqual((await cli.json("optimize", "jobs")).jobs, []);
    assert.deepEqual((await cli.json("review", "list")).items, []);
    assert.match(await cli.ok("optimize", "report"), /^# /);
    const help = await cli.ok("optimize", "--help");
    assert.match(help, /optimize run \[TOOL\.\.\.\] \[OPTIONS\]/);
    assert.match(await cli.ok("optimize", "run", "--help"), /--max-cost USD +Maximum cost/);
  });
});
