import assert from "node:assert/strict";
import { ManagedServer } from "../servers/server.ts";
import { FakeServer, silentLog } from "../servers/testing/fake_server.ts";
import { callConnected, CommandGateway } from "./command_gateway.ts";
import { readOptions } from "../config/options.ts";
import { JobOptions, type OptimizationJob } from "../core/optimization.ts";
import { CONSENT_OPERATIONS } from "../operations/consents.ts";
import { JOB_OPERATIONS } from "../operations/jobs.ts";
import { OPTIMIZATION_OPERATIONS } from "../operations/optimization.ts";
import { REVIEW_OPERATIONS } from "../operations/review.ts";
import { SERVER_OPERATIONS } from "../operations/servers.ts";
import { JobsRepository } from "../storage/jobs_repository.ts";
import { LeasesRepository } from "../storage/leases_repository.ts";
import { Store } from "../storage/store.ts";
import type { CommandInput } from "./command.ts";

const { list, show, add, update, pause, resume } = SERVER_OPERATIONS;

async function commandIn(dir: string, ...flags: string[]): Promise<CommandInput> {
  const env = { get: (name: string) => name === "HOME" ? dir : undefined };
  const read = await readOptions(["--data-dir", dir, ...flags], env, {
    os: Deno.build.os,
    cwd: dir,
  });
  return { ...read, env, values: new Map(), afterDashes: [] };
}

Deno.test("server.update refuses a change of what another command has changed", async () => {
  const dir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const input = await commandIn(dir);
  {
    await using servers = await CommandGateway.open(input);
    await servers.run(add, { name: "a", url: "http://127.0.0.1:1/mcp", check: false });
    await using other = await CommandGateway.open(input);
    const { server: _, ...before } = await servers.run(show, { name: "a" });
    const entry = { name: "a", ...before.spec, version: before.version };
    await other.run(update, { ...entry, disabled: true });
    const change = { ...entry, maxConcurrent: 2 };
    await assert.rejects(servers.run(update, change), { code: "CONFLICT" });
    const after = await servers.run(show, { name: "a" });
    assert.deepEqual(after.spec, { ...before.spec, disabled: true });
    await servers.run(update, { ...change, version: after.version });
    const { spec: changed } = await other.run(show, { name: "a" });
    assert.deepEqual(changed, { ...before.spec, disabled: true, maxConcurrent: 2 });
  }
  await Deno.remove(dir, { recursive: true });
});

Deno.test("server.pause pauses a server of the config file for later gateways", async () => {
  const dir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const config = `${dir}/servers.json`;
  await Deno.writeTextFile(
    config,
    '{"mcpServers":{"a":{"url":"http://127.0.0.1:4321/mcp"},"b":5}}',
  );
  const input = await commandIn(dir, "--config", config);
  const states = async () => {
    await using servers = await CommandGateway.open(input);
    const { servers: rows } = await servers.run(list, {});
    return rows.map(({ name, state }: Record<string, string>) => `${name} ${state}`);
  };
  {
    await using servers = await CommandGateway.open(input);
    assert.equal((await servers.run(pause, { name: "a" })).server.state, "paused");
    await assert.rejects(servers.run(pause, { name: "b" }), { code: "SERVER_NOT_RUNNING" });
    await assert.rejects(servers.run(pause, { name: "c" }), { code: "SERVER_NOT_FOUND" });
  }
  assert.deepEqual(await states(), ["a paused", "b failed"]);
  {
    await using servers = await CommandGateway.open(input);
    assert.equal((await servers.run(resume, { name: "a" })).server.state, "not_running");
  }
  assert.deepEqual(await states(), ["a not_running", "b failed"]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("callConnected() waits for a server that takes longer to start than a client's call waits", async () => {
  const fake = new FakeServer();
  const { promise: started, resolve: letStart } = Promise.withResolvers<void>();
  fake.handlers.set("initialize", async (params, link, exchange) => {
    await started;
    fake.handlers.delete("initialize");
    return await fake.answer("initialize", params, link, exchange);
  });
  fake.handlers.set("tools/call", () => ({ content: [{ type: "text", text: "done" }] }));
  await using server = new ManagedServer({
    server: {
      name: "fake",
      spec: { type: "http", url: "http://fake.example/", headers: {} },
      source: { kind: "store" },
    },
    log: silentLog(),
    openTransport: (_, events) => fake.open(events),
    onStatus: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => Promise.resolve(tools.length),
    timings: { startWait: 10 },
  });
  server.start();
  const { signal } = new AbortController();
  const call = { server: "fake", tool: "look", args: {}, signal, onProgress: () => {} };
  const calling = callConnected(server, call);
  await assert.rejects(server.connection(), { code: "SERVER_STARTING" });
  letStart();
  assert.deepEqual((await calling).content, [{ type: "text", text: "done" }]);
});

Deno.test("CommandGateway reads reviews and optimization without a lease, and leaves jobs alone", async () => {
  const dir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const input = await commandIn(dir, "--enable-optimization");
  const abandoned: OptimizationJob = {
    id: "job_1",
    status: "running",
    phase: "evaluating",
    options: JobOptions.parse({}),
    tools: [],
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
    owner: "the lease of a killed gateway",
    runs: 0,
    errors: 0,
    cost: { inputTokens: 0, outputTokens: 0 },
    by: "person",
  };
  {
    await using store = await Store.open({ location: input.options.kv });
    await new JobsRepository(store).save(abandoned, null);
    await using servers = await CommandGateway.open(input);
    assert.deepEqual((await servers.run(REVIEW_OPERATIONS.list, {})).items, []);
    assert.deepEqual((await servers.run(CONSENT_OPERATIONS.list, {})).consents, []);
    assert.deepEqual((await servers.run(OPTIMIZATION_OPERATIONS.report, {})).reports, []);
    const { jobs } = await servers.run(JOB_OPERATIONS.list, {});
    assert.deepEqual(jobs, [abandoned]);
    // Longer than a gateway waits before it looks for such jobs.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    assert.deepEqual(await new LeasesRepository(store).listAlive(), []);
    assert.deepEqual((await new JobsRepository(store).find("job_1"))?.value, abandoned);
  }
  await Deno.remove(dir, { recursive: true });
});

Deno.test("CommandGateway takes a lease before it starts a program, and releases it", async () => {
  const dir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const input = await commandIn(dir);
  await using store = await Store.open({ location: input.options.kv });
  const leases = new LeasesRepository(store);
  {
    await using servers = await CommandGateway.open(input);
    const program = { command: Deno.execPath(), args: ["eval", "setInterval(() => {}, 1_000)"] };
    await servers.run(add, { name: "a", ...program, check: false });
    assert.deepEqual(await leases.listAlive(), []);
    const { state } = await servers.tryOut("a", 500);
    assert.equal(state, "starting");
    const [lease] = await leases.listAlive();
    assert.deepEqual([lease?.pid, lease?.address], [Deno.pid, ""]);
  }
  assert.deepEqual(await leases.listAlive(), []);
  await Deno.remove(dir, { recursive: true });
});
