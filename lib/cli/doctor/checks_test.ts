import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder } from "../../config/testing/load_servers.ts";
import { missingProgram, stateFinding } from "./servers_check.ts";
import type { FoundGateway } from "../operation_target.ts";
import { checkPort, checkRuntime, spaceFinding, TESTED_DENO } from "./checks.ts";

const SERVER = { name: "a", source: { kind: "store" as const }, since: 0 };

Deno.test("checkRuntime() warns of an older Deno alone", () => {
  const levels = (version: string) => checkRuntime(version).map(({ level }) => level);
  assert.deepEqual(levels(TESTED_DENO), ["ok"]);
  assert.deepEqual(levels("2.10.0"), ["ok"]);
  assert.deepEqual(levels("3.0.0"), ["ok"]);
  assert.deepEqual(levels("2.9.5"), ["warning"]);
  assert.deepEqual(levels("1.46.3"), ["warning"]);
});

Deno.test("the README starts the Deno that the gateway is tested with", async () => {
  const readme = await Deno.readTextFile(new URL("../../../README.md", import.meta.url));
  const named = new Set(Array.from(readme.matchAll(/deno@(\d+\.\d+\.\d+)/g), ([, found]) => found));
  assert.deepEqual([...named], [TESTED_DENO]);
});

Deno.test("spaceFinding() tells little from no space", () => {
  assert.deepEqual(
    [1024, 100 * 1024 ** 2, 5 * 1024 ** 3].map((free) => spaceFinding(free).level),
    ["problem", "warning", "ok"],
  );
});

Deno.test("stateFinding() has something to do for whatever is not well", () => {
  const row = { ...SERVER, type: "http", reason: "Why", toolCount: 1 };
  const expected = {
    ready: "ok",
    disabled: "ok",
    starting: "warning",
    installing: "warning",
    needs_login: "warning",
    degraded: "warning",
    failed: "problem",
  };
  for (const [state, level] of Object.entries(expected)) {
    const finding = stateFinding({ ...row, state }, "");
    assert.equal(finding.level, level, state);
    assert.equal(finding.fix !== undefined, level !== "ok", state);
  }
});

Deno.test("stateFinding() gives advice that fits why a server failed", () => {
  const expected: [reason: string, fix: RegExp][] = [
    ["The npx cache of this package is broken: repair the server", /server repair a/],
    ['Cannot start server "a": command "uvxx" is not on PATH', /Install the program/],
    ["Output: npm error 404 Not Found - GET https://registry.example/x", /package name/],
    ["Output: Error: BRAVE_API_KEY environment variable is required", /`env` in its entry/],
    ["Output: Error: Cannot find module './gone'", /npm install/],
    ["Output: Error: listen EADDRINUSE: address already in use :::80", /uses the port/],
    ['Server "a" did not complete the MCP handshake within 60 s', /startTimeoutMs/],
    ["npx did not finish installing a within 10 min", /network/],
    ["Output: Usage: server [folder]", /args/],
    ["HTTP 401", /server login a/],
    ["Nobody knows", /server logs a/],
  ];
  for (const [reason, fix] of expected) {
    const row = { ...SERVER, type: "stdio", state: "failed", reason, toolCount: 0 };
    const finding = stateFinding(row, "");
    assert.equal(finding.level, "problem");
    assert.match(finding.fix ?? "", fix, reason);
  }
});

Deno.test({
  name: "missingProgram() looks where a start would",
  ignore: Deno.build.os === "windows",
  async fn() {
    await inFolder({ "bin/tool": "#!/bin/sh\n", "bin/plain": "text" }, async (folder) => {
      await Deno.chmod(join(folder, "bin", "tool"), 0o755);
      await Deno.chmod(join(folder, "bin", "plain"), 0o644);
      const env = { get: (name: string) => name === "PATH" ? `/nowhere:${folder}/bin` : undefined };
      const look = (command: string, more: { cwd?: string; env?: Record<string, string> } = {}) =>
        missingProgram({ command, env: {}, ...more }, env);
      assert.equal(await look("tool"), undefined);
      assert.equal(await look(join(folder, "bin", "tool")), undefined);
      assert.equal(await look("./bin/tool", { cwd: folder }), undefined);
      assert.match(await look("gone") ?? "", /"gone" is not on PATH/);
      assert.match(await look("plain") ?? "", /not on PATH/);
      assert.match(await look(join(folder, "bin", "plain")) ?? "", /not executable/);
      assert.match(await look("tool", { env: { PATH: "/nowhere" } }) ?? "", /not on PATH/);
      assert.match(
        await look("tool", { cwd: join(folder, "gone") }) ?? "",
        /working directory .* does not exist/,
      );
    });
  },
});

Deno.test("checkPort() names the running gateway instead of a free port", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const place = { host: "127.0.0.1", port };
  const lastOf = async (gateways: FoundGateway[]) =>
    (await checkPort(place, gateways)).at(-1)?.message;
  assert.equal(await lastOf([]), `Port ${port} on 127.0.0.1 is free`);
  const running = { address: "http://127.0.0.1:1", status: { pid: 1, version: "1" } };
  assert.equal(
    await lastOf([running as FoundGateway]),
    `The gateway runs at http://127.0.0.1:1 instead of port ${port}`,
  );
});
