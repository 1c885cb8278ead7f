import assert from "node:assert/strict";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { Guarded, Visitor } from "./guarded.ts";

const READS = { annotations: { readOnlyHint: true } };

function notes(): ScriptedServer {
  return new ScriptedServer([
    tool("list", READS),
    tool("write"),
    tool("append", { annotations: { destructiveHint: false } }),
    // It claims to read, and its owner knows better.
    tool("query", READS),
    // It says nothing, and its owner knows that it reads.
    tool("search"),
  ]);
}

const names = (server: ScriptedServer) => server.calls.map((call) => JSON.parse(call).name);

/** Calls a tool in every way there is; gives the codes of the answers, or "called". */
async function everyWay(guarded: Guarded, token: string, server: string, name: string) {
  const ways: [string, string, object][] = [
    [`/servers/${server}/mcp`, `${server}.${name}`, {}],
    [`/s/${server}/mcp?names=original`, name, {}],
    ["/mcp?expose=all", `${server}_${name}`, {}],
    ["/mcp", `${server}.${name}`, {}],
    ["/mcp", "tool_execute", { toolKey: `${server}.${name}`, arguments: {} }],
    ["/mcp?expose=optimizer", "optim.call_tool", {
      backend_id: server,
      tool_name: name,
      parameters: {},
    }],
  ];
  const outcomes = new Set<string>();
  for (const [endpoint, called, args] of ways) {
    const visitor = await Visitor.open(guarded.url, endpoint, token);
    const text = await visitor.call(called, args);
    outcomes.add(/"errorType":"(\w+)"/.exec(text)?.[1] ?? (/called \w+/.exec(text)?.[0] ?? text));
  }
  return [...outcomes];
}

Deno.test("in read-only mode nothing that writes is called, whichever way it is tried", async (t) => {
  await using guardedNotes = notes();
  await using plainNotes = notes();
  await using guarded = await Guarded.open({
    guarded: {
      ...at(guardedNotes),
      mode: "read-only",
      writingTools: ["query"],
      readOnlyTools: ["sea*"],
    },
    plain: at(plainNotes),
  });
  const { owner } = guarded;

  await t.step("a server's entry", async () => {
    const outcome = (name: string) => everyWay(guarded, owner, "guarded", name);
    assert.deepEqual(await outcome("write"), ["ACCESS_DENIED"]);
    assert.deepEqual(await outcome("append"), ["ACCESS_DENIED"]);
    assert.deepEqual(await outcome("query"), ["ACCESS_DENIED"], "the server's claim");
    assert.deepEqual(names(guardedNotes), []);
    assert.deepEqual(await outcome("list"), ["called list"]);
    assert.deepEqual(await outcome("search"), ["called search"]);
    assert.deepEqual(await everyWay(guarded, owner, "plain", "write"), ["called write"]);
  });

  await t.step(
    "what may not be called is listed all the same, and says why it is not",
    async () => {
      const visitor = await Visitor.open(guarded.url, "/servers/guarded/mcp", owner);
      assert.ok((await visitor.tools()).includes("guarded.write"));
      const answer = await visitor.call("guarded.write");
      assert.match(answer, /the entry of server \\"guarded\\" allows only read-only tools/);
      assert.match(answer, /"isError":true/);
    },
  );

  await t.step("a token", async () => {
    const { text: token } = await guarded.token({ limit: { mode: "read-only" } });
    plainNotes.calls.length = 0;
    assert.deepEqual(await everyWay(guarded, token, "plain", "write"), ["ACCESS_DENIED"]);
    assert.deepEqual(names(plainNotes), []);
    assert.deepEqual(await everyWay(guarded, token, "plain", "list"), ["called list"]);
    assert.deepEqual(await everyWay(guarded, owner, "plain", "write"), ["called write"]);
  });

  await t.step("a token that may manage, as the console's own client", async () => {
    const rights = ["read", "call", "manage"];
    const { text: token } = await guarded.token({ rights, limit: { mode: "read-only" } });
    const tried = (name: string, by: string) =>
      guarded.api("POST", `/api/tools/plain/${name}/call`, { confirmed: true }, by);
    plainNotes.calls.length = 0;
    const { status, value } = await tried("write", token);
    assert.equal(status, 403);
    assert.match(JSON.stringify(value), /ACCESS_DENIED.*this token allows only read-only tools/);
    assert.deepEqual(names(plainNotes), []);
    assert.equal((await tried("list", token)).status, 200);
    assert.equal((await tried("write", owner)).status, 200);
    assert.deepEqual(names(plainNotes), ["list", "write"]);
  });

  await t.step("a server's entry, as the console's own client", async () => {
    const tried = (name: string) =>
      guarded.api("POST", `/api/tools/guarded/${name}/call`, { confirmed: true }, owner);
    guardedNotes.calls.length = 0;
    for (const name of ["write", "append", "query"]) {
      const { status, value } = await tried(name);
      assert.equal(status, 403, name);
      assert.match(
        JSON.stringify(value),
        /ACCESS_DENIED.*the entry of server \\"guarded\\" allows only read-only tools/,
      );
    }
    assert.equal((await tried("list")).status, 200);
    assert.equal((await tried("search")).status, 200, "the owner's word");
    assert.deepEqual(names(guardedNotes), ["list", "search"]);
  });

  await t.step(
    "a toolset, at its endpoint and where it is equipped, by whatever project",
    async () => {
      const tools = ["plain.list", "plain.write"];
      const built = await guarded.api("POST", "/api/exchange/toolsets", { name: "pair", tools });
      assert.deepEqual(built.value.saved, ["pair"]);
      const project = await guarded.api("PUT", "/api/projects/web", { servers: ["plain"] });
      assert.ok(project.status < 300, JSON.stringify(project.value));
      const { status } = await guarded.api("PUT", "/api/approvals/modes/pair", {
        mode: "read-only",
      });
      assert.equal(status, 200);
      plainNotes.calls.length = 0;
      const own = await Visitor.open(guarded.url, "/toolsets/pair/mcp", owner);
      assert.match(await own.call("plain_write"), /ACCESS_DENIED.*the toolset allows only/);
      assert.match(await own.call("plain_write", {}, { projectId: "web" }), /ACCESS_DENIED/);
      const equipping = await Visitor.open(guarded.url, "/mcp", owner);
      assert.match(await equipping.call("plain.write"), /called write/);
      assert.equal((await guarded.api("POST", "/api/toolsets/pair/equip", {})).status, 200);
      assert.match(await equipping.call("plain.write"), /ACCESS_DENIED/);
      assert.match(
        await equipping.call("tool_execute", { toolKey: "plain.write" }),
        /ACCESS_DENIED/,
      );
      assert.match(await equipping.call("plain.append"), /called append/, "is not in the toolset");
      assert.deepEqual(names(plainNotes), ["write", "append"]);
      const replacing = "/api/exchange/toolsets?replace=true";
      const replaced = await guarded.api("POST", replacing, { name: "pair", tools });
      assert.deepEqual(replaced.value.saved, ["pair"]);
      assert.match(
        await own.call("plain_write"),
        /ACCESS_DENIED/,
        "to save it anew loosens nothing",
      );
    },
  );
});
