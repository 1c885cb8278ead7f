import assert from "node:assert/strict";
import type { AuditedChange } from "../core/access.ts";
import type { ServerSpec } from "../core/server.ts";
import { Logins } from "../servers/oauth/server_login.ts";
import { LoginBench } from "../servers/oauth/testing/login_bench.ts";
import { ServerPool } from "../servers/pool.ts";
import { FakeServer, silentLog } from "../servers/testing/fake_server.ts";
import { LoginAdmin } from "./login_admin.ts";

async function withAdmin(
  work: (admin: LoginAdmin, bench: LoginBench, audit: AuditedChange[]) => Promise<void>,
): Promise<void> {
  await using bench = await LoginBench.open();
  const fake = new FakeServer();
  await using pool = new ServerPool({
    log: silentLog(),
    openTransport: (_, events) => fake.open(events),
    onStatus: () => {},
    onRemoved: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => Promise.resolve(tools.length),
  });
  const { repository, flow, authority: { url } } = bench;
  const specs: Record<string, ServerSpec> = {
    files: { type: "http", url, headers: {} },
    keyed: { type: "http", url, headers: { Authorization: "Bearer mine" } },
    local: { type: "stdio", command: "x", args: [], env: {}, disabled: true },
  };
  pool.sync(
    Object.entries(specs).map(([name, spec]) => ({ name, spec, source: { kind: "store" } })),
  );
  const logins = new Logins({
    owner: "a",
    repository,
    learn: () => {},
    onWarning: () => {},
    signal: new AbortController().signal,
  });
  const audit: AuditedChange[] = [];
  const admin = new LoginAdmin({
    pool,
    logins,
    repository,
    flow,
    fill: (spec) => Promise.resolve(spec),
    reload: async () => void await logins.load(),
    onAudit: (entry) => audit.push(entry),
  });
  await work(admin, bench, audit);
}

Deno.test("LoginAdmin tells the audit log what was logged in to and out of, and no secret", async () => {
  await withAdmin(async (admin, bench, audit) => {
    const { url, attempt } = await admin.start("files");
    assert.equal((await admin.attempt("files", attempt))?.url, url);
    assert.equal(await admin.attempt("keyed", attempt), undefined, "it is another server's");
    const finished = await admin.finish(await bench.visit(url));
    assert.ok("server" in finished);
    assert.equal(finished.server.state, "ready");
    assert.equal((await admin.describe("files"))?.issuer, bench.authority.issuer);
    const secrets = bench.authority.secrets();
    assert.deepEqual(await admin.logout("files"), { existed: true, revoked: true });
    assert.equal(await admin.describe("files"), undefined);
    assert.deepEqual(audit.map(({ action, subject }) => `${action} ${subject}`), [
      "login.start files",
      "login.finish files",
      "login.end files",
    ]);
    const text = JSON.stringify(audit);
    for (const secret of secrets) assert.ok(!text.includes(secret));
  });
});

Deno.test("LoginAdmin.finish() tells which login an answer has spoiled", async () => {
  await withAdmin(async (admin, bench, audit) => {
    bench.authority.behavior.denies = true;
    const { url } = await admin.start("files");
    const finished = await admin.finish(await bench.visit(url));
    assert.ok("failed" in finished);
    assert.equal(finished.failed, "files");
    assert.equal(audit.at(-1)?.action, "login.fail");
  });
});

Deno.test("LoginAdmin.start() refuses where a login makes no sense, in words", async () => {
  await withAdmin(async (admin, bench) => {
    await assert.rejects(admin.start("keyed"), /already has an Authorization header/);
    await assert.rejects(admin.start("local"), /does not use HTTP/);
    await assert.rejects(admin.start("nope"), /There is no server "nope"/);
    assert.deepEqual(bench.authority.requests, []);
  });
});
