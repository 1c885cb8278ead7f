import assert from "node:assert/strict";
import { type AuditEntry, AuditRepository } from "./audit_repository.ts";
import { keys } from "./keys.ts";
import { Store } from "./store.ts";

function entry(n: number, more: Partial<AuditEntry> = {}): AuditEntry {
  const at = 1_000 + n;
  return {
    id: `${at.toString(36)}-${n}`,
    at,
    chain: "c",
    n,
    principal: "everyone",
    from: "console",
    action: "server.add",
    subject: `s${n}`,
    hash: `hash ${n}`,
    ...more,
  };
}

async function withLog(
  count: number,
  work: (repository: AuditRepository, store: Store) => Promise<void>,
): Promise<void> {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new AuditRepository(store);
  for (let n = 0; n < count; n++) await repository.append([entry(n)]);
  await work(repository, store);
}

async function subjects(repository: AuditRepository, range = {}): Promise<string[]> {
  return await Array.fromAsync(repository.list(range), ({ subject }) => subject);
}

Deno.test("AuditRepository.list() gives the newest first, within times and before an entry", () =>
  withLog(5, async (repository) => {
    assert.deepEqual(await subjects(repository), ["s4", "s3", "s2", "s1", "s0"]);
    assert.deepEqual(await subjects(repository, { since: 1_001, until: 1_003 }), ["s2", "s1"]);
    assert.deepEqual(await subjects(repository, { before: entry(2).id }), ["s1", "s0"]);
    const range = { since: 1_001, until: 1_004, before: entry(3).id };
    assert.deepEqual(await subjects(repository, range), ["s2", "s1"]);
    assert.deepEqual(await subjects(repository, { since: 2_000, until: 1_000 }), []);
    assert.deepEqual(await subjects(repository, { since: 2_000, before: entry(1).id }), []);
  }));

Deno.test("AuditRepository.append() replaces nothing that is there", () =>
  withLog(1, async (repository) => {
    const other = entry(0, { subject: "another", hash: "another" });
    await assert.rejects(repository.append([other]), { code: "CONFLICT" });
    assert.deepEqual(await subjects(repository), ["s0"]);
    // A second try of what was done already is fine.
    await repository.append([entry(0)]);
    assert.deepEqual(await repository.chains(), [{ chain: "c", n: 0, at: 1_000, hash: "hash 0" }]);
  }));

Deno.test("AuditRepository.findOld() goes by age and by number", () =>
  withLog(5, async (repository) => {
    assert.equal(await repository.findOld(0, 100), undefined);
    assert.deepEqual(await repository.findOld(1_002, 100), { until: 1_002, count: 2 });
    assert.deepEqual(await repository.findOld(0, 2), { until: 1_003, count: 3 });
  }));

Deno.test("AuditRepository.removeOld() takes chains along of which nothing is left", () =>
  withLog(3, async (repository) => {
    await repository.append([entry(9, { chain: "late", n: 0 })]);
    await repository.removeOld(1_002);
    assert.deepEqual(await subjects(repository), ["s9", "s2"]);
    assert.equal((await repository.chains()).length, 2);
    await repository.removeOld(1_003);
    assert.deepEqual((await repository.chains()).map(({ chain }) => chain), ["late"]);
  }));

Deno.test("AuditRepository.list() leaves out what cannot be read", () =>
  withLog(2, async (repository, store) => {
    await store.commit({ sets: [{ key: keys.auditLog(1_001, "x"), value: { odd: true } }] });
    assert.deepEqual(await subjects(repository), ["s1", "s0"]);
  }));
