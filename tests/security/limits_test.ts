import assert from "node:assert/strict";
import { at, tool } from "../combined_doors.ts";
import { chaos } from "../faults.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { until } from "../gateway.ts";
import { Guarded, Visitor } from "./guarded.ts";

const code = (text: string) => /"errorType":"(\w+)"/.exec(text)?.[1] ?? "called";

Deno.test("nobody calls more than they may, whichever door they take", async (t) => {
  await using notes = new ScriptedServer([tool("read")]);
  await using busy = new ScriptedServer([tool("read")]);
  await using guarded = await Guarded.open({
    notes: at(notes),
    busy: { ...at(busy), callsPerMinute: 4 },
    slow: chaos([], { maxConcurrent: 2 }),
  });
  const { url, owner } = guarded;

  await t.step("a token's calls a minute are those at all doors together", async () => {
    const { text: token } = await guarded.token({ limit: { perMinute: 3 } });
    const doors = ["/servers/notes/mcp", "/mcp?expose=all", "/mcp"];
    const visitors = await Promise.all(doors.map((door) => Visitor.open(url, door, token)));
    const calls: string[] = [];
    for (const visitor of visitors) calls.push(code(await visitor.call("notes.read")));
    assert.deepEqual(calls, ["called", "called", "called"]);
    for (const visitor of visitors) {
      const answer = await visitor.call("notes.read");
      assert.equal(code(answer), "LIMIT_EXCEEDED");
      assert.match(answer, /This token is limited to 3 a minute: try again in \d+ s/);
      assert.match(answer, /"isError":true/);
    }
    const executed = await visitors[2]!.call("tool_execute", { toolKey: "notes.read" });
    assert.equal(code(executed), "LIMIT_EXCEEDED");
    assert.equal(notes.calls.length, 3);
    const other = await Visitor.open(url, "/servers/notes/mcp", owner);
    assert.equal(code(await other.call("notes.read")), "called");
  });

  await t.step("a server's calls a minute are those of everybody together", async () => {
    const { text: token } = await guarded.token();
    const [one, two] = await Promise.all(
      [token, owner].map((text) => Visitor.open(url, "/servers/busy/mcp", text)),
    );
    const answers = [];
    for (const visitor of [one!, two!, one!, two!, one!, two!]) {
      answers.push(code(await visitor.call("busy.read")));
    }
    assert.deepEqual(answers.slice(0, 4), Array(4).fill("called"));
    assert.deepEqual(answers.slice(4), Array(2).fill("LIMIT_EXCEEDED"));
    assert.equal(busy.calls.length, 4);
  });

  await t.step("calls under way at once are those that have not been answered", async () => {
    const visitor = await Visitor.open(url, "/servers/slow/mcp?names=original", owner);
    const five = () =>
      Promise.all(Array.from({ length: 5 }, () => visitor.call("sleep", { ms: 500 })));
    for (let round = 0; round < 2; round++) {
      const answers = await five();
      const refused = answers.filter((text) => code(text) === "LIMIT_EXCEEDED");
      assert.equal(refused.length, 3, answers.join("\n").slice(0, 500));
      assert.match(refused[0]!, /Server \\"slow\\" has 2 under way/);
    }
  });

  await t.step("a call that failed, or whose client has gone, takes no place", async () => {
    const visitor = await Visitor.open(url, "/servers/slow/mcp?names=original", owner);
    const both = () =>
      until(async () => {
        const nap = () => visitor.call("sleep", { ms: 50 });
        const answers = await Promise.all([nap(), nap()]);
        return answers.every((text) => code(text) === "called") || undefined;
      });
    await visitor.call("crash");
    await both();
    const leave = new AbortController();
    const gone = [1, 2].map((nth) => {
      const params = { name: "hang", arguments: {} };
      const body = JSON.stringify({ jsonrpc: "2.0", id: `${nth}`, method: "tools/call", params });
      const { headers } = visitor;
      return fetch(visitor.url, { method: "POST", headers, body, signal: leave.signal });
    });
    const responses = await Promise.all(gone);
    assert.equal(code(await visitor.call("sleep")), "LIMIT_EXCEEDED");
    leave.abort();
    for (const response of responses) await response.body?.cancel().catch(() => {});
    await both();
  });

  await t.step("a flood of sessions gets 429 and when to come back, for itself alone", async () => {
    const { text: token } = await guarded.token();
    const visitor = await Visitor.open(url, "/servers/notes/mcp", token);
    const params = { protocolVersion: "2025-11-25", capabilities: {} };
    let refused: Response | undefined;
    for (let sent = 0; sent < 4_000 && !refused; sent += 50) {
      const some = Array.from({ length: 50 }, () => visitor.post("initialize", params));
      for (const response of await Promise.all(some)) {
        if (response.status === 429) refused ??= response;
        else await response.body?.cancel();
      }
    }
    assert.match(refused?.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
    assert.match(await refused?.text() ?? "", /LIMIT_EXCEEDED/);
    assert.equal(
      code(await visitor.call("notes.read")),
      "called",
      "calls have limits of their own",
    );
    await Visitor.open(url, "/servers/notes/mcp", owner);
  });
});
