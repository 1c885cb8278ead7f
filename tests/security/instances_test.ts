import assert from "node:assert/strict";
import * as z from "zod";
import { at, tool } from "../combined_endpoints.ts";
import { startHttpFixture } from "../fixtures/start_fixture.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { until } from "../gateway.ts";
import { bearer, Guarded, Visitor } from "./guarded.ts";

const code = (text: string) => /"errorType":"(\w+)"/.exec(text)?.[1] ?? "called";
const Waiting = z.object({
  calls: z.array(z.looseObject({ id: z.string(), server: z.string(), tool: z.string() })),
});

Deno.test("limits and approvals hold for three gateways on one store together", async (t) => {
  await using notes = new ScriptedServer([tool("read"), tool("write")]);
  await using chaos = await startHttpFixture("chaos_http");
  await using guarded = await Guarded.open({
    notes: at(notes),
    busy: { ...at(notes), callsPerMinute: 4 },
    slow: { ...at(chaos, "/s/slow/mcp"), maxConcurrent: 2 },
    asking: { ...at(notes), mode: "confirm" },
    long: { ...at(notes), maxResultTokens: 500 },
  });
  const { owner } = guarded;
  const urls = [guarded.url, await guarded.start(), await guarded.start()];
  const [a, b, c] = urls as [string, string, string];
  /** One session at all of them: each request goes to the next gateway. */
  const roundRobin = async (server: string, token: string) => {
    const visitor = await Visitor.open(a, `/servers/${server}/mcp?names=original`, token);
    let nth = 0;
    return (name: string, args: object = {}, url = urls[nth++ % 3]!) =>
      visitor.at(url).call(name, args);
  };

  await t.step("a token's calls a minute", async () => {
    const { text: token } = await guarded.token({ limit: { perMinute: 5 } });
    const call = await roundRobin("notes", token);
    notes.calls.length = 0;
    const answers = await Promise.all(Array.from({ length: 18 }, () => call("read")));
    const refused = answers.filter((text) => code(text) === "LIMIT_EXCEEDED");
    assert.equal(refused.length, 13, answers.join("\n").slice(0, 500));
    assert.equal(notes.calls.length, 5);
    assert.match(refused[0]!, /This token is limited to 5 per minute: try again in \d+ s/);
    for (const url of urls) assert.equal(code(await call("read", {}, url)), "LIMIT_EXCEEDED");
    const other = await roundRobin("notes", owner);
    assert.equal(code(await other("read")), "called");
  });

  await t.step("a server's calls a minute", async () => {
    const call = await roundRobin("busy", owner);
    const answers = [];
    for (let nth = 0; nth < 9; nth++) answers.push(code(await call("read")));
    assert.deepEqual(answers.slice(0, 4), Array(4).fill("called"));
    assert.deepEqual(answers.slice(4), Array(5).fill("LIMIT_EXCEEDED"));
  });

  await t.step("calls under way at once", async () => {
    const call = await roundRobin("slow", owner);
    // Longer than it takes to refuse the others, on a busy machine too.
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => call("sleep", { ms: 4_000 })),
    );
    assert.equal(answers.filter((text) => code(text) === "called").length, 2, answers.join("\n"));
    for (const url of urls) assert.equal(code(await call("echo", {}, url)), "called", url);
    const { text: token } = await guarded.token({ limit: { concurrent: 1 } });
    const alone = await roundRobin("notes", token);
    for (let nth = 0; nth < 9; nth++) assert.equal(code(await alone("read")), "called", `${nth}`);
  });

  await t.step("the rest of a long result", async () => {
    const text = "a line of a long text\n".repeat(1_000);
    notes.results.set("read", JSON.stringify({ content: [{ type: "text", text }] }));
    const visitor = await Visitor.open(a, "/servers/long/mcp?names=original", owner);
    const [uri = ""] = /quartermaster:[^\s,\]]+/.exec(await visitor.at(b).call("read")) ?? [];
    notes.results.delete("read");
    for (const url of urls) {
      assert.match(
        (await visitor.at(url).request("resources/read", { uri })).text,
        /a line of/,
        url,
      );
    }
    const stranger = await Visitor.open(c, "/servers/long/mcp?names=original", owner);
    assert.match((await stranger.request("resources/read", { uri })).text, /Page not found/);
  });

  const waiting = async (url: string) => {
    const response = await guarded.get("/api/approval.list", { url, token: owner });
    return Waiting.parse(await response.json()).calls;
  };
  const decide = async (url: string, id: string, decision: string) => {
    const response = await fetch(`${url}/api/approval.decide`, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(owner) },
      body: JSON.stringify({ id, decision }),
    });
    await response.body?.cancel();
    return response.status;
  };
  const shown = (url: string) => until(async () => (await waiting(url)).at(0));
  const nobodyWaits = async () => {
    for (const url of urls) await until(async () => (await waiting(url)).length === 0 || undefined);
  };

  await t.step("an approval", async () => {
    const call = await roundRobin("asking", owner);
    for (const [decision, outcome] of [["approve", "called"], ["deny", "ACCESS_DENIED"]] as const) {
      const answer = call("write", {}, a);
      const { id, server, tool } = await shown(b);
      assert.deepEqual([server, tool], ["asking", "write"]);
      assert.equal(await decide(c, id, decision), 200);
      assert.equal(code(await answer), outcome);
      await nobodyWaits();
      assert.equal(await decide(b, id, decision), 404);
    }
    const both = [call("write", {}, a), call("write", {}, b)];
    const { id } = await until(async () => {
      const calls = await waiting(c);
      return calls.length === 2 ? calls[0] : undefined;
    });
    assert.equal(await decide(c, id, "always"), 200);
    for (const text of await Promise.all(both)) assert.equal(code(text), "called");
    for (const url of urls) assert.equal(code(await call("write", {}, url)), "called", url);
    await nobodyWaits();
    const stranger = await roundRobin("asking", owner);
    const asked = stranger("write", {}, b);
    assert.equal(await decide(a, (await shown(a)).id, "deny"), 200);
    assert.equal(code(await asked), "ACCESS_DENIED", "it is for that session");
  });

  await t.step("what a killed gateway had is free again", async () => {
    const { text: token } = await guarded.token({ limit: { concurrent: 1 } });
    const call = await roundRobin("slow", token);
    const asking = await roundRobin("asking", owner);
    const lost = [call("hang", {}, c), asking("write", {}, c)].map((answer) =>
      assert.rejects(answer)
    );
    await shown(a);
    await until(async () => code(await call("echo", {}, a)) === "LIMIT_EXCEEDED" || undefined);
    await guarded.kill();
    await Promise.all(lost);
    assert.deepEqual(await waiting(a), []);
    await until(async () => code(await call("echo", {}, b)) === "called" || undefined);
  });
});
