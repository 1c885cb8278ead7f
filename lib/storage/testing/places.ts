import { join } from "node:path";
import { KvClient, parseLocation } from "../kv_client.ts";
import { startKvConnect } from "./kv_connect.ts";

/** Somewhere that a store can be kept. */
export interface Place {
  name: string;
  ignore: boolean;
  /** Whether a second opening of the same location sees the same records. */
  isShared: boolean;
  /** Runs a test on an empty location, and leaves nothing there. */
  use(run: (location: string) => Promise<void>): Promise<void>;
}

/** Runs a test with a path for a data file that does not exist yet. */
export async function withFile(run: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster-storage-" });
  try {
    await run(join(folder, "kv.sqlite"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

export function places(): Place[] {
  return [
    { name: "memory", ignore: false, isShared: false, use: (run) => run(":memory:") },
    { name: "file", ignore: false, isShared: true, use: withFile },
    ...remotePlaces(),
  ];
}

/** KV servers: one in this process, and the one that QUARTERMASTER_TEST_KV names. */
export function remotePlaces(): Place[] {
  const remote = Deno.env.get("QUARTERMASTER_TEST_KV");
  return [
    { name: "KV Connect", ignore: false, isShared: true, use: withKvConnect },
    {
      name: remote === undefined
        ? "remote (skipped: set QUARTERMASTER_TEST_KV to the URL of an empty KV)"
        : "remote",
      ignore: remote === undefined,
      isShared: true,
      use: (run) => withEmptyRemote(remote ?? "", run),
    },
  ];
}

function withKvConnect(run: (location: string) => Promise<void>): Promise<void> {
  return withFile(async (path) => {
    await using server = startKvConnect(path);
    if (!Deno.env.has("DENO_KV_ACCESS_TOKEN")) Deno.env.set("DENO_KV_ACCESS_TOKEN", "token");
    await run(server.url);
  });
}

async function withEmptyRemote(
  url: string,
  run: (location: string) => Promise<void>,
): Promise<void> {
  using client = await KvClient.open(parseLocation(url));
  for await (const _ of client.list({ prefix: [] }, { limit: 1 })) {
    throw new Error("QUARTERMASTER_TEST_KV names a KV that is not empty: tests would destroy it");
  }
  try {
    await run(url);
  } finally {
    for await (const { key } of client.list({ prefix: [] })) {
      const part = (value: unknown) => typeof value === "number" ? value : String(value);
      await client.commit({ deletes: [key.map(part)] });
    }
  }
}
