import assert from "node:assert/strict";
import * as z from "zod";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { until } from "../gateway.ts";
import { Audited } from "./audited.ts";
import { Guarded, Visitor } from "./guarded.ts";

const CANARY = "canary-51c0e7";
const Waiting = z.object({ calls: z.array(z.looseObject({ id: z.string() })) });

Deno.test("who was refused a call is in the audit log, with why, and cannot fill it", async (t) => {
  await using notes = new ScriptedServer([tool("write")]);
  await using guarded = await Guarded.open({
    kept: { ...at(notes), mode: "read-only" },
    asks: { ...at(notes), mode: "confirm" },
    plain: at(notes),
  });
  const audited = new Audited(guarded);
  const { text: caller } = await guarded.token({ name: "caller" });
  const { text: reader } = await guarded.token({ name: "reader", rights: ["read"] });
  const call = async (server: string, token = caller, endpoint = `/servers/${server}/mcp`) => {
    const visitor = await Visitor.open(guarded.url, endpoint, token);
    return await visitor.call(`${server}.write`, { text: CANARY });
  };
  await audited.news();

  await t.step("by the mode of its server, at each endpoint", async () => {
    const endpoints = { "/servers/kept/mcp": "servers/kept\\?namespaced", "/mcp": "mcp\\?default" };
    for (const [endpoint, from] of Object.entries(endpoints)) {
      // The owner has just asked for something else, from another place.
      for (const [who, token] of Object.entries({ caller, owner: guarded.owner })) {
        await audited.leaves({
          action: "call.refuse",
          subject: "kept.write",
          who,
          from: new RegExp(`^MCP at /${from}, client "visitor 1", from 127\\.0\\.0\\.1$`),
        }, async () => assert.match(await call("kept", token, endpoint), /ACCESS_DENIED/));
      }
    }
  });

  await t.step("by a person who says no", async () => {
    const answer = call("asks");
    const [waiting] = await until(async () => {
      const { calls } = Waiting.parse((await guarded.api("GET", "/api/approvals")).value);
      return calls.length > 0 ? calls : undefined;
    });
    await guarded.api("POST", `/api/approvals/${waiting!.id}`, { decision: "deny" });
    assert.match(await answer, /ACCESS_DENIED/);
    const news = await audited.news();
    const rows = news.map(({ action, subject, who }) => [action, subject, who]).sort();
    assert.deepEqual(rows, [
      ["call.deny", "asks.write", "owner"],
      ["call.refuse", "asks.write", "caller"],
    ]);
  });

  await t.step("by a right that the token does not have", async () => {
    for (const endpoint of ["/servers/plain/mcp", "/mcp"]) {
      await audited.leaves({
        action: "call.refuse",
        subject: "plain.write",
        who: "reader",
        from: new RegExp(`^MCP at ${endpoint.replace(/\/mcp$/, "")}`),
      }, async () => assert.match(await call("plain", reader, endpoint), /ACCESS_DENIED/));
    }
  });

  await t.step("by a right, where a tool is tried in the console or by the API", async () => {
    const lacking = { reads: ["read"], manages: ["read", "manage"], calls: ["read", "call"] };
    for (const [who, rights] of Object.entries(lacking)) {
      const { text: token } = await guarded.token({ name: who, rights });
      const login = await audited.submit("/login", { token, then: "" });
      const [cookie] = login.headers.get("set-cookie")!.split(";");
      await audited.news();
      const refused = { action: "call.refuse", subject: "plain.write", who };
      const body = { arguments: { text: CANARY }, confirmed: true };
      const api = async (tool: string) => {
        const path = `/api/tools/plain/${tool}/call`;
        const { status, value } = await guarded.api("POST", path, body, token);
        assert.equal(status, 403);
        return value.error;
      };
      await audited.leaves(refused, () => api("write"));
      assert.deepEqual(await api("made-up"), await api("%77rite"), "it tells of no tool");
      assert.equal((await audited.news()).length, 1, "what there is not leaves no entry");
      const form = async (fields: Record<string, string>) => {
        const { status } = await audited.submit("/tools/plain/write", fields, cookie);
        return status;
      };
      await audited.leaves({ ...refused, from: /^console, 127\.0\.0\.1$/ }, async () => {
        assert.equal(await form({ try: "confirmed", text: CANARY }), 403);
      });
      if (who === "manages") continue;
      assert.equal(await form({ description: "Writes" }), 403);
      assert.deepEqual(await audited.news(), [], "to describe a tool is not to call it");
    }
    assert.deepEqual(notes.calls, []);
  });

  await t.step("by a mode, where a tool is tried in the console or by the API", async () => {
    const rights = ["read", "call", "manage"];
    const { text: narrow } = await guarded.token({
      name: "narrow",
      rights,
      limit: { mode: "read-only" },
    });
    await audited.news();
    const tried = (server: string, token: string, body: object) =>
      guarded.api(
        "POST",
        `/api/tools/${server}/write/call`,
        { arguments: { text: CANARY }, ...body },
        token,
      );
    const ways: [string, string, string, object, number][] = [
      ["narrow", "plain", narrow, { confirmed: true }, 403],
      ["owner", "kept", guarded.owner, { confirmed: true }, 403],
      ["owner", "asks", guarded.owner, {}, 400],
    ];
    for (const [who, server, token, body, status] of ways) {
      await audited.leaves(
        { action: "call.refuse", subject: `${server}.write`, who },
        async () => assert.equal((await tried(server, token, body)).status, status),
      );
    }
    assert.equal((await tried("asks", guarded.owner, { confirmed: true })).status, 200);
    assert.deepEqual(await audited.news(), []);
  });

  await t.step("of the gateway's own tools", async () => {
    const visitor = await Visitor.open(guarded.url, "/gateway/mcp", reader);
    const work = async () =>
      assert.match(await visitor.call("restart_server", { name: "plain" }), /ACCESS_DENIED/);
    await audited.leaves({
      action: "call.refuse",
      subject: "(gateway).restart_server",
      who: "reader",
      from: /^MCP at \/gateway, /,
    }, work);
  });

  await t.step("of what else makes use of a server, whatever it is called", async () => {
    const endpoints = { "/servers/plain/mcp": "plain.", "/mcp?expose=all": "" };
    for (const [endpoint, server] of Object.entries(endpoints)) {
      const visitor = await Visitor.open(guarded.url, endpoint, reader);
      const refused = async (method: string) =>
        assert.match((await visitor.request(method, { uri: "a://b" })).text, /ACCESS_DENIED/);
      const expected = { action: "call.refuse", who: "reader", from: /^MCP at / };
      await audited.leaves(
        { ...expected, subject: `${server}resources/read` },
        () => refused("resources/read"),
      );
      await visitor.request("resources/list");
      assert.deepEqual(await audited.news(), []);
      for (let n = 0; n < 20; n++) await refused(`made/up${n}`);
      const subjects = (await audited.news()).map(({ subject }) => subject);
      assert.deepEqual(subjects, Array(5).fill(`${server}request`), "names do not make many of it");
    }
  });

  await t.step("a call that is made leaves no entry", async () => {
    assert.match(await call("plain"), /called write/);
    assert.deepEqual(await audited.news(), []);
  });

  await t.step("whoever tries on and on leaves a few", async () => {
    const { text: eager } = await guarded.token({ name: "eager" });
    await audited.news();
    const visitor = await Visitor.open(guarded.url, "/servers/kept/mcp", eager);
    for (let n = 0; n < 100; n++) await visitor.call("kept.write", { text: CANARY });
    assert.equal((await audited.news()).length, 5);
  });

  const log = await (await guarded.get("/api/audit/export", { token: guarded.owner })).text();
  assert.match(log, /allows only read-only tools/);
  assert.ok(!log.includes(CANARY), "the arguments are in the log");
});
