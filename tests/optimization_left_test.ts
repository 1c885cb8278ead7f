import assert from "node:assert/strict";
import { join } from "@std/path";
import { newId, OptimizationJob } from "../lib/core/optimization.ts";
import { fakeClaude } from "../lib/optimizer/evaluators/testing/fake_claude.ts";
import { JobsRepository } from "../lib/storage/jobs_repository.ts";
import { Store } from "../lib/storage/store.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

async function ready({ url }: RunningGateway): Promise<void> {
  await until(async () => {
    const { servers } = await (await fetch(`${url}/readyz`)).json();
    return servers.ready === 1 || undefined;
  });
}

/** The names of what is in a folder. */
async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}

Deno.test("a job whose gateway is gone waits, also where optimization is off", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_left_" });
  try {
    const now = new Date().toISOString();
    const job = OptimizationJob.parse({
      id: newId("job"),
      status: "running",
      phase: "evaluating",
      options: {},
      tools: [],
      createdAt: now,
      updatedAt: now,
      owner: "a-lease-that-is-gone",
      by: "person",
    });
    {
      await using store = await Store.open({ location: join(dataDir, "quartermaster.kv") });
      await new JobsRepository(store).save(job, null);
    }
    await using gateway = await startGateway([], { dataDir });
    const found = await until(async () => {
      const response = await fetch(`${gateway.url}/api/optimization/jobs/${job.id}`);
      const { job: seen } = await response.json();
      return seen.status === "running" ? undefined : OptimizationJob.parse(seen);
    });
    assert.deepEqual([found.status, found.note, found.owner], [
      "paused",
      "Optimization is switched off",
      undefined,
    ]);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("nothing is left of the folders of runs when a gateway was killed and started again", async () => {
  await using fake = await fakeClaude(
    `[ "$1" = "--version" ] && exit 0\necho $$ > "$FOLDER/started"; exec sleep 60`,
  );
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_left_" });
  const temp = await Deno.makeTempDir({ prefix: "quartermaster_left_" });
  const start = async () => {
    const flags = ["--enable-optimization", "--evaluator", "claude-cli"];
    const gateway = await startGateway([...flags, "--claude-path", fake.path], {
      dataDir,
      env: { TMPDIR: temp },
    });
    await ready(gateway);
    return gateway;
  };
  const runFolders = async () => (await namesIn(temp)).filter((name) => name.startsWith("run_"));
  try {
    const killed = await start();
    const path = "/api/optimization/tools/weather/get_current/candidates/generate";
    const generating = fetch(killed.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", origin: killed.url },
      body: JSON.stringify({ count: 1 }),
    }).then((response) => response.body?.cancel(), () => {});
    await until(async () => (await namesIn(fake.folder)).includes("started") || undefined);
    await killed.stop("SIGKILL");
    await generating;
    assert.equal((await runFolders()).length, 1, "there is something to clear away");
    await using gateway = await start();
    await (await fetch(`${gateway.url}/api/optimization`)).body?.cancel();
    await until(async () => (await runFolders()).length === 0 || undefined);
    const pid = Number(await Deno.readTextFile(join(fake.folder, "started")));
    await until(() => isGone(pid) || undefined);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
    await Deno.remove(temp, { recursive: true });
  }
});

function isGone(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT");
    return false;
  } catch {
    return true;
  }
}
