import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { MINIMUM_DENO } from "../lib/core/product.ts";
import { Deployment, FIRST_TOKEN, type Isolate } from "./deployment.ts";
import { until } from "./gateway.ts";
import { fetchDeno } from "./other_deno.ts";
import { npmPackage } from "./packages.ts";

const HEADERS = { authorization: `Bearer ${FIRST_TOKEN}` };

const SERVERS = {
  everything: { command: "npx", args: ["-y", npmPackage("everything")] },
  python: { command: "uvx", args: ["some-server"] },
};

Deno.test({
  name: "on Deno Deploy, isolates of both entries, on this Deno and on the oldest, are one gateway",
  sanitizeOps: false,
  sanitizeResources: false,
  fn: (t) =>
    Deployment.run(
      {
        files: { ".mcp.json": JSON.stringify({ mcpServers: SERVERS }) },
        packages: [npmPackage("everything")],
      },
      async (deployment, { folder }) => {
        const deno = await fetchDeno(MINIMUM_DENO, folder);
        await deployment.leaveBehind();
        await using first = await deployment.start({ entry: "main.ts" });
        await using served = await deployment.start({ entry: "_fresh/server.js" });
        await using oldest = await deployment.start({ entry: "main.ts", deno });
        await using both = await deployment.start({ entry: "_fresh/server.js", deno });
        const isolates = [first, served, oldest, both];

        await t.step(
          "each runs the npm server of the deployed file, and says why not others",
          async () => {
            for (const isolate of isolates) {
              await until(async () => {
                const { servers } = await api(isolate, "server.list");
                const one = (name: string) =>
                  servers.find((server: { name: string }) => server.name === name);
                assert.match(one("python").reason, /^Deno Deploy has no uvx, only npm packages/);
                assert.notEqual(one("everything").state, "failed", one("everything").reason);
                return one("everything").state === "ready" || undefined;
              });
              const html = await (await get(isolate, "/servers/python")).text();
              assert.match(html, /Deno Deploy has no uvx/);
            }
          },
        );

        await t.step("a session goes on at another isolate with each request", async () => {
          const client = await connect(isolates, "/mcp?expose=all");
          for (const text of ["one", "two", "three", "four", "five", "six", "seven", "eight"]) {
            const result = await client.callTool({
              name: "everything_echo",
              arguments: { message: text },
            });
            assert.match(JSON.stringify(result), new RegExp(`Echo: ${text}`));
          }
          await client.close();
        });

        await t.step("what is saved at one is there at the others", async () => {
          await api(first, "toolset.create", { name: "few", tools: ["everything.echo"] });
          for (const isolate of isolates) {
            await until(async () => {
              const { toolsets } = await api(isolate, "toolset.list");
              return toolsets.some(({ name }: { name: string }) => name === "few") || undefined;
            });
          }
        });

        await t.step("nobody who may manage comes to run a program", async () => {
          for (const isolate of isolates) {
            const entry = { command: "npx", args: ["-y", npmPackage("clock")] };
            const answer = await post(isolate, "server.add", { name: "more", ...entry });
            assert.match(await answer.text(), /only runs programs of the deployed \.mcp\.json/);
            assert.ok(!answer.ok);
          }
          const { servers } = await api(first, "server.list");
          assert.equal(servers.length, Object.keys(SERVERS).length);
        });

        await t.step("SIGINT lets go of the lease, and keeps what was just recorded", async () => {
          // One program each; nothing is left of the isolate that was killed.
          const all = { leases: isolates.length, programs: isolates.length };
          assert.deepEqual(await deployment.accounts(), all);
          for (const [index, isolate] of isolates.entries()) {
            const next = isolates[index + 1];
            const name = `last-${index}`;
            const client = await connect([isolate], "/mcp?expose=all", name);
            await client.callTool({ name: "everything_echo", arguments: { message: "last" } });
            const status = await isolate.stop();
            assert.equal(status.code, 0, isolate.log());
            assert.match(isolate.log(), /"msg":"Stopped"/);
            const left = isolates.length - index - 1;
            assert.deepEqual(await deployment.accounts(), { leases: left, programs: left });
            if (next === undefined) continue;
            const { calls } = await api(next, "activity.list", { text: name });
            assert.equal(calls.length, 1, `the call at isolate ${index}`);
          }
        });
      },
    ),
});

Deno.test({
  name: "on Deno Deploy, a timeline is reached at its own address only",
  sanitizeOps: false,
  sanitizeResources: false,
  fn: () =>
    Deployment.run({}, async (deployment) => {
      for (
        const { timeline, host, foreign } of [
          {
            timeline: "production",
            host: "tools.acme.deno.net",
            foreign: "tools-k3x9.acme.deno.net",
          },
          {
            timeline: "preview/k3x9",
            host: "tools-k3x9.acme.deno.net",
            foreign: "tools.acme.deno.net",
          },
        ]
      ) {
        await using isolate = await deployment.start({ entry: "main.ts", timeline });
        const ask = (name: string, origin = `https://${name}`) =>
          fetch(`${isolate.url}/servers`, { headers: { ...HEADERS, host: name, origin } });
        assert.equal((await ask(host)).status, 200);
        for (const answer of [await ask(foreign), await ask(host, `https://${foreign}`)]) {
          assert.equal(answer.status, 403, timeline);
          assert.match(await answer.text(), /QUARTERMASTER_PUBLIC_URL/);
        }
        assert.equal((await isolate.stop()).code, 0, isolate.log());
      }
    }),
});

/** A client whose requests go to the isolates in turn, as the platform sends them. */
async function connect(isolates: readonly Isolate[], path: string, name = "test"): Promise<Client> {
  let nth = 0;
  const transport = new StreamableHTTPClientTransport(new URL(path, isolates[0]!.url), {
    requestInit: { headers: HEADERS },
    fetch(input, init) {
      const { pathname, search } = new URL(String(input));
      return fetch(isolates[nth++ % isolates.length]!.url + pathname + search, init);
    },
  });
  const client = new Client({ name, version: "1" });
  await client.connect(transport as never);
  return client;
}

function get({ url }: Isolate, path: string): Promise<Response> {
  return fetch(url + path, { headers: HEADERS });
}

function post({ url }: Isolate, operation: string, input: unknown = {}): Promise<Response> {
  return fetch(`${url}/api/${operation}`, {
    method: "POST",
    headers: { ...HEADERS, "content-type": "application/json" },
    body: JSON.stringify(input),
  });
}

async function api(isolate: Isolate, operation: string, input: unknown = {}) {
  const answer = await post(isolate, operation, input);
  const text = await answer.text();
  assert.equal(answer.status, 200, `${operation}: ${text}\n${isolate.log()}`);
  return JSON.parse(text);
}
