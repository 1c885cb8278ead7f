import assert from "node:assert/strict";
import { join } from "@std/path";
import { cliCommand, TestCli } from "./cli.ts";
import { choosingModel, type ChoosingModelOptions } from "./fixtures/choosing_model.ts";
import { LIBRARY_WRITES } from "./fixtures/library_prompts.ts";
import { libraryCalls, libraryServer } from "./fixtures/library_server.ts";
import { startModelStandIn } from "./fixtures/model_stand_in.ts";
import type { WriterTable } from "./fixtures/writing_model.ts";
import { startGateway, until } from "./gateway.ts";
import { openTerminal, shellWord } from "./terminal.ts";

const BETTER = "Searches the catalog for books by title, author or subject, and novels to read. " +
  "Not for loans, due days or opening hours.";

const WRITES: WriterTable = {
  ...LIBRARY_WRITES,
  find_books: {
    ...LIBRARY_WRITES.find_books,
    candidates: [BETTER, "Handles books."].map((description) => ({ description })),
  },
};

/** A gateway with a library, and a model of our own that it asks. */
async function startLibrary(cli: TestCli, options: ChoosingModelOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const model = choosingModel({ writes: WRITES, ...options });
  const standIn = stack.use(startModelStandIn(model.script));
  const calls = join(cli.project, "calls.txt");
  const { DENO_DIR = "" } = cli.settings.env;
  const library = { ...libraryServer(calls), env: { DENO_DIR } };
  await cli.write(join(cli.project, ".mcp.json"), { mcpServers: { library } });
  const flags = ["--evaluator", "messages-api", "--enable-optimization"];
  const keys = { ANTHROPIC_BASE_URL: standIn.url, ANTHROPIC_API_KEY: "any" };
  const env = { ...cli.gateway.env, ...keys };
  const gateway = stack.use(await startGateway(flags, { ...cli.gateway, env }));
  await until(async () => {
    const { server } = await (await fetch(`${gateway.url}/api/servers/library`)).json();
    return server?.state === "ready" || undefined;
  });
  const opened = stack.move();
  return {
    model,
    calls: () => libraryCalls(calls),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The command line as a program that can be interrupted. */
function spawn(cli: TestCli, ...args: string[]) {
  const child = new Deno.Command(Deno.execPath(), {
    ...cli.settings,
    args: [...cliCommand(), "optimize", ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let err = "";
  let out = "";
  const reading = Promise.all([
    (async () => {
      for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) err += text;
    })(),
    (async () => {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) out += text;
    })(),
  ]);
  return {
    says: (pattern: RegExp) => until(() => pattern.exec(err) ?? undefined),
    interrupt: () => child.kill("SIGINT"),
    async ended() {
      const { code } = await child.status;
      await reading;
      return { code, out, err };
    },
  };
}

Deno.test("optimize run measures, promotes and says what came of it", async (t) => {
  await TestCli.use(async (cli) => {
    await using library = await startLibrary(cli);
    const optimize = (...args: string[]) => cli.ok("optimize", ...args);

    await t.step("run goes from an estimate to a promotion", async () => {
      const words = ["optimize", "run", "library.find_books", "--candidates", "1"];
      // Nobody can be asked here.
      await cli.fails(2, /optimize run requires confirmation; pass --yes/, ...words);
      assert.deepEqual(library.model.seen, []);
      const { code, out, err } = await cli.run([...words, "--yes"]);
      assert.equal(code, 0, out + err);
      assert.match(
        out,
        /^1 tool, about .*: can find gains of \d+ points or more with 240 prompts; candidates written in up to 3 rounds; usually about \d+ runs/,
      );
      assert.match(out, /\n✓ library\.find_books {2}\S/);
      assert.match(out, /\nJob \S+ has completed: 1 of 1 tool done, 1 promoted, \d+ runs/);
      assert.match(out, /until it restarts/);
      assert.match(err, /library\.find_books/);
      // deno-lint-ignore no-control-regex
      assert.doesNotMatch(out + err, /\x1b|\r/, "for terminals only");
      const asked = library.model.seen.flatMap(({ descriptions }) => Object.values(descriptions));
      assert.ok(asked.includes(BETTER), "the model was never shown the candidate");
    });

    await t.step("status, show, report and jobs have the numbers", async () => {
      const status = await optimize("status");
      assert.match(status, /library: 1 of 5 tools optimized/);
      assert.match(
        status,
        /library\.find_books +optimized( +100 %){4} +\+\d+ \(\d+ to \d+\) +\d+ +thorough/,
      );
      const shown = await optimize("show", "library.find_books");
      assert.match(shown, /Before and after \(thorough evidence, \d+ prompts: \d+ direct, /);
      assert.match(
        shown,
        /Direct +0\/(\d+) \(0 %, 95 % .* -> +\1\/\1 .*\+100 points \(95 % interval \d+ to \d+\)\n/,
      );
      assert.match(shown, /Direct \(\d+\)\n +\S+ +\S/);
      assert.match(await optimize("report"), /find_books/);
      const { jobs: [job] } = await cli.json("optimize", "jobs");
      assert.equal(job.status, "completed");
      assert.match(await optimize("jobs"), new RegExp(`${job.id} +completed .* thorough +1/1 +1 `));
      assert.match(await optimize("jobs", job.id), /✓ library\.find_books[^]*has completed/);
      await cli.fails(1, /./, "optimize", "pause", job.id);
    });

    await t.step("evaluate compares one candidate, and promotes nothing", async () => {
      const proposal = ["library.find_books", "--description", "Handles something."];
      const { candidate } = await cli.json("optimize", "propose", ...proposal);
      const quick = ["evaluate", "library.find_books", candidate.id, "--depth", "quick", "--yes"];
      const out = await optimize(...quick);
      assert.match(out, /has completed: 1 of 1 tool done, 0 promoted/);
      assert.match(out, /quick evidence, \d+ prompts: [^]*Overall +\d+\/\d+ .* -> /);
      assert.match(out, /\nDo not promote: [^]*\n {2}✗ /);
      const { job, candidates } = await cli.json("optimize", ...quick);
      const tested = candidates.map(({ candidateId }: { candidateId: string }) => candidateId);
      assert.deepEqual([job.status, tested], ["completed", ["canonical", candidate.id]]);
      const refused = ["optimize", "promote", "library.find_books", candidate.id];
      await cli.fails(1, /Cannot promote[^]*Promote it anyway with .* --reason/, ...refused);
      const unknown = ["optimize", "evaluate", "library.find_books", "cand_none", "--yes"];
      await cli.fails(
        1,
        /There is no candidate "cand_none" for server "library"/,
        ...unknown,
      );
    });

    await t.step(
      "what is no better than the promoted description does not replace it",
      async () => {
        const proposal = ["library.find_books", "--description", `${BETTER} Thanks.`];
        const { candidate } = await cli.json("optimize", "propose", ...proposal);
        const quick = ["evaluate", "library.find_books", candidate.id, "--depth", "quick", "--yes"];
        assert.match(await optimize(...quick), /Do not promote: overall .* of the promoted one/);
        const promoting = ["optimize", "promote", "library.find_books", candidate.id];
        await cli.fails(
          1,
          /of the promoted one[^]*Promote it anyway with .* --reason/,
          ...promoting,
        );
      },
    );

    await t.step("a job that could test nothing is not listed as done", async () => {
      const words = ["run", "library.list_loans", "--depth", "quick", "--yes"];
      const { code, out } = await cli.run(["optimize", ...words]);
      assert.equal(code, 1, out);
      assert.match(out, /\n✗ library\.list_loans {2}\S/);
      assert.match(out, /\nJob \S+ has completed \(nothing could be tested\): 0 of 1 tool done/);
      const [, newest] = (await optimize("jobs")).split("\n");
      assert.match(newest!, /^\S+ +nothing could be tested .* 0\/1 .* Cannot \S/);
    });

    assert.deepEqual(await library.calls(), [], "a tool was really called");
  });
});

Deno.test("Ctrl-C pauses a job, which is then resumed, followed or cancelled", async (t) => {
  await TestCli.use(async (cli) => {
    // The model answers no prompt until it is let go.
    let gate = Promise.withResolvers<void>();
    const hold = () => gate = Promise.withResolvers<void>();
    const free = () => gate.resolve();
    await using library = await startLibrary(cli, {
      onRequest: ({ isWriting }) => isWriting ? undefined : gate.promise,
    });
    try {
      const words = ["library.find_books", "--candidates", "1", "--yes"];
      let id = "";

      await t.step("it asks the gateway to pause, and says how to go on", async () => {
        const run = spawn(cli, "run", ...words);
        await run.says(/Testing/);
        run.interrupt();
        const { code, err } = await run.ended();
        assert.equal(code, 130, err);
        const [, found = ""] = /Job (\S+) is paused/.exec(err) ?? [];
        assert.match(err, new RegExp(`optimize resume ${found}\`[^]*optimize cancel ${found}\``));
        id = found;
        const { job } = await cli.json("optimize", "jobs", id);
        assert.equal(job.status, "paused");
      });

      await t.step("resume and --follow bring it to its end", async () => {
        assert.match(await cli.ok("optimize", "resume", id), /is running.*[^]*Check job/);
        const following = spawn(cli, "jobs", id, "--follow");
        await following.says(/Testing/);
        free();
        const { code, out, err } = await following.ended();
        assert.equal(code, 0, err);
        assert.match(out, /✓ library\.find_books[^]*has completed: 1 of 1 tool done, 1 promoted/);
      });

      await t.step("--detach returns at once, and cancel ends it", async () => {
        hold();
        const { job } = await cli.json("optimize", "run", ...words, "--detach");
        const cancelled = await cli.ok("optimize", "cancel", job.id);
        assert.match(cancelled, new RegExp(`^Job ${job.id} was cancelled`));
        const { code, out } = await cli.run(["optimize", "jobs", job.id, "--follow"]);
        assert.deepEqual([code, /was cancelled/.test(out)], [1, true]);
      });
    } finally {
      free();
    }
    assert.deepEqual(await library.calls(), [], "a tool was really called");
  });
});

Deno.test("on a terminal a job is agreed to, and Ctrl-C asks whether to cancel it", async (t) => {
  await TestCli.use(async (cli) => {
    const gate = Promise.withResolvers<void>();
    await using _ = await startLibrary(cli, {
      onRequest: ({ isWriting }) => isWriting ? undefined : gate.promise,
    });
    const open = (...args: string[]) => {
      const words = [Deno.execPath(), ...cliCommand(), "optimize", ...args];
      const { cwd, env } = cli.settings;
      return openTerminal(words.map(shellWord).join(" "), { cwd, env, clearEnv: true });
    };
    try {
      await t.step(
        "the estimate comes before the question; the job may be left running",
        async () => {
          await using terminal = open("run", "library.find_books", "--candidates", "1");
          await terminal.shows(
            /1 tool, about .*: can find gains [^]*Start the job\? It spends model time/,
          );
          await terminal.type("y");
          await terminal.shows(/Testing/);
          await terminal.interrupt();
          await terminal.shows(/Cancel job \S+\? Otherwise it keeps running/);
          await terminal.type("n");
          assert.equal((await terminal.ended()).code, 130, terminal.text());
          assert.match(terminal.text(), /Check job \S+ again with `quartermaster optimize jobs/);
        },
      );
      const { jobs: [job] } = await cli.json("optimize", "jobs");
      assert.equal(job.status, "running");

      await t.step("a second Ctrl-C leaves it running too", async () => {
        await using terminal = open("jobs", job.id, "--follow");
        await terminal.shows(/Testing/);
        await terminal.interrupt();
        await terminal.shows(/Cancel job/);
        await terminal.interrupt();
        assert.equal((await terminal.ended()).code, 130, terminal.text());
        assert.match(terminal.text(), /Check job \S+ again with `quartermaster optimize jobs/);
      });

      await t.step("or cancelled", async () => {
        await using terminal = open("jobs", job.id, "--follow");
        await terminal.shows(/Testing/);
        await terminal.interrupt();
        await terminal.shows(/Cancel job/);
        await terminal.type("y");
        assert.equal((await terminal.ended()).code, 130, terminal.text());
        assert.match(terminal.text(), /was cancelled/);
      });
    } finally {
      gate.resolve();
    }
  });
});
