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
import { startGateway, until } from "./gateway.ts";
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
    await using gateway = await startGateway(flags, { ...cli.gateway, env });
    await until(async () => {
      const { servers } = await (await fetch(`${gateway.url}/readyz`)).json();
      return servers.ready === 2 || undefined;
    });
    // The gateway's own child has the same variable.
    const before = new Set(await findMarked(`MARK=${standIn.url}`));
    const processes = async () => {
      const [clients, servers] = await Promise.all([
        findMarked(`ANTHROPIC_BASE_URL=${standIn.url}`),
        findMarked(`MARK=${standIn.url}`),
      ]);
      return [...clients.filter((pid) => pid !== gateway.pid), ...servers]
        .filter((pid) => !before.has(pid));
    };
    await work({ cli, url: gateway.url, office, callsFile, processes });
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
