import assert from "node:assert/strict";
import { AuditRepository } from "../storage/audit_repository.ts";
import { keys } from "../storage/keys.ts";
import { Store } from "../storage/store.ts";
import { verifyAudit } from "./audit_chain.ts";
import { AuditLog, type AuditLogOptions } from "./audit_log.ts";
import { Redactor } from "./redact.ts";

const DAY_MS = 24 * 60 * 60_000;

interface Setting {
  store: Store;
  repository: AuditRepository;
}

/** A log of two processes with three entries each. */
async function withLog(
  work: (setting: Setting) => Promise<void>,
  options: Partial<AuditLogOptions> = {},
): Promise<void> {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new AuditRepository(store);
  for (const name of ["a", "b"]) {
    await write({ store, repository }, name, 3, options);
  }
  await work({ store, repository });
}

async function write(
  { repository }: Pick<Setting, "repository"> & Partial<Setting>,
  name: string,
  count: number,
  options: Partial<AuditLogOptions> = {},
): Promise<void> {
  await using log = new AuditLog({
    repository,
    redactor: new Redactor(),
    onWarning: (message) => assert.fail(message),
    ...options,
  });
  for (let n = 0; n < count; n++) {
    log.note({ principal: "p", from: "f", action: "server.add", subject: `${name}${n}` });
  }
  await log.flush();
}

async function messages({ repository }: Setting): Promise<string[]> {
  return (await verifyAudit(repository)).problems.map(({ message }) => message);
}

async function keyOf({ store }: Setting, subject: string) {
  for await (const { key, value } of store.list({ prefix: keys.auditLog() })) {
    if (JSON.stringify(value).includes(`"subject":"${subject}"`)) return { key, value };
  }
  throw new Error(`There is no ${subject}`);
}

Deno.test("verifyAudit() finds a log that nobody has touched to be whole", () =>
  withLog(async ({ repository }) => {
    assert.deepEqual(await verifyAudit(repository), {
      entries: 6,
      chains: 2,
      problems: [],
      more: 0,
    });
  }));

for (
  const [subject, where, message] of [
    ["a1", "in the middle", "One entry is missing before this one"],
    ["b0", "at the beginning", "One entry is missing before this one"],
    ["b2", "at the end", "One entry is missing at the end of a process"],
  ] as const
) {
  Deno.test(`verifyAudit() tells that an entry was taken out ${where} of a process's`, () =>
    withLog(async (setting) => {
      const { key } = await keyOf(setting, subject);
      await setting.store.commit({ deletes: [key] });
      assert.deepEqual(await messages(setting), [message]);
    }));
}

Deno.test("verifyAudit() tells that an entry was changed, moved or is of another shape", () =>
  withLog(async (setting) => {
    const { store } = setting;
    const { key, value } = await keyOf(setting, "a1");
    const changed = { ...Object(value), principal: "somebody else" };
    await store.commit({ sets: [{ key, value: changed }] });
    assert.deepEqual(await messages(setting), ["The entry was changed after it was written"]);
    await store.commit({ sets: [{ key, value: { ...Object(value), at: 1 } }] });
    assert.match((await messages(setting))[0]!, /another position/);
    await store.commit({ sets: [{ key, value: "nothing" }] });
    assert.match((await messages(setting))[0]!, /is unreadable/);
  }));

Deno.test("verifyAudit() knows what was cleared away for its age from what was taken out", async () => {
  await withLog(async (setting) => {
    const { repository, store } = setting;
    const later = () => 10 * DAY_MS;
    await write(setting, "c", 1, { now: later, keepDays: 5 });
    // Pruning is left to what follows, or a command's end would wait for it.
    assert.deepEqual(await Array.fromAsync(repository.list(), ({ action }) => action), [
      "audit.prune",
      "server.add",
    ]);
    const check = await verifyAudit(repository);
    assert.deepEqual(check.problems, []);
    assert.equal(check.prunedUntil, 5 * DAY_MS);
    const { key } = await keyOf(setting, "c0");
    await store.commit({ deletes: [key] });
    assert.deepEqual(await messages(setting), ["One entry is missing before this one"]);
  }, { now: () => 1 });
});
