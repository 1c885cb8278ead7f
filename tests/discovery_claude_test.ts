import assert from "node:assert/strict";
import * as z from "zod";
import { Endpoints } from "./combined_endpoints.ts";
import { CREATE_ISSUE, servers, VIEWS } from "./discovery.ts";
import { claudeTest, runClaude } from "./fixtures/claude_cli.ts";
import { type ModelReply, startModelStandIn, toolResultsOf } from "./fixtures/model_stand_in.ts";

type Use = NonNullable<ModelReply["toolUse"]>;
/** What the model does next, from the results of what it has done so far. */
type Step = (results: string[]) => Use;

const TASK = { title: "naïve \u{1F30D}", repo: { id: 7 } };
const Found = z.looseObject({
  tools: z.array(z.looseObject({ toolKey: z.string(), toolName: z.string() })).min(1),
});
const Index = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) });
const Described = z.looseObject({
  name: z.string(),
  parameters: z.looseObject({ title: z.looseObject({}) }),
});
const Backends = z.looseObject({
  tools: z.array(z.looseObject({
    name: z.string(),
    backend_id: z.string(),
    input_schema: z.looseObject({}),
  })).min(1),
});

const discover: Step = () => ({
  name: "tool_discovery",
  input: { query: ["create", "github", "issue"], detailLevel: "full" },
});
const execute: Step = ([found = ""]) => {
  const [first] = Found.parse(JSON.parse(found)).tools;
  assert.equal(first!.toolName, CREATE_ISSUE.name);
  return { name: "tool_execute", input: { toolKey: first!.toolKey, arguments: TASK } };
};
const findBackend: Step = () => ({
  name: "optim_find_tool",
  input: { tool_description: "create an issue in a repository", tool_keywords: "github issue" },
});
const callBackend: Step = ([found = ""]) => {
  const [first] = Backends.parse(JSON.parse(found)).tools;
  assert.deepEqual(first!.input_schema, CREATE_ISSUE.inputSchema);
  return {
    name: "optim_call_tool",
    input: { backend_id: first!.backend_id, tool_name: first!.name, parameters: TASK },
  };
};

const RUNS: { view: string; query: string; steps: Step[] }[] = [
  { view: "discovery", query: "?expose=discovery", steps: [discover, execute] },
  { view: "default", query: "", steps: [discover, execute] },
  {
    view: "index",
    query: "?expose=index",
    steps: [
      () => ({ name: "list_available_tools", input: {} }),
      ([index = ""]) => {
        const names = Index.parse(JSON.parse(index)).tools.map(({ name }) => name);
        const tool_name = names.find((name) => name.endsWith(CREATE_ISSUE.name))!;
        return { name: "get_tool_description", input: { tool_name } };
      },
      ([, described = ""]) => {
        const { name } = Described.parse(JSON.parse(described));
        return { name: "tool_execute", input: { toolKey: name, arguments: TASK } };
      },
    ],
  },
  { view: "optimizer", query: "?expose=optimizer", steps: [findBackend, callBackend] },
  { view: "optimizer", query: "?expose=optimizer&names=flat", steps: [findBackend, callBackend] },
];

for (const { view, query, steps } of RUNS) {
  await claudeTest(`the claude CLI finds a tool at /mcp${query} and uses it`, async (claude) => {
    await using behind = servers();
    const { github, calendar } = behind;
    github.results.set(CREATE_ISSUE.name, '{"content":[{"type":"text","text":"issue 42"}]}');
    await using endpoints = await Endpoints.open(behind.entries);
    await using model = startModelStandIn((request) => {
      const results = toolResultsOf(request);
      const step = steps[results.length];
      if (!step) return { text: `Done: ${results.at(-1)}` };
      const { name, input } = step(results);
      return { toolUse: { name: `mcp__qm__${name}`, input } };
    });
    const run = await runClaude({
      claude,
      prompt: "Report the bug",
      modelUrl: model.url,
      mcpServers: { qm: { type: "http", url: `${endpoints.url}/mcp${query}` } },
      extraArgs: ["--allowedTools", "mcp__qm"],
      timeoutMs: 60_000,
    });
    assert.equal(run.result?.result, "Done: issue 42", run.stderr);

    const offered = model.requests[0]!.tools.filter(({ name }) => name.startsWith("mcp__qm__"));
    const wanted = VIEWS[view]!.map((name) => `mcp__qm__${name.replaceAll(".", "_")}`);
    assert.deepEqual(offered.map(({ name }) => name).sort(), wanted.sort());
    const descriptions = offered.map(({ description }) => description).join("\n");
    assert.match(descriptions, /Servers: github \(5\), calendar \(2\)/);

    assert.deepEqual([github.calls.length, calendar.calls.length], [1, 0]);
    const { name, arguments: args } = JSON.parse(github.calls[0]!);
    assert.deepEqual({ name, args }, { name: CREATE_ISSUE.name, args: TASK });
  });
}
