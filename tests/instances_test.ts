import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as z from "zod";
import { Endpoints } from "./combined_endpoints.ts";
import { connectChaos } from "./fixtures/exercise_chaos.ts";
import { fixtureCommand } from "./fixtures/start_fixture.ts";
import { IS_FULL } from "./full.ts";
import { until } from "./gateway.ts";
import { keepingFetch, StatelessClient } from "./stateless_client.ts";

const Where = z.object({ pid: z.number(), cwd: z.string() });
const IDLE_MS = 1_000;

/** A client with one root that asks a program where it is. */
async function connect(revision: string, url: URL, folder: string) {
  const root = folder.slice(1);
  const client = revision === "2025-11-25"
    ? await connectChaos(
      new StreamableHTTPClientTransport(url, { fetch: keepingFetch() }) as never,
      root,
    )
    : await StatelessClient.http(url, { name: root, marker: root });
  return {
    where: async (tool: string) => Where.parse(JSON.parse(await client.call(tool, {}))),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

const PLACES = [
  { revision: "2025-11-25", place: "its endpoint" },
  { revision: "2026-07-28", place: "/mcp" },
  { revision: "2025-11-25", place: "/mcp" },
  { revision: "2026-07-28", place: "its endpoint" },
];
/** With a program of either revision, the client's revision and the endpoint each have both values. */
const CASES = [
  { program: "2025-11-25", flags: ["--sessions"], places: IS_FULL ? PLACES : PLACES.slice(0, 2) },
  { program: "2026-07-28", flags: [], places: IS_FULL ? PLACES : PLACES.slice(2) },
];

for (const { program, flags, places } of CASES) {
  Deno.test(`a program of ${program} has an instance for each client, in its folder, while it is in use`, async (t) => {
    const command = fixtureCommand("where_server", flags);
    await using endpoints = await Endpoints.open({
      shared: { ...command, idleTimeoutMs: IDLE_MS },
      client: { ...command, instance: "client" },
      root: { ...command, instance: "root" },
      brief: { ...command, instance: "client", idleTimeoutMs: IDLE_MS },
    });
    const parent = await Deno.realPath(endpoints.folder);
    const folders = [
      await Deno.makeTempDir({ dir: parent }),
      await Deno.makeTempDir({ dir: parent }),
    ];
    const isStopped = async (where: () => Promise<z.infer<typeof Where>>) => {
      const { pid } = await where();
      await until(async () => !(await endpoints.faulty.processes()).includes(pid) || undefined);
      assert.notEqual((await where()).pid, pid, "the next call starts it again");
    };
    await t.step("one that all clients share is stopped when it is idle", async () => {
      const client = await endpoints.faulty.open("shared");
      await isStopped(async () => Where.parse(JSON.parse(await client.must("where"))));
    });

    for (const { revision, place } of places) {
      const isCombined = place === "/mcp";
      const open = async (server: string, folder: string) => {
        const path = isCombined ? place : `/servers/${server}/mcp?names=original`;
        const client = await connect(revision, new URL(path, endpoints.url), folder);
        return { ...client, where: () => client.where(isCombined ? `${server}.where` : "where") };
      };
      /** Where the instances of two clients are, each asked twice. */
      const findInstances = (server: string) =>
        Promise.all(folders.map(async (folder) => {
          await using client = await open(server, folder);
          const first = await client.where();
          assert.deepEqual(await client.where(), first, "a client keeps its process");
          return first;
        }));
      await t.step(`a client of ${revision} at ${place}: an instance of its own`, async () => {
        const [one, two] = await findInstances("client");
        assert.notEqual(one!.pid, two!.pid);
        assert.deepEqual([one!.cwd, two!.cwd], [parent, parent]);
      });
      await t.step(`a client of ${revision} at ${place}: in the folder of its root`, async () => {
        const [one, two] = await findInstances("root");
        assert.notEqual(one!.pid, two!.pid);
        assert.deepEqual([one!.cwd, two!.cwd], folders);
      });
      await t.step(`a client of ${revision} at ${place}: stopped when it is idle`, async () => {
        await using client = await open("brief", folders[0]!);
        await isStopped(client.where);
      });
    }
  });
}
