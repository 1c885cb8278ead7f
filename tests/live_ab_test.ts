import assert from "node:assert/strict";
import { join } from "@std/path";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { connectOver, type EndpointClient, must } from "./combined_endpoints.ts";
import { TestCli } from "./cli.ts";
import { libraryServer, POOR_DESCRIPTION, REFUSED_TEXT } from "./fixtures/library_server.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

const TOOL = "library.find_books";
const PROMOTED = "Finds books by title, author or subject.";
const FOR_GPT = "Finds books; pass the title or the author as the query.";
const ENDPOINT = "/servers/library/mcp?names=original";

async function withLibrary(work: (cli: TestCli) => Promise<void>): Promise<void> {
  await TestCli.use(async (cli) => {
    const { DENO_DIR = "" } = cli.settings.env;
    const library = { ...libraryServer(join(cli.project, "calls.txt")), env: { DENO_DIR } };
    await cli.write(join(cli.project, ".mcp.json"), { mcpServers: { library } });
    await work(cli);
  });
}

async function start(cli: TestCli): Promise<RunningGateway> {
  const gateway = await startGateway([], cli.gateway);
  await until(async () => {
    const { server } = await (await fetch(`${gateway.url}/api/servers/library`)).json();
    return server?.state === "ready" || undefined;
  });
  return gateway;
}

/** A client of the SDK's whose session can be ended, as clients do when they quit. */
async function openSession(url: string, name = "test") {
  const transport = new StreamableHTTPClientTransport(new URL(ENDPOINT, url));
  const session = await connectOver(transport as never, name);
  return {
    ...session,
    id: transport.sessionId,
    async end() {
      await transport.terminateSession();
      await session.client.close();
    },
  };
}

async function shown({ client }: Pick<EndpointClient, "client">): Promise<string | undefined> {
  const { tools } = await client.listTools();
  return tools.find(({ name }) => name === "find_books")?.description;
}

/** What another request of a session is listed, at any gateway. */
async function shownIn(url: string, session: string): Promise<string | undefined> {
  const response = await fetch(new URL(ENDPOINT, url), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": session,
      "mcp-protocol-version": "2025-11-25",
    },
    body: '{"jsonrpc":"2.0","id":7,"method":"tools/list"}',
  });
  const text = await response.text();
  const line = text.split("\n").find((one) => one.startsWith("data: {"))?.slice(6) ?? text;
  const { result } = JSON.parse(line);
  return result.tools.find(({ name }: { name: string }) => name === "find_books")?.description;
}

async function promote(cli: TestCli, description: string, ...flags: string[]): Promise<void> {
  const { candidateId } = await cli.json("optimize", "propose", TOOL, "--description", description);
  await cli.ok("optimize", "promote", TOOL, candidateId, "--reason", "a test", ...flags);
}

/** Models that read the promoted text pass arguments that the server refuses, and try again. */
async function shortSession(url: string): Promise<void> {
  const session = await openSession(url);
  if (await shown(session) === PROMOTED) {
    for (let nth = 0; nth < 2; nth++) {
      const { isError } = await session.call("find_books", { query: REFUSED_TEXT });
      assert.ok(isError);
    }
  } else await must(session, "find_books", { query: "Rome" });
  await session.end();
}

Deno.test("a promoted text that does worse in its share of sessions is reverted", async () => {
  await withLibrary(async (cli) => {
    let first = await start(cli);
    try {
      await promote(cli, PROMOTED);
      await cli.fails(1, /No live A\/B is running/, "optimize", "ab", "stop", TOOL);
      assert.match(await cli.ok("optimize", "ab", "start", TOOL, "--share", "50"), /50 % of sess/);
      await cli.fails(1, /one is already running/, "optimize", "ab", "start", TOOL);

      // Six sessions before the gateway is killed.
      for (let nth = 0; nth < 6; nth++) await shortSession(first.url);
      const running = async () => (await cli.json("optimize", "ab", "show", TOOL)).trials[0];
      const before = await until(async () => {
        const one = await running();
        return one.summary.promoted.sessions + one.summary.other.sessions === 6 ? one : undefined;
      });
      const watched = await openSession(first.url);
      const text = await shown(watched);
      assert.ok(watched.id !== undefined);
      await watched.client.close();
      await first.stop("SIGKILL");

      first = await start(cli);
      await using second = await start(cli);
      const after = await running();
      assert.deepEqual([after.trial, after.summary.other], [before.trial, before.summary.other]);
      for (const { url } of [first, second, first]) {
        assert.equal(await shownIn(url, watched.id), text, "a session keeps its text everywhere");
      }

      const arms = new Map<string | undefined, Awaited<ReturnType<typeof openSession>>>();
      while (arms.size < 2) {
        const session = await openSession(first.url);
        const own = await shown(session);
        if (arms.has(own)) await session.end();
        else arms.set(own, session);
      }
      assert.deepEqual([...arms.keys()].sort(), [POOR_DESCRIPTION, PROMOTED].sort());
      const reader = arms.get(PROMOTED)!;
      const other = arms.get(POOR_DESCRIPTION)!;
      const page = await (await fetch(`${first.url}/optimization/library/find_books`)).text();
      assert.match(page, /served to 50 % of sessions, \d+ and \d+ sessions so far/);

      const detail = async () => (await cli.json("optimize", "show", TOOL)).tool;
      // Half of them at the other gateway.
      const urls = [first.url, second.url];
      for (let nth = 0; (await detail()).promotion !== null; nth++) {
        assert.ok(nth < 150, JSON.stringify((await running())?.summary));
        await shortSession(urls[nth % 2]!);
      }
      await until(() => reader.told.tools.length > 0 || undefined);
      assert.equal(await shown(reader), POOR_DESCRIPTION);
      assert.equal(await shown(other), POOR_DESCRIPTION);
      assert.equal(other.told.tools.length, 0, "its list is as it was");
      await until(async () =>
        await shownIn(second.url, watched.id!) === POOR_DESCRIPTION || undefined
      );

      const { history } = await detail();
      const [event] = history;
      assert.deepEqual([event.action, event.by], ["revert", "trial"]);
      assert.match(event.reason, /did worse: bad outcomes in (\d+) of \1 sessions, and in 0 of/);
      assert.equal(event.trialResult.summary.promoted.refused > 6, true);
      assert.ok(event.trialResult.summary.promoted.retries > 0);
      assert.equal(
        history.filter(({ action }: { action: string }) => action === "revert").length,
        1,
      );
      const audit = await cli.ok("audit", "list", "--json");
      assert.match(audit, /promotion\.revert/);
      assert.match(audit, /live A\/B/);
      assert.match(
        first.log() + second.log(),
        /Live A\/B of library\.find_books reverted the promo/,
      );
      const done = await (await fetch(`${first.url}/optimization/library/find_books?tab=history`))
        .text();
      assert.match(done, /by live A\/B/);
      assert.match(await cli.ok("optimize", "ab", "show"), /No live A\/B is running/);
      await reader.end();
      await other.end();
    } finally {
      await first.stop();
    }
  });
});

Deno.test("a promotion for a model family reaches its clients alone", async () => {
  await withLibrary(async (cli) => {
    await using gateway = await start(cli);
    await promote(cli, PROMOTED);
    const claude = await openSession(gateway.url, "claude-code");
    const codex = await openSession(gateway.url, "codex-mcp-client");
    const cursor = await openSession(gateway.url, "cursor-vscode");
    assert.equal(await shown(codex), PROMOTED);
    assert.equal(await shown(claude), PROMOTED);
    assert.equal(await shown(cursor), PROMOTED);
    await promote(cli, FOR_GPT, "--family", "gpt");
    await until(() => codex.told.tools.length > 0 || undefined);
    assert.equal(await shown(codex), FOR_GPT);
    assert.equal(await shown(claude), PROMOTED);
    assert.equal(await shown(cursor), PROMOTED);
    assert.equal(claude.told.tools.length, 0, "nothing has changed for it");

    // Without the text for all, clients of other families get the server's own.
    await cli.ok("optimize", "revert", TOOL);
    await until(() => claude.told.tools.length > 0 || undefined);
    assert.equal(await shown(claude), POOR_DESCRIPTION);
    assert.equal(await shown(codex), FOR_GPT);
    const { tool: { history } } = await cli.json("optimize", "show", TOOL);
    const step = history.find(({ family }: { family?: string }) => family === "gpt");
    assert.match(await cli.ok("optimize", "show", TOOL), /For gpt models/);
    assert.match(await cli.ok("optimize", "status"), /own text for gpt/);
    await cli.ok("optimize", "revert", TOOL, "--family", "gpt");
    await until(async () => await shown(codex) === POOR_DESCRIPTION || undefined);
    await cli.ok("optimize", "revert", TOOL, "--to", step.id);
    await until(async () => await shown(codex) === FOR_GPT || undefined);
    assert.equal(await shown(claude), POOR_DESCRIPTION);
    for (const { end } of [claude, codex, cursor]) await end();
  });
});
