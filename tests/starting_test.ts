import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { chaos, EndpointClient, errorType, FaultyGateway } from "./faults.ts";
import { until } from "./gateway.ts";

const Starting = z.looseObject({ starting: z.array(z.string()), note: z.string() });

/** A folder with the file that lets the slow server start. */
class Switch implements AsyncDisposable {
  readonly folder = Deno.makeTempDirSync({ prefix: "quartermaster_starting_" });
  readonly path = join(this.folder, "go");

  on(): void {
    Deno.writeTextFileSync(this.path, "");
  }

  off(): void {
    Deno.removeSync(this.path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

async function api(url: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return z.looseObject({}).parse(await response.json());
}

Deno.test("a server that starts slowly shows as starting everywhere, and calls wait for it", async (t) => {
  await using go = new Switch();
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_starting_" });
  const entries = {
    quick: chaos(),
    // A call waits no longer than its own limit.
    slow: chaos([`--start-when=${go.path}`], { timeoutMs: 400 }),
    late: chaos([`--start-when=${go.path}`]),
  };
  try {
    {
      await using faulty = await FaultyGateway.start(entries, { dataDir });
      await faulty.reaches("quick", "ready");
      const client = await EndpointClient.open(`${faulty.url}/mcp`);
      const states = async () =>
        [...await faulty.statuses()].map(([name, { state }]) => `${name} ${state}`);

      await t.step("calls of its tools say that it is starting", async () => {
        for (
          const [name, args] of [
            ["slow_echo", {}],
            ["slow.echo", {}],
            ["tool_execute", { toolKey: "slow:echo" }],
            ["tool_execute", { toolKey: "slow.echo" }],
            ["get_tool_description", { tool_name: "slow_echo" }],
            ["optim.call_tool", { backend_id: "slow", tool_name: "echo", parameters: {} }],
            ["build-toolset", { name: "dev", tools: ["quick.echo", "slow.echo"] }],
            ["build-toolset", { name: "dev", tools: ["slow.*"] }],
          ] as const
        ) {
          const answer = await client.call(name, args);
          assert.equal(errorType(answer), "SERVER_STARTING", `${name} ${JSON.stringify(args)}`);
          assert.match(JSON.stringify(answer), /Try again in a moment/);
        }
        const unknown = await client.call("slowly_echo");
        assert.equal(unknown.error?.code, -32602, "there is no server of that name");
        const tried = await api(faulty.url, "POST", "/api/tools/slow/echo/call", {
          arguments: {},
          confirmed: true,
        });
        assert.match(JSON.stringify(tried), /SERVER_STARTING/);
        assert.deepEqual(await states(), ["late starting", "quick ready", "slow starting"]);
      });

      await t.step("lists say whose tools are missing", async () => {
        for (
          const [name, args] of [
            ["tool_discovery", { query: "echo" }],
            ["discover-all-tools", {}],
            ["list_available_tools", {}],
            ["tool_capabilities", {}],
          ] as const
        ) {
          const { result } = await client.call(name, args);
          const { starting, note } = Starting.parse(result?.structuredContent);
          assert.deepEqual(starting, ["late", "slow"], name);
          assert.match(note, /^2 servers are still starting \(late, slow\): their tools are not/);
          assert.match(result?.content?.[0]?.text ?? "", /2 servers are still starting/);
        }
        const status = await api(faulty.url, "GET", "/api/status");
        assert.deepEqual(status.servers, { starting: 2, ready: 1 });
        const { servers } = await api(faulty.url, "GET", "/readyz");
        assert.deepEqual(servers, { total: 3, ready: 1, starting: 2 });
      });

      await t.step("a call waits until it is up", async () => {
        const calls = ["late_echo", "late.echo"].map((name) => client.must(name, { n: 1 }));
        const executed = client.must("tool_execute", { toolKey: "late:echo", arguments: { n: 1 } });
        go.on();
        assert.deepEqual(await Promise.all([...calls, executed]), Array(3).fill('{"n":1}'));
        await faulty.reaches("slow", "ready");
      });
    }

    go.off();
    await t.step("after a restart its tools are listed at once, and a call waits", async () => {
      await using faulty = await FaultyGateway.start(entries, { dataDir });
      const client = await EndpointClient.open(`${faulty.url}/mcp?expose=all`);
      await until(async () =>
        (await client.toolNames()).filter((name) => name === "slow_echo" || name === "late_echo")
            .length === 2 || undefined
      );
      assert.equal((await faulty.statuses()).get("late")?.state, "starting");
      const { result } = await client.call("discover-all-tools");
      assert.equal(Object.hasOwn(result?.structuredContent ?? {}, "starting"), false);
      const built = await client.call("build-toolset", {
        name: "dev",
        tools: ["slow.echo"],
        autoEquip: true,
      });
      assert.ok(built.result && !built.result.isError, JSON.stringify(built));
      assert.equal(errorType(await client.call("slow_echo")), "SERVER_STARTING");
      const call = client.must("late_echo", { n: 2 });
      go.on();
      assert.equal(await call, '{"n":2}');
    });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("an entry that cannot be used is listed with its error, and a server can be paused", async (t) => {
  await using faulty = await FaultyGateway.start({
    good: chaos(),
    blocked: { url: "http://127.0.0.1:9/mcp" },
    odd: { type: "carrier-pigeon", url: "http://127.0.0.1:4000/mcp" },
    broken: chaos(["--crash-on-start"]),
    "": chaos(),
  });
  await faulty.reaches("broken", "failed");
  const config = join(await Deno.realPath(faulty.folder), ".mcp.json");

  await t.step("listed with the error, the file and the line", async () => {
    const statuses = await faulty.statuses();
    for (
      const [name, words] of [
        ["blocked", "Its entry uses port 9, which HTTP clients block"],
        ["odd", 'Its entry has the unsupported type "carrier-pigeon"'],
        ["unnamed", "a server has no name"],
      ] as const
    ) {
      const { state, reason } = statuses.get(name)!;
      assert.equal(state, "failed", name);
      assert.ok(reason.startsWith(words), reason);
      assert.match(reason, /\.mcp\.json:1:\d+\)$/);
      const { server } = await api(faulty.url, "GET", `/api/servers/${name}`);
      assert.equal(z.looseObject({ reason: z.string() }).parse(server).reason, reason);
      const page = await fetch(`${faulty.url}/servers/${name}`);
      assert.equal(page.status, 200, name);
      assert.match(await page.text(), /In its configuration/);
    }
    assert.ok(statuses.get("blocked")!.reason.includes(config));
    const { error } = await api(faulty.url, "POST", "/api/servers/blocked/restart", {});
    assert.match(JSON.stringify(error), /SERVER_NOT_RUNNING/);
  });

  await t.step(
    "paused by the gateway's tool, resumed by the API, restarted by the tool",
    async () => {
      const client = await EndpointClient.open(`${faulty.url}/gateway/mcp`);
      assert.match(
        await client.must("pause_server", { name: "broken" }),
        /paused, 0 tools. Paused by/,
      );
      assert.equal((await faulty.statuses()).get("broken")?.state, "paused");
      const answer = await (await EndpointClient.open(`${faulty.url}/mcp`)).call("tool_execute", {
        toolKey: "broken.echo",
      });
      assert.equal(errorType(answer), "SERVER_NOT_RUNNING");
      await api(faulty.url, "POST", "/api/servers/broken/resume", {});
      await faulty.reaches("broken", "failed");
      const failed = await api(faulty.url, "POST", "/api/tools/broken/echo/call", {
        arguments: {},
        confirmed: true,
      });
      assert.match(JSON.stringify(failed), /SERVER_DISCONNECTED/);
      await api(faulty.url, "POST", "/api/servers/good/pause", {});
      assert.equal((await faulty.statuses()).get("good")?.state, "paused");
      assert.match(await client.must("restart_server", { name: "good" }), /ready/);
    },
  );

  await t.step("kept over a restart of the gateway", async () => {
    await api(faulty.url, "POST", "/api/servers/broken/pause", {});
    await faulty.gateway.stop();
    await using again = await FaultyGateway.start({ broken: chaos(["--crash-on-start"]) }, {
      dataDir: faulty.gateway.dataDir,
    });
    assert.equal((await again.statuses()).get("broken")?.state, "paused");
  });
});
