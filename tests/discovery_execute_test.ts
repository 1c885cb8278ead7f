import assert from "node:assert/strict";
import * as z from "zod";
import { connect, Endpoints, must, openRaw } from "./combined_endpoints.ts";
import { CREATE_ISSUE, keyOf, refused, servers } from "./discovery.ts";
import { estimateTokens } from "../lib/core/token_counter.ts";
import { chaos } from "./faults.ts";
import { until } from "./gateway.ts";

Deno.test("tool_execute at /mcp: keys, names, arguments and results", async (t) => {
  await using behind = servers();
  const { github, calendar } = behind;
  const result =
    '{"content":[{"type":"text","text":"made"}],"structuredContent":{"number":12345678901234567890,"10":1.0,"2":"x"}, "_meta":{"b":1,"a":2}}';
  await using endpoints = await Endpoints.open({ ...behind.entries, chaos: chaos() });
  await using client = await connect(endpoints.url, "/mcp?expose=discovery");
  const raw = await openRaw(endpoints.url, "/mcp?expose=discovery");
  const key = await keyOf(client, "create an issue", "create_issue");

  await t.step("a key, and each of a tool's names, calls it", async () => {
    for (
      const toolKey of [
        key,
        "github_create_issue",
        "github.create_issue",
        "github:create_issue",
        "create_issue",
      ]
    ) {
      github.calls.length = 0;
      const args = { toolKey, arguments: { title: "It broke" } };
      assert.equal(await must(client, "tool_execute", args), "called create_issue");
      const { name, arguments: sent } = JSON.parse(github.calls[0]!);
      assert.deepEqual([name, sent], ["create_issue", { title: "It broke" }]);
    }
  });

  await t.step("the result is what came, to the last byte, and so are the arguments", async () => {
    github.results.set("create_issue", result);
    github.calls.length = 0;
    const args = '{"title":"x", "repo":{"id":12345678901234567890}}';
    for (const inner of [args, JSON.stringify(args)]) {
      const params =
        `{"name":"tool_execute","arguments":{"toolKey":"${key}","arguments":${inner}}}`;
      assert.equal(await raw.result(params), result);
      assert.ok(github.calls.pop()!.includes(args));
    }
    github.results.delete("create_issue");
  });

  await t.step("without arguments, or with none as a text, it calls with none", async () => {
    calendar.calls.length = 0;
    const toolKey = "calendar_create_event";
    for (const more of [{}, { arguments: {} }, { arguments: "" }, { arguments: " {} " }]) {
      assert.equal(await must(client, "tool_execute", { toolKey, ...more }), "called create_event");
      assert.deepEqual(JSON.parse(calendar.calls.pop()!).arguments, {});
    }
  });

  await t.step("arguments that do not fit never get to the server", async () => {
    github.calls.length = 0;
    const wrong = async (args: unknown) => {
      const call = { toolKey: "github_create_issue", arguments: args };
      const { code, text } = await refused(client, "tool_execute", call);
      assert.equal(code, "INVALID_ARGUMENTS");
      return text;
    };
    assert.match(await wrong({}), /"title" is missing/);
    assert.match(await wrong({ title: 7 }), /title: must be "string", not number/);
    assert.match(await wrong({ title: "x", repo: { id: "1" } }), /repo\.id: must be "integer"/);
    assert.match(await wrong({ title: "x", state: "closed" }), /state: .*"open".*"draft"/);
    assert.match(await wrong({ title: "x", more: 1 }), /more: is not a parameter of this tool/);
    assert.match(await wrong("[1]"), /must be an object[^]*at arguments/);
    assert.deepEqual(github.calls, []);
  });

  await t.step("arguments as a text of several lines get to a program whole", async () => {
    const args = '{\n  "a": [1,\n 2]\n}';
    const text = await must(client, "tool_execute", { toolKey: "chaos_echo", arguments: args });
    assert.deepEqual(JSON.parse(text), { a: [1, 2] });
  });

  await t.step("a tool's own error comes as it is", async () => {
    const failed = '{"content":[{"type":"text","text":"no such repository"}],"isError":true}';
    github.results.set("list_issue", failed);
    const params = '{"name":"tool_execute","arguments":{"toolKey":"github_list_issue"}}';
    assert.equal(await raw.result(params), failed);
  });

  await t.step("keys that were altered, and names that are not there, are told apart", async () => {
    const last = key.at(-1) === "A" ? "B" : "A";
    const altered = await refused(client, "tool_execute", { toolKey: key.slice(0, -1) + last });
    assert.equal(altered.code, "TOOLKEY_INVALID");
    assert.deepEqual(altered.data.suggestedTools, ["tool_discovery"]);
    const unknown = await refused(client, "tool_execute", { toolKey: "create_isue" });
    assert.equal(unknown.code, "TOOL_NOT_FOUND");
    assert.match(unknown.text, /Did you mean github_create_issue/);
  });

  await t.step("progress passes through", async () => {
    const seen: number[] = [];
    const params = { name: "tool_execute", arguments: { toolKey: "chaos_progress" } };
    await client.client.callTool(params, undefined, {
      onprogress: ({ progress }) => seen.push(progress),
    });
    assert.deepEqual(seen, [1, 2, 3]);
  });

  await t.step("a cancelled call is cancelled at the server", async () => {
    const leaving = new AbortController();
    const params = { name: "tool_execute", arguments: { toolKey: "chaos_hang" } };
    const hanging = client.client.callTool(params, undefined, { signal: leaving.signal });
    const busy = async () => {
      const { data } = await client.call("tool_execute", { toolKey: "chaos_cancelled" });
      return z.array(z.unknown()).parse(data.ids).length;
    };
    assert.equal(await busy(), 0);
    leaving.abort();
    await assert.rejects(hanging);
    await until(async () => await busy() === 1 || undefined);
  });
});

Deno.test("tool_execute says what to do where the server is gone", async () => {
  await using behind = servers();
  const { calendar } = behind;
  await using endpoints = await Endpoints.open(behind.entries);
  await using client = await connect(endpoints.url, "/mcp?expose=discovery");
  const toolKey = await keyOf(client, "search events", "search-events");
  await calendar.leave();
  const { code, data } = await refused(client, "tool_execute", { toolKey });
  assert.equal(code, "SERVER_DISCONNECTED");
  assert.ok(z.array(z.string()).min(1).parse(data.recoverySteps));
  calendar.comeBack();
  const call = () => client.call("tool_execute", { toolKey });
  const { text } = await until(async () => {
    const done = await call();
    return done.isError ? undefined : done;
  });
  assert.equal(text, "called search-events");
});

Deno.test("tool keys work after a restart and at another gateway on the same data", async () => {
  await using behind = servers();
  await using endpoints = await Endpoints.open(behind.entries);
  let key: string;
  {
    await using client = await connect(endpoints.url, "/mcp?expose=discovery");
    key = await keyOf(client, "search events", "search-events");
  }
  await endpoints.restart("SIGTERM");
  await using client = await connect(endpoints.url, "/mcp?expose=discovery");
  assert.equal(await must(client, "tool_execute", { toolKey: key }), "called search-events");
  await using sibling = await endpoints.sibling();
  await sibling.reaches("calendar", "ready");
  await using other = await connect(sibling.url, "/mcp?expose=discovery");
  assert.equal(await must(other, "tool_execute", { toolKey: key }), "called search-events");
  const theirs = await keyOf(other, "search events", "search-events");
  assert.equal(await must(client, "tool_execute", { toolKey: theirs }), "called search-events");
});

Deno.test("optim.find_tool and optim.call_tool at /mcp?expose=optimizer", async (t) => {
  await using behind = servers();
  const { github } = behind;
  await using endpoints = await Endpoints.open(behind.entries);
  await using client = await connect(endpoints.url, "/mcp?expose=optimizer");

  await t.step("what is found, and what that saves", async () => {
    const { data } = await client.call("optim.find_tool", {
      tool_description: "Create an issue in GitHub",
      tool_keywords: "github issue create",
      limit: 2,
    });
    const { tools, token_metrics: metrics } = z.looseObject({
      tools: z.array(z.strictObject({
        name: z.string(),
        description: z.string(),
        input_schema: z.looseObject({}),
        backend_id: z.string(),
        similarity_score: z.number().min(0).max(1),
        token_count: z.int().positive(),
      })),
      token_metrics: z.strictObject({
        baseline_tokens: z.int(),
        returned_tokens: z.int(),
        tokens_saved: z.int(),
        savings_percentage: z.number(),
      }),
    }).parse(data);
    assert.equal(tools.length, 2);
    assert.deepEqual([tools[0]!.name, tools[0]!.backend_id], ["create_issue", "github"]);
    assert.deepEqual(tools[0]!.input_schema, CREATE_ISSUE.inputSchema);
    // It is sent as text and as structured content.
    const returned = 2 * estimateTokens(JSON.stringify(data));
    assert.ok(Math.abs(metrics.returned_tokens - returned) <= 12, `${returned} tokens`);
    assert.ok(metrics.tokens_saved <= Math.max(0, metrics.baseline_tokens - returned + 12));
    const percent = metrics.tokens_saved / metrics.baseline_tokens * 100;
    assert.ok(Math.abs(metrics.savings_percentage - percent) < 0.1);
  });

  await t.step("a call goes to a tool of the backend, and to no other's", async () => {
    const call = { tool_name: "create_issue", parameters: { title: "x" } };
    const text = await must(client, "optim_call_tool", { backend_id: "github", ...call });
    assert.equal(text, "called create_issue");
    github.calls.length = 0;
    const other = await refused(client, "optim.call_tool", { backend_id: "calendar", ...call });
    assert.equal(other.code, "TOOL_NOT_FOUND");
    assert.match(other.text, /calendar has no tool "create_issue"/);
    const nowhere = await refused(client, "optim.call_tool", { backend_id: "githbu", ...call });
    assert.equal(nowhere.code, "SERVER_NOT_FOUND");
    assert.match(nowhere.text, /Did you mean github\?/);
    const wrong = { backend_id: "github", tool_name: "create_issue", parameters: { title: 1 } };
    assert.equal((await refused(client, "optim.call_tool", wrong)).code, "INVALID_ARGUMENTS");
    assert.deepEqual(github.calls, []);
  });
});
