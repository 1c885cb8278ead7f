import assert from "node:assert/strict";
import { at, tool } from "../combined_endpoints.ts";
import { chaos } from "../faults.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { until } from "../gateway.ts";
import { Guarded, Visitor } from "./guarded.ts";

const code = (text: string) => /"errorType":"(\w+)"/.exec(text)?.[1] ?? "called";

/** A server with more than tools; notes which of that is used. */
function withTexts(scheme: string, used: string[]): ScriptedServer {
  const server = new ScriptedServer([tool("read")]);
  server.capabilities = { resources: { subscribe: true }, prompts: {}, completions: {} };
  const resources = [{ uri: `${scheme}://one`, name: "one" }];
  server.scripts.set("resources/list", () => ({ resources }));
  server.scripts.set("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.scripts.set("prompts/list", () => ({ prompts: [{ name: "greet" }] }));
  const answers = {
    "resources/read": { contents: [] },
    "resources/subscribe": {},
    "prompts/get": { messages: [] },
    "completion/complete": { completion: { values: [] } },
  };
  for (const [method, answer] of Object.entries(answers)) {
    server.scripts.set(method, () => {
      used.push(method);
      return answer;
    });
  }
  return server;
}

Deno.test("nobody calls more than they may, whichever endpoint they take", async (t) => {
  await using notes = new ScriptedServer([tool("read")]);
  await using busy = new ScriptedServer([tool("read")]);
  const used: string[] = [];
  await using rich = withTexts("notes", used);
  await using single = withTexts("single", []);
  await using guarded = await Guarded.open({
    notes: at(notes),
    rich: at(rich),
    single: { ...at(single), maxConcurrent: 1 },
    busy: { ...at(busy), callsPerMinute: 4 },
    slow: chaos([], { maxConcurrent: 2 }),
  });
  const { url, owner } = guarded;

  await t.step("a token's calls a minute are those at all endpoints together", async () => {
    const { text: token } = await guarded.token({ limit: { perMinute: 3 } });
    const endpoints = ["/servers/notes/mcp", "/mcp?expose=all", "/mcp"];
    const visitors = await Promise.all(
      endpoints.map((endpoint) => Visitor.open(url, endpoint, token)),
    );
    const calls: string[] = [];
    for (const visitor of visitors) calls.push(code(await visitor.call("notes.read")));
    assert.deepEqual(calls, ["called", "called", "called"]);
    for (const visitor of visitors) {
      const answer = await visitor.call("notes.read");
      assert.equal(code(answer), "LIMIT_EXCEEDED");
      assert.match(answer, /This token is limited to 3 per minute: try again in \d+ s/);
      assert.match(answer, /"isError":true/);
      assert.match(answer, /"structuredContent":\{[^{}]*"retryAfterSeconds":[1-9]/);
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
      assert.match(refused[0]!, /Server \\"slow\\" has reached its limit of 2 concurrent calls/);
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

  await t.step(
    "what else makes use of a server counts like a call, at each kind of endpoint",
    async () => {
      const uses: [string, object][] = [
        ["resources/read", { uri: "notes://one" }],
        ["prompts/get", { name: "greet" }],
        ["completion/complete", {
          ref: { type: "ref/prompt", name: "greet" },
          argument: { name: "who", value: "" },
        }],
        ["resources/subscribe", { uri: "notes://one" }],
      ];
      const named = (params: object) =>
        JSON.parse(JSON.stringify(params).replaceAll('"greet"', '"rich_greet"'));
      for (const endpoint of ["/servers/rich/mcp", "/mcp?expose=all"]) {
        const isOwn = endpoint.startsWith("/servers");
        const { text: token } = await guarded.token({ limit: { perMinute: uses.length } });
        const visitor = await Visitor.open(url, endpoint, token);
        const use = async ([method, params]: [string, object]) =>
          (await visitor.request(method, isOwn ? params : named(params))).text;
        for (const list of ["resources/list", "prompts/list", "resources/templates/list"]) {
          assert.match((await visitor.request(list)).text, /"result"/, "to look is free");
        }
        for (const each of uses) {
          assert.match(await use(each), /"result"/, `${endpoint} ${each[0]}`);
        }
        used.length = 0;
        for (const each of uses) {
          const answer = await use(each);
          assert.equal(code(answer), "LIMIT_EXCEEDED", `${endpoint} ${each[0]}`);
          assert.match(answer, /"retryAfterSeconds":[1-9]/);
        }
        assert.deepEqual(used, []);
        assert.equal(code(await visitor.call("rich.read")), "LIMIT_EXCEEDED", "one count for all");
      }
    },
  );

  await t.step("what else is under way takes a place until it was answered, however", async () => {
    for (const endpoint of ["/servers/single/mcp", "/mcp?expose=all"]) {
      const visitor = await Visitor.open(url, endpoint, owner);
      const read = async () =>
        code((await visitor.request("resources/read", { uri: "single://one" })).text);
      await visitor.request("resources/list");
      const nextHeld = () => {
        const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        single.scripts.set("resources/read", async () => {
          begun.resolve();
          await held.promise;
          return { contents: [] };
        });
        // What should have been refused would wait for it for good.
        const timer = setTimeout(held.resolve, 60_000);
        const release = () => {
          clearTimeout(timer);
          held.resolve();
        };
        return { begun: begun.promise, release };
      };
      const held = nextHeld();
      const first = read();
      await held.begun;
      assert.equal(await read(), "LIMIT_EXCEEDED", endpoint);
      assert.equal(code(await visitor.call("single.read")), "LIMIT_EXCEEDED", endpoint);
      held.release();
      assert.equal(await first, "called");

      const other = nextHeld();
      const send = async (message: object) => {
        const { headers } = visitor;
        const body = JSON.stringify({ jsonrpc: "2.0", ...message });
        return await (await fetch(visitor.url, { method: "POST", headers, body })).text();
      };
      const params = { uri: "single://one" };
      const left = send({ id: "left", method: "resources/read", params });
      await Promise.race([other.begun, left]);
      assert.equal(code(await visitor.call("single.read")), "LIMIT_EXCEEDED", endpoint);
      await send({ method: "notifications/cancelled", params: { requestId: "left" } });
      await left;
      assert.equal(code(await visitor.call("single.read")), "called", `${endpoint}, cancelled`);
      other.release();
    }
  });

  await t.step("a program that asks the API gets 429 and when to come back", async () => {
    const rights = ["read", "call", "manage"];
    const { text: token } = await guarded.token({ rights, limit: { perMinute: 1 } });
    const tried = () =>
      fetch(`${url}/api/tools/notes/read/call`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ confirmed: true }),
      });
    const first = await tried();
    await first.body?.cancel();
    assert.equal(first.status, 200);
    const refused = await tried();
    assert.equal(refused.status, 429);
    const { error } = await refused.json();
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
    assert.equal(error.retryAfterSeconds, Number(refused.headers.get("retry-after")));
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
