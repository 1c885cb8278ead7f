import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { TestCli } from "./cli.ts";
import { at } from "./combined_endpoints.ts";
import { claudeTest } from "./fixtures/claude_cli.ts";
import { libraryCalls, libraryServer } from "./fixtures/library_server.ts";
import {
  type ModelReply,
  type ModelRequest,
  startModelStandIn,
  toolResultsOf,
} from "./fixtures/model_stand_in.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";
import { parseJson } from "../lib/core/rpc.ts";
import { findMarked } from "../lib/servers/processes/process_group.ts";

const FAX = {
  name: "send_fax",
  description: "Send a fax to a number.",
  inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  annotations: { destructiveHint: false },
};

const LOANS = "Which loans does member Ada have?";
const TASKS = [
  {
    name: "loans",
    prompt: LOANS,
    checks: [
      { contains: "CALLED list_loans" },
      { matches: "^done: .*loans$" },
      { called: "library.list_loans", arguments: { member: "ada" } },
    ],
  },
  {
    name: "fax",
    prompt: "Send a fax to 555-0100",
    checks: [{ called: "office.send_fax" }, { command: ["grep", "-q", '"answer":"Done'] }],
  },
  { name: "never", prompt: "Say something else", checks: [{ contains: "no model says this" }] },
];

/** Which tool the prompt needs, on which server, and with what. */
function needOf(text: string) {
  if (text.includes("Erase member Ada")) {
    return { server: "library", tool: "delete_member", args: { member: "Ada" } };
  }
  if (text.includes(LOANS)) {
    return { server: "library", tool: "list_loans", args: { member: "Ada" } };
  }
  return text.includes("Send a fax to 555")
    ? { server: "office", tool: "send_fax", args: { to: "555-0100" } }
    : undefined;
}

const Found = z.looseObject({
  tools: z.array(z.looseObject({ toolKey: z.string(), toolName: z.string() })),
});

/** Finds and calls the tool in whichever way the client offers it. */
function model(request: ModelRequest): ModelReply {
  const text = JSON.stringify(request.messages);
  const results = toolResultsOf(request);
  const need = needOf(text);
  if (!need) return { text: "Nothing to do" };
  const { server, tool, args } = need;
  const isGateway = text.includes("mcp__quartermaster__") ||
    request.tools.some(({ name }) => name.startsWith("mcp__quartermaster__"));
  const steps: ModelReply[] = [];
  const call = (name: string, input: Record<string, unknown>) =>
    steps.push({ toolUse: { name, input } });
  const isDeferred = request.tools.some(({ name }) => name === "ToolSearch");
  if (isGateway) {
    const own = (name: string) => `mcp__quartermaster__${name}`;
    if (isDeferred) {
      call("ToolSearch", { query: `select:${own("tool_discovery")},${own("tool_execute")}` });
    }
    call(own("tool_discovery"), { query: `${tool} ${server}` });
    const found = results.flatMap((result) => Found.safeParse(parseJson(result)).data?.tools ?? [])
      .find(({ toolName }) => toolName === tool)?.toolKey;
    call(own("tool_execute"), { toolKey: found ?? `${server}.${tool}`, arguments: args });
  } else {
    const name = `mcp__${server}__${tool}`;
    if (isDeferred) call("ToolSearch", { query: `select:${name}` });
    call(name, args);
  }
  return steps[results.length] ?? { text: `Done: ${results.at(-1)}` };
}

const Shown = z.looseObject({
  comparison: z.looseObject({
    id: z.string(),
    status: z.string(),
    done: z.int(),
    warnings: z.array(z.string()),
    note: z.string().optional(),
  }),
  result: z.looseObject({
    setups: z.array(z.looseObject({
      setup: z.string(),
      success: z.looseObject({ correct: z.int(), total: z.int() }),
      errors: z.int(),
      means: z.looseObject({ inputTokens: z.number().nullable() }),
    })),
    differences: z.array(z.looseObject({
      measures: z.looseObject({ turns: z.looseObject({ mean: z.number() }).nullable() }),
    })),
  }),
  runs: z.array(z.looseObject({
    task: z.string(),
    setup: z.string(),
    status: z.string(),
    reason: z.string().optional(),
    calls: z.array(z.looseObject({ tool: z.string() })),
  })),
});

interface World {
  cli: TestCli;
  url: string;
  office: ScriptedServer;
  callsFile: string;
  processes(): Promise<number[]>;
  /** Ends the gateway with kill -9, and starts another one on the same data. */
  killAndStart(): Promise<void>;
}

/** A gateway with a program and an address behind it, and a model that does what it is asked. */
async function inWorld(
  claude: string,
  work: (world: World) => Promise<void>,
  answer: (request: ModelRequest) => ModelReply | Promise<ModelReply> = model,
): Promise<void> {
  await TestCli.use(async (cli) => {
    const { DENO_DIR = "" } = cli.settings.env;
    await using office = new ScriptedServer([FAX]);
    await using standIn = startModelStandIn(answer);
    const callsFile = join(cli.project, "calls.txt");
    const library = { ...libraryServer(callsFile), env: { DENO_DIR, MARK: standIn.url } };
    const mcpServers = { library, office: at(office) };
    await cli.write(join(cli.project, ".mcp.json"), { mcpServers });
    const flags = ["--enable-optimization", "--claude-path", claude, "--eval-model", "stand-in"];
    const env = {
      ...cli.settings.env,
      ANTHROPIC_BASE_URL: standIn.url,
      ANTHROPIC_API_KEY: "any",
    };
    await using stack = new AsyncDisposableStack();
    let gateway: RunningGateway;
    let before: Set<number>;
    const start = async () => {
      const { url } = gateway = stack.use(await startGateway(flags, { ...cli.gateway, env }));
      await until(async () => {
        const { servers } = await (await fetch(`${url}/readyz`)).json();
        return servers.ready === 2 || undefined;
      });
      // The gateway's own child has the same variable.
      before = new Set(await findMarked(`MARK=${standIn.url}`));
    };
    await start();
    const killAndStart = async () => {
      await gateway.stop("SIGKILL");
      await start();
    };
    const processes = async () => {
      const [clients, servers] = await Promise.all([
        findMarked(`ANTHROPIC_BASE_URL=${standIn.url}`),
        findMarked(`MARK=${standIn.url}`),
      ]);
      return [...clients.filter((pid) => pid !== gateway.pid), ...servers]
        .filter((pid) => !before.has(pid));
    };
    await work({ cli, url: gateway!.url, office, callsFile, processes, killAndStart });
    assert.deepEqual(await processes(), [], "processes were left behind");
    const left = [...Deno.readDirSync(Deno.env.get("TMPDIR") ?? "/tmp")]
      .filter(({ name }) => name.startsWith("run_"));
    assert.deepEqual(left, [], "folders of runs were left behind");
  });
}

/** What a token may not call, it may not have called directly. */
async function refusesLimitedToken(url: string): Promise<void> {
  const post = (operation: string, input: object, headers: Record<string, string> = {}) =>
    fetch(`${url}/api/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(input),
    });
  const rights = ["read", "call", "manage", "optimize"];
  const made = await post("token.create", { name: "limited", rights, mode: "read-only" });
  const { text: token } = z.looseObject({ text: z.string() }).parse(await made.json());
  const refused = await post("comparison.start", {}, { authorization: `Bearer ${token}` });
  assert.equal(refused.status, 403);
  assert.match(await refused.text(), /mode or limits would not hold for direct calls/);
}

async function saveTasks(cli: TestCli, tasks: unknown[] = TASKS): Promise<void> {
  const file = join(cli.project, "comparison.json");
  await cli.write(file, { tasks });
  assert.match(await cli.ok("compare", "import", file), /^Saved \d+ tasks?\./);
}

await claudeTest(
  "tasks are done by the real CLI directly and through the gateway, and compared",
  (claude) =>
    inWorld(claude, async ({ cli, url, office, callsFile }) => {
      await saveTasks(cli);
      assert.match(await cli.ok("compare", "tasks"), /calls library\.list_loans with/);
      await cli.fails(2, /needs a check/, "compare", "add", "empty", "--prompt", "Do something");
      await refusesLimitedToken(url);
      await cli.fails(2, /requires confirmation/, "compare", "run");
      assert.match(await cli.ok("compare", "run", "--dry-run"), /18 runs with library, office/);

      const flags = ["--repeats", "1", "--yes"];
      const { code, out, err } = await cli.run(["compare", "run", ...flags, "--json"]);
      assert.equal(code, 0, out + err);
      const { comparison, result, runs } = Shown.parse(JSON.parse(out));
      assert.deepEqual([comparison.status, comparison.done], ["completed", 6], out);
      const [direct, gateway] = result.setups;
      assert.deepEqual([direct?.setup, gateway?.setup], ["direct", "gateway"]);
      for (const { success, errors } of [direct!, gateway!]) {
        assert.deepEqual([success.correct, success.total, errors], [2, 3, 0], out);
      }
      assert.ok((direct!.means.inputTokens ?? 0) > 0);
      // A search at the gateway takes one turn more.
      assert.ok(result.differences[0]!.measures.turns!.mean > 0, out);
      assert.deepEqual(await libraryCalls(callsFile), ["list_loans", "list_loans"]);
      assert.equal(office.calls.length, 2);
      const failed = runs.filter(({ status }) => status === "failure");
      assert.deepEqual(failed.map(({ task }) => task), ["never", "never"]);
      assert.match(failed[0]?.reason ?? "", /does not contain/);
      const found = runs.find(({ task, setup }) => task === "loans" && setup === "gateway");
      assert.ok(found!.calls.some(({ tool }) => tool === "library.list_loans"), out);

      const audited = await cli.ok("audit", "list", "--action", "comparison.start");
      assert.match(audited, new RegExp(comparison.id));
      const shown = await cli.ok("compare", "show", comparison.id);
      assert.match(shown, /SET-UP\s+SUCCESS[\s\S]*gateway compared with direct/);
      assert.match(await cli.ok("compare", "report", comparison.id), /^# Comparison/);
      assert.match(
        await cli.ok("compare", "report", comparison.id, "--format", "csv"),
        /^task,setup,repeat/,
      );
    }),
);

await claudeTest(
  "a comparison is cancelled, stops at its budget, and refuses what destroys",
  (claude) => {
    let isHeld = false;
    const holding = async (request: ModelRequest) => {
      while (isHeld) await new Promise((resolve) => setTimeout(resolve, 50));
      return model(request);
    };
    return inWorld(claude, async ({ cli, url, callsFile, processes }) => {
      const erase = { called: "library.delete_member" };
      await saveTasks(cli, [{ name: "erase", prompt: "Erase member Ada", checks: [erase] }]);
      const run = async (...flags: string[]) => {
        const args = ["compare", "run", "--repeats", "1", "--yes", "--json", ...flags];
        const { code, out, err } = await cli.run(args);
        return { code, ...Shown.parse(JSON.parse(out || err)) };
      };
      // Inline, since a model of a client that hides tools could not find it.
      const refused = await run("--view", "inline");
      assert.deepEqual(refused.runs.map(({ status }) => status), ["failure", "failure"]);
      assert.deepEqual(await libraryCalls(callsFile), []);
      assert.match(refused.comparison.warnings.join(), /1 tool marked as destructive/);
      const allowed = await run("--view", "inline", "--allow-destructive");
      assert.deepEqual(
        allowed.runs.map(({ status, reason }) => reason ?? status),
        ["success", "success"],
      );
      assert.deepEqual(await libraryCalls(callsFile), ["delete_member", "delete_member"]);

      const few = await run("--max-runs", "1");
      assert.equal(few.comparison.done, 1);
      assert.match(few.comparison.note ?? "", /Ended early: the budget of 1 run is used up/);

      isHeld = true;
      const { comparison } = await cli.json("compare", "run", "--yes", "--detach");
      await until(async () => (await processes()).length > 0 || undefined);
      await cli.fails(1, /is running/, "compare", "run", "--yes");

      const page = await (await fetch(`${url}/optimization/~comparisons/${comparison.id}`)).text();
      assert.match(page, /Running[\s\S]*0 of 6 runs[\s\S]*No results yet/);
      assert.match(await cli.ok("compare", "cancel", comparison.id), /canceled, 0 of 6 runs/);
      isHeld = false;
      assert.deepEqual(await processes(), [], "the client that was running is gone");
    }, holding);
  },
);

/** Calls the tool for the loans, under whatever name it is listed: two requests a run. */
function callLoans(request: ModelRequest): ModelReply {
  const [result] = toolResultsOf(request);
  if (result !== undefined) return { text: `Done: ${result}` };
  const tool = request.tools.find(({ name }) => name.endsWith("list_loans"));
  return tool ? { toolUse: { name: tool.name, input: { member: "Ada" } } } : { text: "No tool" };
}

const PROMOTED = "Lists which books a member has borrowed, and when each is due.";

await claudeTest(
  "servers and toolsets, with promoted and with canonical descriptions, are set-ups of their own",
  (claude) => {
    /** By prompt and place: what the model was told of the tool. */
    const told = new Set<string>();
    const listed = new Set<string>();
    const watching = (request: ModelRequest) => {
      const own = "mcp__quartermaster__";
      const names = request.tools.map(({ name }) => name).filter((name) => name.startsWith(own));
      const loans = request.tools.find(({ name }) => name.endsWith("list_loans"));
      if (loans) told.add(loans.description);
      listed.add(names.map((name) => name.slice(own.length)).sort().join(" "));
      return callLoans(request);
    };
    return inWorld(claude, async ({ cli, callsFile }) => {
      await saveTasks(cli, [TASKS[0]]);
      await cli.ok("toolset", "create", "desk", "library.list_loans");
      const propose = ["propose", "library.list_loans", "--description", PROMOTED];
      const { candidateId } = await cli.json("optimize", ...propose);
      const reason = ["--reason", "It says more"];
      await cli.ok("optimize", "promote", "library.list_loans", candidateId, ...reason);
      const setups = ["server:library", "server:library@canonical", "toolset:desk"];
      const { result, runs } = Shown.parse(
        await cli.json(
          ...["compare", "run", "--setup", setups.join(","), "--server", "library"],
          ...["--repeats", "1", "--view", "inline", "--yes"],
        ),
      );
      assert.deepEqual(result.setups.map(({ setup }) => setup), setups);
      for (const { success, errors } of result.setups) {
        assert.deepEqual([success.correct, success.total, errors], [1, 1, 0], JSON.stringify(runs));
      }
      const calls = runs.flatMap(({ calls }) => calls.map(({ tool }) => tool));
      assert.deepEqual(calls, Array(3).fill("library.list_loans"));
      assert.deepEqual(await libraryCalls(callsFile), Array(3).fill("list_loans"));
      assert.equal(told.size, 2, [...told].join());
      assert.ok(told.has(PROMOTED), [...told].join());
      // The toolset's endpoint lists its one tool, the server's lists all.
      assert.equal(listed.size, 2, [...listed].join("; "));
      assert.ok(listed.has("library_list_loans"), [...listed].join("; "));
    }, watching);
  },
);

await claudeTest(
  "a comparison is resumed after kill -9 without repeating runs, and stops after three errors",
  (claude) => {
    let [isHeld, isBroken] = [true, false];
    let asked = 0;
    const holding = async (request: ModelRequest) => {
      asked++;
      if (isBroken) return { status: 400 };
      while (isHeld && asked > 4) await new Promise((resolve) => setTimeout(resolve, 50));
      return callLoans(request);
    };
    return inWorld(claude, async ({ cli, callsFile, processes, killAndStart }) => {
      await saveTasks(cli, [TASKS[0]]);
      const flags = ["--setup", "direct,server:library", "--server", "library", "--yes"];
      const inline = [...flags, "--view", "inline", "--repeats", "2"];
      const { comparison: { id } } = await cli.json("compare", "run", ...inline, "--detach");
      // Its exit code says how the comparison ended.
      const show = async () => {
        const { out } = await cli.run(["compare", "show", id, "--json"]);
        return Shown.parse(JSON.parse(out));
      };
      try {
        await until(async () => (await show()).runs.length === 2 || undefined);
        await until(() => asked > 4 || undefined);
        await killAndStart();
      } finally {
        isHeld = false;
      }
      assert.equal((await show()).comparison.status, "interrupted");
      await until(async () => (await processes()).length === 0 || undefined);
      const before = await libraryCalls(callsFile);
      await cli.ok("compare", "resume", id);
      const { comparison, runs } = await until(async () => {
        const shown = await show();
        return shown.comparison.status === "running" ? undefined : shown;
      });
      assert.deepEqual([comparison.status, comparison.done], ["completed", 4]);
      assert.deepEqual(
        runs.map(({ status, reason }) => reason ?? status),
        Array(4).fill("success"),
      );
      // The two that were missing, and no other.
      assert.equal((await libraryCalls(callsFile)).length, before.length + 2);

      isBroken = true;
      const { out } = await cli.run(["compare", "run", ...inline, "--json"]);
      const failed = Shown.parse(JSON.parse(out));
      assert.deepEqual(
        [failed.comparison.status, failed.comparison.done],
        ["failed", 3],
        out,
      );
      assert.deepEqual(failed.runs.map(({ status }) => status), Array(3).fill("error"));
      assert.match(failed.comparison.note ?? "", /model API failed/);
    }, holding);
  },
);
