import assert from "node:assert/strict";
import {
  endGroups,
  findMarked,
  isGroupAlive,
  isInherited,
  listProcesses,
  spawnGroup,
  startTimeOf,
} from "./process_group.ts";

Deno.test("isInherited() takes what programs need and nothing that may be secret", () => {
  for (const name of ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ"]) {
    assert.ok(isInherited(name, "linux"), name);
  }
  for (const name of ["Path", "SystemRoot", "APPDATA", "ComSpec"]) {
    assert.ok(isInherited(name, "windows"), name);
    assert.ok(!isInherited(name, "linux"), name);
  }
  for (const os of ["linux", "darwin", "windows"] as const) {
    for (const name of ["DENO_DIR", "npm_config_cache", "XDG_CACHE_HOME", "SSL_CERT_FILE"]) {
      assert.ok(isInherited(name, os), name);
    }
    for (const name of ["API_KEY", "HTTPS_PROXY", "NODE_OPTIONS", "LD_PRELOAD", "PATHS"]) {
      assert.ok(!isInherited(name, os), name);
    }
  }
});

Deno.test("startTimeOf() names a process for good", async () => {
  const own = await startTimeOf(Deno.pid);
  assert.match(own ?? "", /^[0-9a-f-]{36}:\d+$/);
  assert.equal(await startTimeOf(Deno.pid), own);
  assert.equal((await listProcesses())?.find(({ pid }) => pid === Deno.pid)?.startTime, own);
  assert.equal(await startTimeOf(2 ** 22 + 1), undefined);
});

Deno.test("endGroups() ends all members of a group, the deaf ones too", async () => {
  const mark = crypto.randomUUID();
  const script = `sh -c 'trap "" TERM; while :; do sleep 1; done' & exec sleep 60`;
  const PATH = Deno.env.get("PATH") ?? "";
  const child = spawnGroup({ command: "sh", args: ["-c", script], env: { PATH, MARK: mark } });
  await Promise.all([child.stdin.close(), child.stdout.cancel(), child.stderr.cancel()]);
  while ((await findMarked(`MARK=${mark}`)).length < 3) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.ok(await isGroupAlive(child.pid));
  assert.deepEqual(await findMarked(`MARK=${mark.slice(0, -1)}`), []);
  assert.deepEqual(await endGroups([child.pid], 100), []);
  assert.ok(!await isGroupAlive(child.pid));
  assert.deepEqual(await findMarked(`MARK=${mark}`), []);
  await child.status;
  assert.deepEqual(await endGroups([child.pid], 100), []);
});
