import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { AuditRepository } from "../../lib/storage/audit_repository.ts";
import { Store } from "../../lib/storage/store.ts";
import { verifyAudit } from "../../lib/telemetry/audit_chain.ts";
import { TestCli } from "../cli.ts";
import { at, tool } from "../combined_endpoints.ts";
import { chaos } from "../faults.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { startGateway, until } from "../gateway.ts";
import { Audited, Entries } from "./audited.ts";
import { bearer, Guarded, Visitor } from "./guarded.ts";

const Named = z.looseObject({ candidate: z.looseObject({ id: z.string() }) });
const Made = z.looseObject({ token: z.looseObject({ id: z.string() }), text: z.string() });

const Waiting = z.object({ consents: z.array(z.looseObject({ id: z.string() })) });

const CANARY = "canary-7c1f0d9a2b";

let audited: Audited;

Deno.test.beforeAll(async () => {
  audited = new Audited(await Guarded.open({ one: chaos() }));
});

Deno.test.afterAll(async () => {
  await audited?.guarded[Symbol.asyncDispose]();
});

Deno.test("everything that is decided leaves one entry with who and from where", async () => {
  const { guarded } = audited;
  const step = audited.leaves.bind(audited);
  const api = audited.api.bind(audited);
  const entry = (env: Record<string, string>) => ({ ...chaos(), env });

  await step(
    { action: "server.add", subject: "two" },
    () => api("POST", "/api/servers", { name: "two", ...entry({ API_KEY: CANARY }) }),
  );
  await step(
    { action: "server.change", subject: "two" },
    () => api("PUT", "/api/servers/two", entry({ API_KEY: `${CANARY}-other` })),
  );
  await step(
    { action: "server.pause", subject: "two" },
    () => api("POST", "/api/servers/two/pause", {}),
  );
  await step(
    { action: "server.resume", subject: "two" },
    () => api("POST", "/api/servers/two/resume", {}),
  );
  await step(
    { action: "server.restart", subject: "two" },
    () => api("POST", "/api/servers/two/restart", {}),
  );
  await step(
    { action: "server.tools", subject: "two" },
    () => api("PUT", "/api/servers/two/tools", { enabled: ["echo"] }),
  );
  await step(
    { action: "review.policy", subject: "two" },
    () => api("POST", "/api/review/policy", { server: "two", changes: "hold" }),
  );

  await step(
    { action: "toolset.save", subject: "daily" },
    () => api("POST", "/api/toolsets", { name: "daily", tools: ["one.echo"] }),
  );
  await step(
    { action: "toolset.equip", subject: "daily" },
    () => api("POST", "/api/toolsets/daily/equip", {}),
  );
  await step(
    { action: "toolset.unequip", subject: "daily" },
    () => api("DELETE", "/api/equipped"),
  );
  const file = await api("GET", "/api/exchange/toolsets");
  await step(
    { action: "toolset.delete", subject: "daily" },
    () => api("DELETE", "/api/toolsets/daily"),
  );
  await step(
    { action: "toolset.import", subject: "daily" },
    () => api("POST", "/api/exchange/toolsets", file),
  );

  await step(
    { action: "optimization.enable", subject: "optimization" },
    () => api("PUT", "/api/optimization/enabled", { enabled: true }),
  );
  const tool = "/api/optimization/tools/one/echo";
  const proposal = { description: "Says again what it is told, to the letter" };
  const { candidate } = Named.parse(await api("POST", `${tool}/candidates`, proposal));
  await step(
    { action: "promotion.promote", subject: "one.echo" },
    () => api("POST", `${tool}/promote`, { candidateId: candidate.id, reason: "It reads better" }),
  );
  await step(
    { action: "promotion.revert", subject: "one.echo" },
    () => api("POST", `${tool}/revert`, {}),
  );

  let made: z.infer<typeof Made> | undefined;
  await step({ action: "token.create", subject: "ci" }, async () => {
    made = Made.parse(await api("POST", "/api/tokens", { name: "ci", rights: ["read"] }));
  });
  await step(
    { action: "token.revoke", subject: "ci" },
    () => api("DELETE", `/api/tokens/${made?.token.id}`),
  );
  await step(
    { action: "project.create", subject: "shop" },
    () => api("PUT", "/api/projects/shop", { servers: ["one"] }),
  );
  await step(
    { action: "project.delete", subject: "shop" },
    () => api("DELETE", "/api/projects/shop"),
  );
  await step(
    { action: "secret.set", subject: "KEY" },
    () => api("PUT", "/api/secrets/KEY", { value: `${CANARY}-secret` }),
  );
  await step(
    { action: "secret.delete", subject: "KEY" },
    () => api("DELETE", "/api/secrets/KEY"),
  );

  const endpoint = { from: /^MCP at \/gateway, client "visitor 1", from 127\.0\.0\.1$/ };
  const visitor = await Visitor.open(guarded.url, "/gateway/mcp", guarded.owner);
  await step(
    { action: "server.restart", subject: "one", ...endpoint },
    () => visitor.call("restart_server", { name: "one" }),
  );
  await step(
    { action: "toolset.save", subject: "by-mcp", ...endpoint },
    () => visitor.call("build-toolset", { name: "by-mcp", tools: ["one.echo"], autoEquip: false }),
  );

  const program = { name: "far", ...entry({ API_KEY: CANARY }) };
  const elsewhere = /^API, 127\.0\.0\.1, forwarded for 203\.0\.113\.9, Deno/;
  await step({ action: "consent.ask", subject: "far", from: elsewhere }, async () => {
    const response = await fetch(`${guarded.url}/api/servers`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-forwarded-for": "203.0.113.9",
        ...bearer(guarded.owner),
      },
      body: JSON.stringify(program),
    });
    assert.match(await response.text(), /CONSENT_NEEDED/);
  });
  const { consents } = Waiting.parse(await api("GET", "/api/consents"));
  await step(
    { action: "consent.refuse", subject: "far" },
    () => api("POST", `/api/consents/${consents[0]?.id}`, { decision: "refuse" }),
  );

  const page = { from: /^console, 127\.0\.0\.1$/ };
  const send = audited.submit.bind(audited);
  await step(
    { action: "console.login.fail", subject: "console", who: "nobody", ...page },
    () => send("/login", { token: `${CANARY}-token`, then: "" }),
  );
  let cookie = "";
  await step({ action: "console.login", subject: "console", ...page }, async () => {
    const response = await send("/login", { token: guarded.owner, then: "" });
    cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  });
  let removed = "";
  await step({ action: "server.remove", subject: "two", ...page }, async () => {
    const { headers } = await send("/servers/two/~remove", {}, cookie);
    removed = new URL(headers.get("location") ?? "", guarded.url).searchParams.get("removed")!;
  });
  await step(
    { action: "server.restore", subject: "two", ...page },
    () => send("/servers/~undo", { id: removed }, cookie),
  );
  await step(
    { action: "settings.change", subject: "log-level", ...page },
    () => send("/settings", { action: "set", option: "logLevel", value: "debug" }, cookie),
  );
  await step(
    { action: "activity.clear", subject: "activity log", ...page },
    () => send("/activity/~clear", {}, cookie),
  );
  await step(
    { action: "data.backup", subject: "data store", ...page },
    () => send("/settings/backup", {}, cookie),
  );
  await step(
    { action: "console.logout", subject: "console", ...page },
    () => send("/logout", {}, cookie),
  );

  // A call of a tool is no decision.
  const caller = await Visitor.open(guarded.url, "/mcp", guarded.owner);
  assert.match(await caller.call("one_echo", { text: "x" }), /"result"/);
  assert.deepEqual(await audited.news(), []);

  const all = await guarded.get("/api/audit/export", { token: guarded.owner });
  const text = await all.text();
  assert.ok(text.split("\n").length > 25);
  assert.ok(!text.includes(CANARY), "a secret is in the log");
  assert.ok(!text.includes(guarded.owner) && !text.includes(made!.text), "a token is in the log");
  assert.match(text, /"API_KEY":"\[redacted\]"/);
  assert.match(text, /"hiddenValues":"changed"/);
  assert.deepEqual((await api("GET", "/api/audit/verify")).problems, []);
});

Deno.test("an entry has the address that an MCP client came from, also after a restart", async () => {
  await using server = new ScriptedServer([tool("echo")]);
  await using guarded = await Guarded.open({ one: at(server) });
  const build = async (visitor: Visitor, name: string) => {
    const args = { name, tools: ["one.echo"], autoEquip: false };
    assert.match(await visitor.call("build-toolset", args), new RegExp(name));
    return await until(async () => {
      const { value } = await guarded.api("GET", `/api/audit?subject=${name}`);
      return Entries.parse(value).entries[0]?.from;
    });
  };
  const open = (headers = {}) => Visitor.open(guarded.url, "/gateway/mcp", guarded.owner, headers);
  const [here, guest] = [await open(), await open({ "x-forwarded-for": "192.0.2.7" })];
  const from = 'MCP at /gateway, client "visitor 1", from 127.0.0.1';
  assert.equal(await build(here, "first"), from);
  assert.equal(await build(guest, "second"), `${from}, forwarded for 192.0.2.7`);
  // Another gateway on the same data goes on with a session as one does after a restart.
  const { port } = new URL(await guarded.start());
  guest.headers.delete("x-forwarded-for");
  for (const { url } of [here, guest]) url.port = port;
  assert.equal(await build(here, "third"), from);
  assert.equal(await build(guest, "fourth"), `${from}, forwarded for 192.0.2.7`);
});

Deno.test("no request changes or deletes an entry, and none reads the log without a token", async () => {
  const { guarded } = audited;
  await audited.news();
  await audited.api("POST", "/api/toolsets", { name: "mine", tools: ["one.echo"] });
  const [entry] = await audited.news();
  const paths = [
    "/api/audit",
    `/api/audit/${entry!.id}`,
    "/api/audit/export",
    "/api/audit/verify",
  ];
  for (const path of [...paths, "/security/audit", `/security/audit/${entry!.id}`]) {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const response = await fetch(guarded.url + path, {
        method,
        headers: { "content-type": "application/json", ...bearer(guarded.owner) },
        body: JSON.stringify({ ...entry, subject: "another" }),
      });
      await response.body?.cancel();
      assert.ok([404, 405].includes(response.status), `${method} ${path}: ${response.status}`);
    }
    const { status, body } = await guarded.get(path);
    await body?.cancel();
    assert.ok([401, 404].includes(status), `GET ${path}: ${status}`);
  }
  assert.deepEqual(await audited.news(), []);
  const found = await audited.api("GET", "/api/audit?subject=mine&action=toolset&who=own");
  assert.deepEqual(Entries.parse(found).entries, [entry]);
});

async function isKept(dataDir: string, wanted: string): Promise<true | undefined> {
  await using store = await Store.open({ location: join(dataDir, "quartermaster.kv") });
  for await (const { subject } of new AuditRepository(store).list()) {
    if (subject === wanted) return true;
  }
}

Deno.test("a gateway that is killed right after an answer leaves a log that is whole", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    let answered = 0;
    for (let round = 0; round < 3; round++) {
      const gateway = await startGateway([], { dataDir });
      for (let n = 0; n < 5; n++) {
        const response = await fetch(`${gateway.url}/api/projects/p${round}${n}`, {
          method: "PUT",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ servers: [] }),
        });
        await response.body?.cancel();
        assert.equal(response.status, 200);
        answered++;
        if (n === 2) await until(() => isKept(dataDir, `p${round}2`));
      }
      await gateway.stop("SIGKILL");
    }
    await using store = await Store.open({ location: join(dataDir, "quartermaster.kv") });
    const repository = new AuditRepository(store);
    const kept = new Set(await Array.fromAsync(repository.list(), ({ subject }) => subject));
    // Those of the last moment before each kill may be missing; the ones before that may not.
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 3; n++) assert.ok(kept.has(`p${round}${n}`), `p${round}${n}`);
    }
    assert.ok(kept.size <= answered);
    assert.deepEqual((await verifyAudit(repository)).problems, []);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("the command line notes what it does to the store, and tells whether the log is whole", () =>
  TestCli.use(async (cli) => {
    cli.settings.env.USER = "jane";
    await cli.ok("token", "create", "--name", "mine");
    await cli.ok("server", "add", "local", ...cli.programWords());
    const backup = join(cli.project, "store.backup");
    await cli.ok("backup", backup);
    await cli.ok("restore", backup);
    const { entries } = Entries.parse(await cli.json("audit", "list"));
    const actions = entries.map(({ action }) => action).reverse();
    // The backup itself was noted after it was made.
    assert.deepEqual(actions, ["token.create", "server.add", "data.restore"]);
    for (const { who, from } of entries) {
      assert.deepEqual([who, from], ["jane", "command line, jane"]);
    }
    assert.match(await cli.ok("audit", "verify"), /^The audit log is intact: 3 entries from 3/);
    const csv = await cli.ok("audit", "export", "--format", "csv", "--action", "token");
    assert.equal(csv.trimEnd().split("\r\n").length, 2);

    {
      await using store = await Store.open({ location: join(cli.dataDir, "quartermaster.kv") });
      const [oldest] = (await Array.fromAsync(new AuditRepository(store).records())).slice(0, 1);
      await store.commit({ deletes: [oldest!.key] });
    }
    const { code, out } = await cli.run(["audit", "verify"]);
    assert.equal(code, 1);
    assert.match(out, /One entry is missing at the end of a process/);
  }));
