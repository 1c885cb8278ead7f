import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { connect, must } from "./combined_endpoints.ts";
import { TestCli } from "./cli.ts";
import { libraryServer, REFUSED_TEXT } from "./fixtures/library_server.ts";
import { startGateway, until } from "./gateway.ts";

const LOANS = "on which day of the week the loans of a member are due";

const Listed = z.looseObject({
  enabled: z.boolean(),
  proposals: z.array(z.looseObject({
    key: z.string(),
    server: z.string(),
    tool: z.string(),
    category: z.string(),
    prompt: z.string(),
    source: z.string(),
    expectedTool: z.string().optional(),
  })),
});

const Counts = z.object({ calls: z.number(), errors: z.number() });
const Shown = z.object({
  failedCalls: z.object({
    days: z.array(Counts.extend({ day: z.string() })),
    before: Counts,
    after: Counts,
  }),
});

Deno.test("searches and calls become golden prompts, with consent and after a review", async () => {
  await TestCli.use(async (cli) => {
    const { DENO_DIR = "" } = cli.settings.env;
    const library = { ...libraryServer(join(cli.project, "calls.txt")), env: { DENO_DIR } };
    await cli.write(join(cli.project, ".mcp.json"), { mcpServers: { library } });
    await using gateway = await startGateway([], cli.gateway);
    await until(async () => {
      const { server } = await (await fetch(`${gateway.url}/api/servers/library`)).json();
      return server?.state === "ready" || undefined;
    });
    const post = async (path: string, body: unknown) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(new URL(path, gateway.url), {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      const answer = await response.json();
      assert.ok(response.ok, JSON.stringify(answer));
      return answer;
    };
    const listed = async () => Listed.parse(await post("/api/traffic.list", {}));

    await using client = await connect(gateway.url, "/mcp");
    const secret = "sk-abcdefghijklmnop12345";
    await must(client, "tool_discovery", {
      query: `on which day of the week is the library open, my key is ${secret}`,
    });
    await must(client, "tool_execute", {
      toolKey: "library.opening_hours",
      arguments: { day: "Monday" },
    });
    // Another session, so that its call has another reason.
    await using other = await connect(gateway.url, "/mcp");
    await must(other, "tool_discovery", { query: LOANS });
    await must(other, "tool_execute", {
      toolKey: "library.opening_hours",
      arguments: { day: "Tuesday" },
    });
    await using manager = await connect(gateway.url, "/gateway/mcp");
    const marked = await must(manager, "mark_wrong_tool", {
      tool: "library.opening_hours",
      rightTool: "library.list_loans",
    });
    assert.match(
      marked,
      /^Marked the call of library\.opening_hours as wrong: library\.list_loans/,
    );

    assert.deepEqual(await listed(), { enabled: false, proposals: [] });
    const pageOff = await (await fetch(`${gateway.url}/optimization/~proposals`)).text();
    assert.match(pageOff, /Off without your consent/);
    await cli.fails(1, /only used with your consent/, "optimize", "discard", "x");
    await post("/api/settings.set", { option: "learnPrompts", value: "true" });

    const { proposals } = await listed();
    assert.equal(proposals.length, 3, JSON.stringify(proposals));
    const find = (tool: string, category?: string) =>
      proposals.find((one) => one.tool === tool && (category ?? one.category) === one.category);
    const open = proposals.find(({ source }) => source === "search");
    assert.match(open?.prompt ?? "", /on which day of the week/);
    assert.ok(!JSON.stringify(proposals).includes(secret), "secrets are removed");
    const wrong = find("opening_hours", "negative");
    assert.deepEqual([wrong?.source, wrong?.expectedTool], ["mark", "list_loans"]);
    assert.equal(find("list_loans")?.prompt, LOANS);
    const shown = await (await fetch(`${gateway.url}/optimization/~proposals`)).text();
    assert.ok(shown.includes(LOANS));

    // Edited in the console's form, as it is on the command line, and discarded.
    const form = new URLSearchParams({
      key: open!.key,
      [`prompt-${open!.key}`]: "On which days is the library open late?",
      [`tool-${open!.key}`]: "library.opening_hours",
      [`category-${open!.key}`]: "direct",
      do: "accept",
    });
    const response = await fetch(`${gateway.url}/optimization/~proposals`, {
      method: "POST",
      body: form,
      headers: { origin: new URL(gateway.url).origin },
      redirect: "manual",
    });
    assert.equal(response.status, 303, await response.text());
    assert.match(await cli.ok("optimize", "accept", wrong!.key), /^Saved 1 prompt/);
    assert.match(await cli.ok("optimize", "discard", find("list_loans")!.key), /^Discarded 1/);
    const { prompts } = await cli.json("optimize", "prompts", "library.opening_hours");
    assert.deepEqual(
      prompts.map(({ prompt, category }: Record<string, string>) => [category, prompt]).sort(),
      [
        ["direct", "On which days is the library open late?"],
        ["negative", LOANS],
      ],
    );
    assert.deepEqual((await listed()).proposals, []);

    // Calls that fail, before and after a promotion, everywhere with the same numbers.
    const failing = { toolKey: "library.opening_hours", arguments: { day: REFUSED_TEXT } };
    assert.equal((await client.call("tool_execute", failing)).isError, true);
    const description = ["--description", "Tells on which days the library is open."];
    const tool = "library.opening_hours";
    const { candidateId } = await cli.json("optimize", "propose", tool, ...description);
    await cli.ok("optimize", "promote", tool, candidateId, "--reason", "It says more");
    await must(client, "tool_execute", { toolKey: tool, arguments: { day: "Friday" } });
    const { failedCalls } = await until(async () => {
      const answer = Shown.parse(await post("/api/optimization.show", { tool }));
      return answer.failedCalls.after.calls === 1 ? answer : undefined;
    });
    assert.deepEqual(failedCalls.before, { calls: 3, errors: 1 });
    assert.deepEqual(failedCalls.after, { calls: 1, errors: 0 });
    const sum = (of: (day: z.infer<typeof Counts>) => number) =>
      failedCalls.days.reduce((all, day) => all + of(day), 0);
    assert.deepEqual([sum(({ calls }) => calls), sum(({ errors }) => errors)], [4, 1]);
    const words = /Before the promotion: 1\/3 \(33 %, [^)]*\) failed\. Since then: 0\/1 /;
    assert.match(await cli.ok("optimize", "show", tool), words);
    const page = await (await fetch(`${gateway.url}/optimization/library/opening_hours`)).text();
    assert.match(page, words);
  });
});
