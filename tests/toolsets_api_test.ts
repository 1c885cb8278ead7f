import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { startGateway, until } from "./gateway.ts";

const FIXTURE = fromFileUrl(new URL("fixtures/file_tools_server.ts", import.meta.url));

const tools = ["status", "log", "diff"].map((name) => ({ name, inputSchema: { type: "object" } }));

Deno.test("the toolsets' API saves, equips, deletes, exports and imports", async (t) => {
  const cwd = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const list = join(cwd, "tools.json");
  await Deno.writeTextFile(list, JSON.stringify(tools));
  const git = {
    command: Deno.execPath(),
    args: ["run", "-A", "-q", "--no-lock", FIXTURE, list],
  };
  await Deno.writeTextFile(
    join(cwd, ".mcp.json"),
    JSON.stringify({ mcpServers: { git, away: { url: "http://127.0.0.1:59997/mcp" } } }),
  );
  await using gateway = await startGateway([], { cwd });
  const send = async (method: string, path: string, body?: string) => {
    const response = await fetch(`${gateway.url}/api/${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, ...await response.json() };
  };
  const ask = (method: string, path: string, body?: unknown) =>
    send(method, path, body === undefined ? undefined : JSON.stringify(body));
  const names = async () =>
    (await ask("GET", "toolsets")).toolsets.map(({ name }: { name: string }) => name);
  await until(async () =>
    (await ask("GET", "servers/git")).server.state === "ready" ? true : undefined
  );

  await t.step("POST saves what is named in any way", async () => {
    const saved = await ask("POST", "toolsets", {
      name: "dev",
      description: "Daily work",
      tools: ["git.status", { namespacedName: "git_log" }],
    });
    assert.equal(saved.status, 201);
    assert.equal(saved.toolset.registered, 2);
    assert.ok(saved.toolset.tokens > 0);
    assert.deepEqual(
      saved.toolset.tools.map(({ name, state }: Record<string, unknown>) => [name, state]),
      [["git_status", "registered"], ["git_log", "registered"]],
    );
    const all = await ask("POST", "toolsets", { name: "constructor", tools: ["git.*"] });
    assert.equal(all.toolset.toolCount, 3);
    assert.deepEqual(await names(), ["constructor", "dev"]);
  });

  await t.step("what is wrong is said in words, and nothing is saved", async () => {
    const wrong: [number, string, string, string, unknown?][] = [
      [409, "CONFLICT", "POST", "toolsets", { name: "dev", tools: ["git.*"] }],
      [404, "TOOL_NOT_FOUND", "POST", "toolsets", { name: "x", tools: ["git.log", "git.statsu"] }],
      [400, "INVALID_ARGUMENTS", "POST", "toolsets", { name: "x", tools: [] }],
      [400, "INVALID_ARGUMENTS", "POST", "toolsets", { name: "a/b", tools: ["git.log"] }],
      [400, "INVALID_ARGUMENTS", "POST", "toolsets", { name: "x", tools: ["git.log"], nope: 1 }],
      [404, "NOT_FOUND", "GET", "toolsets/deev"],
      [404, "NOT_FOUND", "PUT", "toolsets/deev", { tools: ["git.log"] }],
      [404, "NOT_FOUND", "DELETE", "toolsets/deev"],
      [404, "NOT_FOUND", "POST", "toolsets/toString/equip", {}],
      [404, "NOT_FOUND", "GET", "exchange/toolsets?name=deev"],
      [400, "INVALID_ARGUMENTS", "POST", "exchange/toolsets", { name: "x" }],
      [400, "INVALID_ARGUMENTS", "POST", "exchange/toolsets", {
        kind: "quartermaster/toolsets",
        version: 2,
        toolsets: [],
      }],
    ];
    for (const [status, code, method, path, body] of wrong) {
      const { error, ...answer } = await ask(method, path, body);
      assert.equal(answer.status, status, `${method} ${path}: ${error?.message}`);
      assert.equal(error.errorType, code);
      if (code === "TOOL_NOT_FOUND") assert.match(error.hint, /Did you mean git\.status\?/);
      if (code === "NOT_FOUND" && path.includes("deev")) assert.match(error.hint, /mean dev\?/);
    }
    const { status, error } = await send("POST", "toolsets", '{"name": ');
    assert.deepEqual([status, error.errorType], [400, "INVALID_ARGUMENTS"]);
    assert.deepEqual(await names(), ["constructor", "dev"]);
  });

  await t.step("PUT changes the tools and keeps the description", async () => {
    const { toolset } = await ask("PUT", "toolsets/dev", { tools: ["git.diff"] });
    assert.deepEqual([toolset.toolCount, toolset.description], [1, "Daily work"]);
  });

  await t.step("one is equipped, then another, then none", async () => {
    assert.equal((await ask("GET", "equipped")).toolset, null);
    for (const name of ["dev", "constructor"]) {
      assert.equal((await ask("POST", `toolsets/${name}/equip`, {})).toolset.name, name);
      assert.equal((await ask("GET", "equipped")).toolset.name, name);
      assert.equal((await ask("GET", "toolsets")).equipped, name);
    }
    assert.equal((await ask("DELETE", "equipped", {})).unequipped, "constructor");
    assert.equal((await ask("DELETE", "equipped", {})).unequipped, null);
  });

  await t.step("what was exported is the same after its import", async () => {
    const { status, ...file } = await ask("GET", "exchange/toolsets");
    assert.equal(status, 200);
    const dry = await ask("POST", "exchange/toolsets?dryRun=true", file);
    assert.deepEqual(dry.saved, []);
    const taken = await ask("POST", "exchange/toolsets", file);
    assert.deepEqual(taken.saved, []);
    assert.match(taken.toolsets[0].problem, /already/);
    for (const name of await names()) {
      assert.equal((await ask("DELETE", `toolsets/${name}`, {})).deleted, name);
    }
    assert.deepEqual((await ask("POST", "exchange/toolsets?dryRun=true", file)).saved, [
      "constructor",
      "dev",
    ]);
    assert.deepEqual(await names(), []);
    assert.deepEqual((await ask("POST", "exchange/toolsets", file)).saved, ["constructor", "dev"]);
    const { status: _, ...again } = await ask("GET", "exchange/toolsets");
    assert.deepEqual(again, file);
    const one = await ask("GET", "exchange/toolsets?name=dev");
    assert.deepEqual(one.toolsets, file.toolsets.slice(1));
  });

  await t.step("a toolset of another program is matched, with guesses for the rest", async () => {
    const { saved, toolsets: [report] } = await ask("POST", "exchange/toolsets", {
      name: "from elsewhere",
      tools: ["git.status", "git.lgo", "away.look"].map((namespacedName) => ({ namespacedName })),
    });
    assert.deepEqual(saved, ["from-elsewhere"]);
    assert.equal(report.wasNamed, "from elsewhere");
    assert.deepEqual(
      report.unmatched.map(({ written, nearest }: Record<string, unknown>) => [written, nearest]),
      [["git.lgo", ["git.log"]], ["away.look", []]],
    );
    const { toolset } = await ask("GET", "toolsets/from-elsewhere");
    assert.deepEqual(
      toolset.tools.map(({ state }: { state: string }) => state),
      ["registered", "gone", "waiting"],
    );
  });

  await t.step("whoever deletes the equipped toolset has none equipped", async () => {
    await ask("POST", "toolsets/dev/equip", {});
    await ask("DELETE", "toolsets/dev", {});
    assert.equal((await ask("GET", "equipped")).toolset, null);
    await ask("POST", "toolsets", { name: "dev", tools: ["git.log"] });
    assert.equal((await ask("GET", "equipped")).toolset, null);
  });
  await Deno.remove(cwd, { recursive: true });
});
