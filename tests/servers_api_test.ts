import assert from "node:assert/strict";
import { join } from "@std/path";
import { ELSEWHERE, WITH_ADMIN } from "./elsewhere.ts";
import { fixtureCommand, startHttpFixture } from "./fixtures/start_fixture.ts";
import { startGateway } from "./gateway.ts";

Deno.test("the servers' API adds, shows, changes and removes, with secrets masked", async (t) => {
  await using chaos = await startHttpFixture("chaos_http", ["--token=canary-header"]);
  const cwd = await Deno.makeTempDir({ prefix: "quartermaster_" });
  await Deno.writeTextFile(
    join(cwd, ".mcp.json"),
    JSON.stringify({
      mcpServers: { filed: { url: "http://127.0.0.1:59997/${CANARY}/mcp", disabled: true } },
    }),
  );
  await using gateway = await startGateway([], {
    cwd,
    env: { CANARY: "canary-variable", ...WITH_ADMIN },
  });
  const answers: string[] = [];
  const ask = async (method: string, path: string, body?: unknown, headers = {}) => {
    const response = await fetch(`${gateway.url}/api/${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    answers.push(text);
    return { status: response.status, ...JSON.parse(text) };
  };
  const headers = { Authorization: "Bearer canary-header" };

  await t.step("POST adds by url; GET shows it", async () => {
    const added = await ask("POST", "servers", { name: "remote", url: chaos.url, headers });
    assert.equal(added.status, 201);
    assert.equal(added.server.state, "ready");
    const { server, spec } = await ask("GET", "servers/remote");
    assert.equal(server.toolCount, 15);
    assert.deepEqual(spec, {
      type: "http",
      url: chaos.url,
      headers: { Authorization: "***" },
      allowPrivate: true,
    });
    const { servers } = await ask("GET", "servers");
    assert.deepEqual(servers.map(({ name }: { name: string }) => name), ["filed", "remote"]);
    assert.match((await ask("GET", "servers/filed")).spec.url, /^http:\/\/127\.0\.0\.1:59997\//);
  });

  await t.step("PUT keeps what comes back masked, but sends it nowhere else", async () => {
    const moved = { url: new URL("/s/b/mcp", chaos.url).href, headers: { Authorization: "***" } };
    assert.equal((await ask("PUT", "servers/remote", moved)).server.state, "ready");
    const stolen = await ask("PUT", "servers/remote", { ...moved, url: "http://127.0.0.1:59998/" });
    assert.equal(stolen.error.errorType, "INVALID_ARGUMENTS");
    assert.equal((await ask("PUT", "servers/filed", moved)).error.errorType, "ACCESS_DENIED");
  });

  await t.step(
    "PUT keeps limits that it does not name, and takes away those that are null",
    async () => {
      const url = new URL("/s/b/mcp", chaos.url).href;
      const entry = { url, headers: { Authorization: "***" } };
      await ask("PUT", "servers/remote", { ...entry, callsPerMinute: 60, maxConcurrent: 2 });
      await ask("PUT", "servers/remote", { ...entry, callsPerMinute: null });
      const { spec } = await ask("GET", "servers/remote");
      assert.deepEqual([spec.callsPerMinute, spec.maxConcurrent], [undefined, 2]);
      const wrong = await ask("PUT", "servers/remote", { ...entry, url: null });
      assert.equal(wrong.error.errorType, "INVALID_ARGUMENTS");
      const added = await ask("POST", "servers", { name: "x", ...entry, maxConcurrent: null });
      assert.equal(added.error.errorType, "INVALID_ARGUMENTS");
    },
  );

  await t.step("PUT changes nothing of an entry that is not the version it names", async () => {
    const url = new URL("/s/b/mcp", chaos.url).href;
    const entry = { url, headers: { Authorization: "***" } };
    const { version } = await ask("GET", "servers/remote");
    assert.equal(
      (await ask("PUT", "servers/remote", { ...entry, maxConcurrent: 3, version })).status,
      200,
    );
    const stale = await ask("PUT", "servers/remote", { ...entry, maxConcurrent: 4, version });
    assert.deepEqual([stale.status, stale.error.errorType], [409, "CONFLICT"]);
    assert.match(stale.error.message, /changed its entry since you opened it/);
    assert.equal((await ask("GET", "servers/remote")).spec.maxConcurrent, 3);
    assert.equal((await ask("GET", "servers/filed")).version, undefined);
  });

  await t.step("POST runs a program only for this machine itself", async () => {
    const { command, args } = fixtureCommand("chaos_server", ["--stderr-flood=3"]);
    const wanted = { name: "local", command, args, env: { API_KEY: "canary-env" } };
    const { authorization } = ELSEWHERE;
    for (const proxied of [ELSEWHERE, { authorization, forwarded: "for=192.0.2.7" }]) {
      const refused = await ask("POST", "servers", wanted, proxied);
      assert.equal(refused.error.errorType, "CONSENT_NEEDED");
    }
    assert.equal((await ask("POST", "servers", wanted)).server.toolCount, 15);
    assert.deepEqual((await ask("GET", "servers/local")).spec.env, { API_KEY: "***" });
    assert.equal((await ask("GET", "servers/local/logs?lines=2")).lines.length, 2);
    assert.equal((await ask("POST", "servers/local/restart")).server.state, "ready");
  });

  await t.step("tools are read and chosen", async () => {
    assert.equal((await ask("GET", "servers/local/tools")).enabled, null);
    const chosen = await ask("PUT", "servers/local/tools", { enabled: ["pid"] });
    assert.deepEqual(chosen.enabled, ["pid"]);
    assert.equal(chosen.all.length, 15);
    assert.equal((await ask("PUT", "servers/local/tools", { enabled: null })).enabled, null);
    const unknown = await ask("PUT", "servers/local/tools", { enabled: ["nope"] });
    assert.equal(unknown.error.errorType, "TOOL_NOT_FOUND");
  });

  await t.step("what is wrong is said in words, in the shape of every error", async () => {
    const wrong: [number, string, string, string, unknown?][] = [
      [400, "INVALID_ARGUMENTS", "POST", "servers", { name: "x" }],
      [400, "INVALID_ARGUMENTS", "POST", "servers", { name: "x", command: "id", nope: 1 }],
      [400, "INVALID_ARGUMENTS", "POST", "servers", { url: chaos.url }],
      [400, "INVALID_ARGUMENTS", "POST", "servers", [1]],
      [400, "INVALID_ARGUMENTS", "POST", "servers"],
      [400, "INVALID_ARGUMENTS", "GET", "servers/local/logs?lines=0"],
      [409, "CONFLICT", "POST", "servers", { name: "remote", url: chaos.url }],
      [502, "SERVER_DISCONNECTED", "POST", "servers", {
        name: "x",
        url: "http://127.0.0.1:59998/",
      }],
      [404, "SERVER_NOT_FOUND", "GET", "servers/nowhere"],
      [404, "SERVER_NOT_FOUND", "DELETE", "servers/nowhere"],
      [404, "NOT_FOUND", "PATCH", "servers"],
      [404, "NOT_FOUND", "GET", "nowhere"],
      [413, "PAYLOAD_TOO_LARGE", "POST", "servers", "x".repeat(5 * 1024 ** 2)],
    ];
    for (const [status, code, method, path, body] of wrong) {
      const answer = await ask(method, path, body);
      assert.equal(answer.status, status, `${method} ${path}: ${answer.error?.message}`);
      assert.equal(answer.error.errorType, code);
      assert.match(answer.requestId, /^[0-9a-f-]{36}$/);
    }
  });

  await t.step("nothing changes by what a form of another site can send", async () => {
    for (const type of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]) {
      for (const [method, path] of [["POST", "servers"], ["POST", "servers/local/restart"]]) {
        const { error } = await ask(method!, path!, {}, { "content-type": type });
        assert.match(error.message, /content type must be application\/json/);
      }
    }
    const foreign = await ask("DELETE", "servers/local", undefined, {
      origin: "http://evil.example",
    });
    assert.equal(foreign.error.errorType, "FOREIGN_ORIGIN");
  });

  await t.step("DELETE removes", async () => {
    assert.deepEqual(await ask("DELETE", "servers/local"), { status: 200, removed: "local" });
    assert.equal((await ask("GET", "servers/local")).status, 404);
  });

  for (const text of [...answers, gateway.log()]) {
    assert.ok(!text.includes("canary"), `a secret in: ${text}`);
  }
  await Deno.remove(cwd, { recursive: true });
});
