import assert from "node:assert/strict";
import { join } from "@std/path";
import { TestCli } from "./cli.ts";
import { choosingModel } from "./fixtures/choosing_model.ts";
import { libraryCalls, libraryServer } from "./fixtures/library_server.ts";
import { startModelStandIn } from "./fixtures/model_stand_in.ts";
import { startGateway, until } from "./gateway.ts";
import { GOOD, PROMPTS } from "./optimization.ts";

/** A gateway with a library, and a model that chooses tools by their descriptions. */
async function startLibrary(cli: TestCli) {
  await using stack = new AsyncDisposableStack();
  const model = choosingModel();
  const standIn = stack.use(startModelStandIn(model.script));
  const calls = join(cli.project, "calls.txt");
  const { DENO_DIR = "" } = cli.settings.env;
  const library = { ...libraryServer(calls), env: { DENO_DIR } };
  await cli.write(join(cli.project, ".mcp.json"), { mcpServers: { library } });
  const env = {
    ...cli.gateway.env,
    ANTHROPIC_BASE_URL: standIn.url,
    ANTHROPIC_API_KEY: "any",
  };
  const flags = ["--evaluator", "messages-api", "--enable-optimization"];
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

Deno.test("optimize check says by its exit code and in JUnit whether descriptions hold", async () => {
  await TestCli.use(async (cli) => {
    await using library = await startLibrary(cli);
    const tool = "library.find_books";
    const junit = join(cli.project, "report.xml");
    const check = (...args: string[]) =>
      cli.run(["optimize", "check", ...args, "--yes", "--junit", junit]);
    await cli.fails(2, /have no golden prompts/, "optimize", "check", tool, "--yes");
    await cli.fails(2, /no such tool|not found/, "optimize", "check", "library.none", "--yes");

    const prompts = PROMPTS.map(({ category, prompt, expectedTool }) => ({
      category,
      prompt,
      ...(expectedTool === undefined ? {} : { expectedBehavior: { expectedTool } }),
    }));
    await cli.write(join(cli.project, "prompts.json"), prompts);
    await cli.ok("optimize", "prompts", tool, "--file", "prompts.json");
    const below = await check("library");
    assert.equal(below.code, 1, below.out + below.err);
    assert.match(below.out, /BELOW THRESHOLD {2}library\.find_books\n {2}overall 2\/6 /);
    assert.match(below.out, /expected find_books, called none/);
    assert.match(below.out, /1 below the threshold, \d+ without prompts\n$/);
    assert.match(
      await Deno.readTextFile(junit),
      /<testcase classname="library.find_books" name="overall"[^>]*>\n\s+<failure /,
    );
    const asked = library.model.seen.length;
    assert.equal(asked, PROMPTS.length, "one run for each prompt, with one description");

    const { candidateId } = await cli.json("optimize", "propose", tool, "--description", GOOD);
    await cli.ok("optimize", "promote", tool, candidateId, "--reason", "It says more");
    const { code, out } = await check(tool, "--json");
    assert.equal(code, 0, out);
    const { check: report } = JSON.parse(out);
    assert.deepEqual([report.passed, report.tools[0].candidateId], [1, candidateId]);
    assert.match(await Deno.readTextFile(junit), /failures="0" errors="0"/);
    const strict = await check(tool, "--threshold", "100", "--negative", "100", "--max-runs", "2");
    assert.equal(strict.code, 2, strict.out + strict.err);
    assert.match(strict.out, /COULD NOT RUN .*\n {2}only 2 of 6 runs were made/);

    // What a client's model is shown, and what counts, are the caller's to say.
    const counted = await check(tool, "--strict");
    assert.match(counted.out, /\nOK {2}library\.find_books, promoted .*, strict scoring\n/);
    const deferred = await check(tool, "--view", "deferred");
    assert.deepEqual([deferred.code, deferred.out], [2, ""]);
    assert.match(deferred.err, /Cannot evaluate deferred tools with messages-api/);
    const searched = await check(tool, "--surface", "discovery");
    assert.match(searched.err, /Cannot evaluate discovery with messages-api/);
    const nothing = await check(tool, "--surface", "equipped");
    assert.match(nothing.err, /no toolset is equipped/);

    // What is kept in git comes back as it was.
    await cli.ok("optimize", "export", "--output", "kept.json");
    const kept = await Deno.readTextFile(join(cli.project, "kept.json"));
    assert.match(await cli.ok("optimize", "import", "kept.json"), /^Nothing new in 1 tool\./);
    const [first] = JSON.parse(kept).tools[0].prompts;
    await cli.write(join(cli.project, "edited.json"), {
      ...JSON.parse(kept),
      tools: [{ ...JSON.parse(kept).tools[0], prompts: [first], evaluations: [], candidates: [] }],
    });
    const replace = ["optimize", "import", "edited.json", "--mode", "replace"];
    assert.match(await cli.ok(...replace, "--dry-run"), /Would retire 5 prompts/);
    assert.equal(await cli.ok("optimize", "export"), kept);
    assert.match(await cli.ok(...replace), /Retired 5 prompts/);
    assert.notEqual(await cli.ok("optimize", "export"), kept);

    // A list of prompts can be given to another tool.
    const listed = await cli.ok("optimize", "prompts", tool, "--json");
    await Deno.writeTextFile(join(cli.project, "listed.json"), listed);
    await cli.ok("optimize", "prompts", "library.list_loans", "--file", "listed.json");

    assert.match(
      await cli.ok("optimize", "patch", tool),
      /^# Improve the description of `find_books`/,
    );
    const { tool: { canonicalDescription } } = await cli.json("optimize", "show", tool);
    const source = `tool(\n  "find_books",\n  ${JSON.stringify(canonicalDescription)},\n);\n`;
    await Deno.writeTextFile(join(cli.project, "server.ts"), source);
    const diff = await cli.ok("optimize", "patch", tool, "--file", "server.ts");
    assert.match(diff, /^--- a\/server\.ts\n\+\+\+ b\/server\.ts\n@@ -1,4 \+1,4 @@\n/);
    assert.ok(diff.includes(`+  ${JSON.stringify(GOOD)},\n`), diff);
    assert.deepEqual(await library.calls(), [], "no tool of the server was called");
  });
});
