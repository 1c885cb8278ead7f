import assert from "node:assert/strict";
import { fromFileUrl } from "@std/path";
import type { ProcessRecord } from "../../storage/leases_repository.ts";
import { reapOrphans } from "./process_owner.ts";
import { findMarked, isGroupAlive, spawnGroup, startTimeOf } from "./process_group.ts";
import { HOST, ownerOf, waitUntil } from "../transports/testing/transport_harness.ts";
import { MemoryRecords } from "./testing/memory_records.ts";

const isLeaseAlive = (leaseId: string) => Promise.resolve(leaseId.startsWith("alive"));

/** A program with a child of its own, as a gateway leaves it behind. */
async function leaveBehind(leaseId: string, { marked = true } = {}) {
  const env = { PATH: Deno.env.get("PATH") ?? "", ...(marked ? ownerOf(leaseId).markerEnv : {}) };
  const child = spawnGroup({ command: "sh", args: ["-c", "sleep 60 & echo; wait"], env });
  const reader = child.stdout.getReader();
  await reader.read();
  await Promise.all([reader.cancel(), child.stdin.close(), child.stderr.cancel()]);
  const record: ProcessRecord = {
    id: crypto.randomUUID(),
    leaseId,
    host: HOST,
    marker: ownerOf(leaseId).marker,
    command: "sh",
    pgid: child.pid,
    startTime: await startTimeOf(child.pid),
  };
  return {
    child,
    record,
    async [Symbol.asyncDispose]() {
      if (await isGroupAlive(child.pid)) Deno.kill(-child.pid, "SIGKILL");
      await child.status;
    },
  };
}

Deno.test("reapOrphans() ends all that a gateway left when it was killed", async () => {
  const leaseId = `lapsed-${crypto.randomUUID()}`;
  const { marker } = ownerOf(leaseId);
  const gateway = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-lock",
      "--no-check",
      "--allow-all",
      fromFileUrl(import.meta.resolve("./testing/gateway_like.ts")),
      leaseId,
    ],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const reader = gateway.stdout.getReader();
  const { value } = await reader.read();
  const records: ProcessRecord[] = JSON.parse(new TextDecoder().decode(value));
  gateway.kill("SIGKILL");
  await Promise.all([gateway.status, reader.cancel()]);
  // The server ended with its input; its two deaf children, one of them in a group of its own, run.
  await waitUntil(async () => !await isPidRunning(records[0]?.pgid));
  assert.ok((await findMarked(marker)).length >= 2);

  const kept = new MemoryRecords(records);
  const [reaped, ...others] = await reapOrphans({ records: kept, isLeaseAlive, host: HOST });
  assert.deepEqual(others, []);
  assert.equal(reaped?.leaseId, leaseId);
  assert.equal(reaped.groupIds.length, 2);
  assert.deepEqual(reaped.survivors, []);
  assert.deepEqual(await findMarked(marker), []);
  assert.deepEqual(await kept.values(), []);
});

async function isPidRunning(pid = 0): Promise<boolean> {
  return await startTimeOf(pid) !== undefined;
}

Deno.test("reapOrphans() leaves alone what belongs to a living lease or another host", async () => {
  await using living = await leaveBehind(`alive-${crypto.randomUUID()}`);
  await using elsewhere = await leaveBehind(`lapsed-${crypto.randomUUID()}`);
  const records = new MemoryRecords([living.record, { ...elsewhere.record, host: "other-host" }]);
  assert.deepEqual(await reapOrphans({ records, isLeaseAlive, host: HOST }), []);
  assert.ok(await isGroupAlive(living.child.pid));
  assert.ok(await isGroupAlive(elsewhere.child.pid));
  assert.equal((await records.values()).length, 2);
});

Deno.test("reapOrphans() does not end a program that was given an orphan's pid", async () => {
  const leaseId = `lapsed-${crypto.randomUUID()}`;
  await using other = await leaveBehind(leaseId, { marked: false });
  const bootId = other.record.startTime?.split(":")[0];
  const records = new MemoryRecords([{ ...other.record, startTime: `${bootId}:1` }]);
  const [reaped] = await reapOrphans({ records, isLeaseAlive, host: HOST });
  assert.deepEqual(reaped?.groupIds, []);
  assert.ok(await isGroupAlive(other.child.pid));
  assert.deepEqual(await records.values(), []);
});

Deno.test("reapOrphans() finds a program by its marker where its start was not recorded", async () => {
  await using orphan = await leaveBehind(`lapsed-${crypto.randomUUID()}`);
  const { pgid: _, startTime: __, ...announced } = orphan.record;
  const records = new MemoryRecords([announced]);
  const [reaped] = await reapOrphans({ records, isLeaseAlive, host: HOST });
  assert.deepEqual(reaped?.groupIds, [orphan.child.pid]);
  assert.ok(!await isGroupAlive(orphan.child.pid));
});

Deno.test("reapOrphans() finds a program that wiped its environment by its start time", async () => {
  await using orphan = await leaveBehind(`lapsed-${crypto.randomUUID()}`, { marked: false });
  const records = new MemoryRecords([orphan.record]);
  const [reaped] = await reapOrphans({ records, isLeaseAlive, host: HOST });
  assert.deepEqual(reaped?.groupIds, [orphan.child.pid]);
  assert.ok(!await isGroupAlive(orphan.child.pid));
});

Deno.test("reapOrphans() spares its own process, which an orphan may have started", async () => {
  const leaseId = `lapsed-${crypto.randomUUID()}`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-lock",
      "--no-check",
      "--allow-all",
      fromFileUrl(import.meta.resolve("./testing/reap_self.ts")),
      leaseId,
    ],
    env: ownerOf(leaseId).markerEnv,
    // Its own group, or this one would be spared in its place.
    detached: true,
    stderr: "inherit",
  }).output();
  assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), [
    { leaseId, commands: ["any"], groupIds: [], survivors: [] },
  ]);
});

Deno.test("ProcessOwner.announce() refuses new programs once it is ending them", async () => {
  const owner = ownerOf(`alive-${crypto.randomUUID()}`);
  await owner[Symbol.asyncDispose]();
  await assert.rejects(owner.announce("sh"), { code: "SERVER_DISCONNECTED" });
});
