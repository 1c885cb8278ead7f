import assert from "node:assert/strict";
import { AuditRepository } from "../storage/audit_repository.ts";
import { Store } from "../storage/store.ts";
import { AuditLog, type AuditLogOptions, type AuditNote } from "./audit_log.ts";
import { Redactor } from "./redact.ts";

const NOTE: AuditNote = {
  principal: "token:1",
  who: "ci",
  from: "API, 127.0.0.1",
  action: "server.add",
  subject: "github",
};

interface Setting {
  log: AuditLog;
  repository: AuditRepository;
  redactor: Redactor;
  warnings: string[];
}

async function withLog(
  work: (setting: Setting) => Promise<void>,
  options: Partial<AuditLogOptions> = {},
): Promise<void> {
  await using store = await Store.open({ location: ":memory:" });
  const repository = options.repository ?? new AuditRepository(store);
  const redactor = new Redactor();
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  await using log = new AuditLog({ redactor, onWarning, ...options, repository });
  await work({ log, repository, redactor, warnings });
}

function entriesOf({ repository }: Pick<Setting, "repository">) {
  return Array.fromAsync(repository.list());
}

Deno.test("AuditLog.note() keeps who, from where, what, and the sides of a change", () =>
  withLog(async ({ log, repository }) => {
    log.note({ ...NOTE, before: { args: ["a"] }, after: { args: ["b"] } });
    await log.flush();
    const [entry, ...others] = await entriesOf({ repository });
    assert.equal(others.length, 0);
    const { principal, who, from, action, subject, before, after, n } = entry!;
    assert.deepEqual({ principal, who, from, action, subject }, NOTE);
    assert.deepEqual([before, after, n], ['{"args":["a"]}', '{"args":["b"]}', 0]);
  }));

Deno.test("AuditLog.note() is written by itself, and at the end of the process", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new AuditRepository(store);
  {
    await using log = new AuditLog({ repository, redactor: new Redactor(), onWarning() {} });
    log.note(NOTE);
    for (let tries = 0; tries < 3_000; tries++) {
      if ((await entriesOf({ repository })).length === 1) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal((await entriesOf({ repository })).length, 1);
    log.note(NOTE);
  }
  assert.equal((await entriesOf({ repository })).length, 2);
});

Deno.test("AuditLog.note() keeps known and evident secrets out of everything", () =>
  withLog(async ({ log, repository, redactor }) => {
    redactor.learn(["canary-one"]);
    log.note({
      ...NOTE,
      subject: "see canary-one",
      from: "Bearer abcdefghijkl",
      before: { url: "https://x/?token=canary-two", env: { NAME: "canary-three" } },
      after: {
        args: ["--key", "canary-one"],
        headers: { "X-Any": "canary-four" },
        password: "p4ssw0rd",
      },
    });
    await log.flush();
    const text = JSON.stringify(await entriesOf({ repository }));
    assert.doesNotMatch(text, /canary|p4ssw0rd|abcdefghijkl/);
    assert.match(text, /NAME/);
  }));

Deno.test("AuditLog.note() cuts a long side, and says so", () =>
  withLog(async ({ log, repository }) => {
    log.note({ ...NOTE, after: { text: "ä".repeat(20_000) } });
    await log.flush();
    const [{ after = "" } = {}] = await entriesOf({ repository });
    assert.ok(new TextEncoder().encode(after).length <= 8_192);
    assert.match(after, /ä… \[truncated: 40011 bytes in total\]$/);
  }));

Deno.test("AuditLog.note() never throws", () =>
  withLog(async ({ log, repository, warnings }) => {
    log.note({
      ...NOTE,
      after: {
        toJSON: "x",
        get bad(): string {
          throw new Error("no");
        },
      },
    });
    log.note(NOTE);
    await log.flush();
    assert.equal((await entriesOf({ repository })).length, 1);
    assert.deepEqual(warnings, ["Cannot record a change in the audit log"]);
  }));

Deno.test("AuditLog keeps what a store in trouble does not take, and writes it once", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new AuditRepository(store);
  let isDown = true;
  const flaky = new Proxy(repository, {
    get(target, name) {
      if (name === "append" && isDown) return () => Promise.reject(new Error("away"));
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  await withLog(async ({ log, warnings }) => {
    for (let n = 0; n < 2_005; n++) log.note({ ...NOTE, subject: `s${n}` });
    await log.flush();
    assert.deepEqual(warnings, ["Cannot write to the audit log: retrying"]);
    isDown = false;
    await log.flush();
  }, { repository: flaky });
  const entries = await entriesOf({ repository });
  assert.equal(entries.length, 2_001);
  assert.match(entries[0]!.subject, /^5 entries are missing/);
  assert.deepEqual(entries.slice(-2).map(({ subject }) => subject), ["s1", "s0"]);
  assert.equal(new Set(entries.map(({ n }) => n)).size, 2_001);
});

Deno.test("AuditLog clears away the oldest beyond its number, and says so", () =>
  withLog(async ({ log, repository }) => {
    for (let n = 0; n < 8; n++) log.note({ ...NOTE, subject: `s${n}` });
    await log.flush();
    const subjects = (await entriesOf({ repository })).map(({ subject }) => subject);
    assert.match(subjects[0]!, /^5 entries before /);
    assert.deepEqual(subjects.slice(1), ["s7", "s6", "s5"]);
  }, { maxEntries: 3 }));

Deno.test("AuditLog keeps only so many of what anybody can cause", () =>
  withLog(async ({ log, repository }) => {
    for (let n = 0; n < 300; n++) {
      log.note({ ...NOTE, action: "console.login.fail", isUnproven: true });
    }
    log.note(NOTE);
    await log.flush();
    const entries = await entriesOf({ repository });
    assert.equal(entries.length, 201);
    assert.equal(entries[0]!.action, "server.add");
    assert.equal(entries[1]!.action, "audit.flood");
  }));
