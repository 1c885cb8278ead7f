import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { isGroupAlive } from "../../servers/processes/process_group.ts";
import type { Observation, RunRequest, ShownTool } from "./evaluator.ts";
import { claudeCliEvaluator, type ClaudeCliOptions, claudeCliText } from "./claude_cli.ts";
import { fakeClaude, init, printing, result, said, text, toolUse } from "./testing/fake_claude.ts";

const TOKEN = "one-time-token-1";
const KEY = "sk-secret-of-the-gateway";
const tools: ShownTool[] = ["git_find", "git_log"].map((name) => ({
  name,
  server: "git",
  tool: name.slice("git_".length),
  text: JSON.stringify({ name, inputSchema: { type: "object" } }),
}));

class Endpoints {
  opened = 0;
  closed = 0;

  readonly open = () => {
    this.opened++;
    const url = "http://127.0.0.1:9/evals/1/mcp";
    return Promise.resolve({
      url,
      token: TOKEN,
      [Symbol.asyncDispose]: () => {
        this.closed++;
        return Promise.resolve();
      },
    });
  };
}

function options(path: string, more: Partial<ClaudeCliOptions> = {}): ClaudeCliOptions {
  const env = { PATH: Deno.env.get("PATH") ?? "", ANTHROPIC_API_KEY: KEY };
  return {
    path,
    model: "haiku",
    timeoutMs: 20_000,
    env,
    openEndpoint: new Endpoints().open,
    ...more,
  };
}

/** What is observed of a script in the CLI's place. */
async function observe(
  script: string,
  { request, ...more }: Partial<ClaudeCliOptions> & { request?: Partial<RunRequest> } = {},
): Promise<Observation> {
  await using fake = await fakeClaude(script);
  const evaluator = claudeCliEvaluator(options(fake.path, more));
  const signal = new AbortController().signal;
  return await evaluator.run({ prompt: "Find it", tools, target: "git_find", signal, ...request });
}

async function reasonOf(script: string, more: Partial<ClaudeCliOptions> = {}) {
  const seen = await observe(script, more);
  assert.ok(seen.status === "error", JSON.stringify(seen));
  return seen;
}

const ready = init(["git_find", "git_log"]);

Deno.test("claudeCliEvaluator.run() gives calls, words, cost and model", async () => {
  const seen = await observe(printing(
    ready,
    said("m1", text("I look")),
    said("m1", toolUse("mcp__tools__git_find", { a: 1 })),
    result(),
  ));
  assert.ok(seen.status === "ok", JSON.stringify(seen));
  assert.deepEqual({ ...seen, durationMs: 0 }, {
    status: "ok",
    calls: [{ name: "git_find", arguments: { a: 1 } }],
    reasoning: "I look",
    durationMs: 0,
    cost: { inputTokens: 321, outputTokens: 4, costUsd: 0.25 },
    model: "claude-x",
  });
});

Deno.test("claudeCliEvaluator.run() starts the CLI so that it measures descriptions", async () => {
  const endpoints = new Endpoints();
  await using fake = await fakeClaude(
    `for a in "$@"; do echo "$a" >> "$FOLDER/args"; done
cat > "$FOLDER/input"
while [ "$1" != --mcp-config ]; do shift; done; cp "$2" "$FOLDER/config"
${printing(ready, said("m1", text("No")), result())}`,
  );
  const evaluator = claudeCliEvaluator(options(fake.path, { openEndpoint: endpoints.open }));
  const { signal } = new AbortController();
  const seen = await evaluator.run({ prompt: "-p --x", tools, target: "git_find", signal });
  assert.equal(seen.status, "ok");
  const read = (name: string) => Deno.readTextFile(`${fake.folder}/${name}`);
  const args = (await read("args")).split("\n").slice(0, -1);
  const config = args[5];
  assert.deepEqual(args, [
    ...["-p", "--output-format", "stream-json", "--verbose", "--mcp-config", config],
    ...["--strict-mcp-config", "--tools", "", "--setting-sources", "", "--no-session-persistence"],
    ...["--model", "haiku", "--permission-mode", "dontAsk", "--max-turns", "1"],
  ]);
  assert.equal(await read("input"), "-p --x");
  assert.deepEqual(JSON.parse(await read("config")), {
    mcpServers: {
      tools: {
        type: "http",
        url: "http://127.0.0.1:9/evals/1/mcp",
        headers: { Authorization: `Bearer ${TOKEN}` },
      },
    },
  });
  assert.deepEqual([endpoints.opened, endpoints.closed], [1, 1]);
});

Deno.test("claudeCliEvaluator.run() never lets a prompt be a command of the CLI", async () => {
  const answer = printing(ready, said("m1", text("No")), result());
  const script = `[ "$(cat)" = " /compact" ] || exit 1\n${answer}`;
  assert.equal((await observe(script, { request: { prompt: "/compact" } })).status, "ok");
});

Deno.test("claudeCliEvaluator.run() has an error where the tools were not there", async () => {
  const rest = [said("m1", text("No tool fits")), result()];
  const failed = await reasonOf(printing(init(["git_find"], "failed"), ...rest));
  assert.match(failed.reason, /could not connect .* "failed"/);
  const other = await reasonOf(printing(init(["git_log"]), ...rest));
  assert.match(other.reason, /did not load the tool "git_find" \(tools loaded: 1\)/);
  const none = await reasonOf(printing(...rest));
  assert.match(none.reason, /did not report which tools/);
  const unknown = await reasonOf(printing({ ...ready, mcp_servers: [] }, ...rest));
  assert.match(unknown.reason, /"missing"/);
});

Deno.test("claudeCliEvaluator.run() does not pay for a model where the tools are not there", async () => {
  await using fake = await fakeClaude(
    `echo $$ > "$FOLDER/pid"\n${printing(init([], "failed"))}\nsleep 300`,
  );
  const evaluator = claudeCliEvaluator(options(fake.path));
  const { signal } = new AbortController();
  const seen = await evaluator.run({ prompt: "Find it", tools, target: "git_find", signal });
  assert.ok(seen.status === "error");
  assert.match(seen.reason, /could not connect/);
  assert.equal(await isGroupAlive(Number(await Deno.readTextFile(`${fake.folder}/pid`))), false);
});

Deno.test("claudeCliEvaluator.run() never takes an API error for a choice", async () => {
  const failing = (more: object) => printing(ready, result({ is_error: true, ...more }));
  const busy = await reasonOf(failing({ api_error_status: 529, result: "API Error: 529 busy" }));
  assert.match(busy.reason, /API failed: API Error: 529 busy/);
  assert.deepEqual([busy.isLasting, busy.cost.costUsd], [false, 0.25]);
  const unknown = await reasonOf(failing({ api_error_status: 404, result: "No such model" }));
  assert.equal(unknown.isLasting, true);
  assert.ok(!unknown.isGeneral, "another request may go well");
  const broke = await reasonOf(failing({ result: "Credit balance is too low" }));
  assert.deepEqual([broke.isLasting, broke.isGeneral], [true, true]);
  for (
    const more of [
      { api_error_status: 401, result: "Failed to authenticate" },
      { result: "Not logged in · Please run /login" },
    ]
  ) {
    const { reason, isLasting, isGeneral } = await reasonOf(failing(more));
    assert.match(reason, /ANTHROPIC_API_KEY.*CLAUDE_CODE_OAUTH_TOKEN.*claude setup-token/);
    assert.deepEqual([isLasting, isGeneral], [true, true]);
  }
  const turns = await reasonOf(printing(
    ready,
    said("m1", toolUse("mcp__tools__git_find")),
    result({ subtype: "error_during_execution", result: undefined }),
  ));
  assert.match(turns.reason, /error_during_execution/);
});

Deno.test("claudeCliEvaluator.run() never takes the CLI's own words or a refusal for a choice", async () => {
  const own = await reasonOf(
    printing(ready, said("x", text("No messages to compact"), "<synthetic>"), result()),
  );
  assert.match(own.reason, /without asking the model: No messages to compact/);
  assert.ok(!own.isGeneral, "it is about this prompt");
  const refused = await reasonOf(
    printing(ready, said("m1", text("I won't")), result({ stop_reason: "refusal" })),
  );
  assert.match(refused.reason, /refused/);
  const cut = await reasonOf(
    printing(ready, said("m1", text("I will now")), result({ stop_reason: "max_tokens" })),
  );
  assert.match(cut.reason, /cut off before it called a tool \(max_tokens\)/);
});

Deno.test("claudeCliEvaluator.run() has an error for a crash, with no secret in it", async () => {
  const crash = `${printing(ready, said("m1", toolUse("mcp__tools__git_find")))}
echo "boom $ANTHROPIC_API_KEY ${TOKEN}" >&2; exit 3`;
  const { reason, isLasting } = await reasonOf(crash);
  assert.match(
    reason,
    /exited with code 3 and returned no result. Last output:\nboom \[redacted\] \[redacted\]/,
  );
  assert.equal(isLasting, false);
  const garbage = await reasonOf("head -c 100000 /dev/urandom");
  assert.match(garbage.reason, /exited with code 0 and returned no result/);
});

Deno.test("claudeCliEvaluator.run() has an error for a hang, after a call too", async () => {
  const retry = { type: "system", subtype: "api_retry", error_status: 529 };
  const call = said("m1", toolUse("mcp__tools__git_find"));
  const endpoints = new Endpoints();
  const hang = await reasonOf(`${printing(ready, call, retry)}\nsleep 300`, {
    timeoutMs: 1_500,
    openEndpoint: endpoints.open,
  });
  assert.match(hang.reason, /did not exit within 1500 ms; the API's last error was 529/);
  assert.deepEqual([endpoints.opened, endpoints.closed], [1, 1]);
});

Deno.test("claudeCliEvaluator.run() has an error for output without end", async () => {
  assert.match((await reasonOf("yes")).reason, /wrote too much output/);
});

Deno.test("claudeCliEvaluator.run() has an error where no endpoint can be opened", async () => {
  const openEndpoint = () => Promise.reject(new Error("no room"));
  assert.match((await reasonOf("exit 0", { openEndpoint })).reason, /no room/);
});

Deno.test("claudeCliEvaluator.run() throws when its signal aborts, and closes the endpoint", async () => {
  const stop = new AbortController();
  const endpoints = new Endpoints();
  await using fake = await fakeClaude(`echo $$ > "$FOLDER/pid"\nsleep 300`);
  const pidOf = () => Deno.readTextFile(`${fake.folder}/pid`).then(Number, () => 0);
  const evaluator = claudeCliEvaluator(options(fake.path, { openEndpoint: endpoints.open }));
  const { signal } = stop;
  const running = evaluator.run({ prompt: "Find it", tools, target: "git_find", signal });
  for (let tries = 0; await pidOf() === 0 && tries < 6_000; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  stop.abort(new Error("cancelled"));
  await assert.rejects(running, /cancelled/);
  assert.deepEqual([endpoints.opened, endpoints.closed], [1, 1]);
  assert.equal(await isGroupAlive(await pidOf()), false);
});

Deno.test("claudeCliEvaluator.check() says how to get the CLI where there is none", async () => {
  await assert.rejects(claudeCliEvaluator(options("no-such-claude")).check(), (error) => {
    assert.ok(error instanceof GatewayError && error.code === "CANNOT_EVALUATE");
    assert.match(error.message, /^Cannot evaluate: the claude CLI was not found on PATH/);
    const steps = error.toBody().recoverySteps.join("\n");
    assert.match(steps, /npm install -g @anthropic-ai\/claude-code/);
    assert.match(steps, /--claude-path/);
    assert.match(steps, /report each result/);
    assert.deepEqual(error.toBody().suggestedTools, ["record_eval_run"]);
    return true;
  });
  const elsewhere = claudeCliEvaluator(options("/nowhere/claude")).check();
  await assert.rejects(elsewhere, /was not found at "\/nowhere\/claude"/);
});

Deno.test("claudeCliEvaluator.check() asks the program for its version", async () => {
  await using fine = await fakeClaude(`[ "$*" = --version ] && echo "2.1.0 (Claude Code)"`);
  const found = claudeCliEvaluator(options(fine.path));
  assert.equal(found.program, undefined);
  await found.check();
  assert.deepEqual(found.program, { path: fine.path, version: "2.1.0 (Claude Code)" });
  await using broken = await fakeClaude(`echo "no libc" >&2; exit 127`);
  const checking = claudeCliEvaluator(options(broken.path)).check();
  await assert.rejects(checking, /--version` failed: exit code 127. no libc/);
});

function write(path: string, prompt = "Write it") {
  const { signal } = new AbortController();
  return claudeCliText(options(path)).complete({
    system: "Be short",
    prompt,
    maxTokens: 9,
    signal,
  });
}

Deno.test("claudeCliText() complete() gives the result's text, written without tools", async () => {
  await using fake = await fakeClaude(
    `echo "$*" > "$FOLDER/args"
while [ "$1" != --mcp-config ]; do shift; done; cp "$2" "$FOLDER/config"
${printing(init([]), said("m1", text("Written")), result({ result: "Written" }))}`,
  );
  const answer = await write(fake.path);
  assert.equal(answer.text, "Written");
  assert.equal(answer.cost.costUsd, 0.25);
  const args = await Deno.readTextFile(`${fake.folder}/args`);
  assert.match(args, /--tools {2}--setting-sources .*--system-prompt Be short$/m);
  assert.equal(await Deno.readTextFile(`${fake.folder}/config`), '{"mcpServers":{}}');
});

Deno.test("claudeCliText() complete() throws CANNOT_GENERATE in words", async () => {
  const cases: [string, RegExp][] = [
    [printing(result({ is_error: true, result: "API Error: 500" })), /API failed: API Error: 500/],
    [printing(said("m1", text("")), result({ result: "" })), /response is empty/],
    ["exit 9", /exited with code 9/],
  ];
  for (const [script, words] of cases) {
    await using fake = await fakeClaude(script);
    await assert.rejects(write(fake.path), (error) => {
      assert.ok(error instanceof GatewayError && error.code === "CANNOT_GENERATE");
      assert.match(error.message, words);
      return true;
    });
  }
  await assert.rejects(write("no-such-claude"), /Cannot generate: the claude CLI was not found/);
});
