import assert from "node:assert/strict";
import type { AuditedChange } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { ServerSpec } from "../core/server.ts";
import { AesBox } from "../storage/sealing.ts";
import { SecretsRepository } from "../storage/secrets_repository.ts";
import { Store } from "../storage/store.ts";
import { failure } from "../storage/testing/failures.ts";
import { SecretsAdmin } from "./secrets_admin.ts";

const SERVERS = [
  { name: "one", spec: spec({ T: "${secret:A}", U: "${secret:GONE}" }) },
  { name: "two", spec: spec({ T: "${secret:A}" }) },
];

function spec(env: Record<string, string>): ServerSpec {
  return ServerSpec.parse({ type: "stdio", command: "run", env });
}

interface Parts {
  admin: SecretsAdmin;
  events: string[];
  audits: AuditedChange[];
  useKey(byte: number | undefined): void;
}

async function withAdmin(work: (parts: Parts) => Promise<void>): Promise<void> {
  await using store = await Store.open({ location: ":memory:" });
  let byte: number | undefined = 1;
  const box = () =>
    byte === undefined
      ? Promise.reject(new GatewayError("NOT_AVAILABLE_HERE", { message: "There is no key" }))
      : AesBox.of(new Uint8Array(32).fill(byte));
  const events: string[] = [];
  const audits: AuditedChange[] = [];
  const admin = new SecretsAdmin({
    repository: new SecretsRepository(store, box),
    keyId: async () => (await box()).keyId,
    servers: () => Promise.resolve(SERVERS),
    learn: (values) => void events.push(`learn ${values}`),
    onChanged: () => Promise.resolve(void events.push("changed")),
    onAudit: (entry) => void audits.push(entry),
  });
  await work({ admin, events, audits, useKey: (next) => byte = next });
}

Deno.test("SecretsAdmin.list() says who uses what, and what is missing, and no value", () =>
  withAdmin(async ({ admin }) => {
    await admin.set("A", "canary-a");
    await admin.set("B", "canary-b");
    const list = await admin.list();
    assert.deepEqual(list.secrets.map(({ name, usedBy }) => [name, usedBy]), [
      ["A", ["one", "two"]],
      ["B", []],
    ]);
    assert.deepEqual(list.missing, [{ name: "GONE", usedBy: ["one"] }]);
    assert.doesNotMatch(JSON.stringify(list), /canary|qm1\./);
  }));

Deno.test("SecretsAdmin.list() says where a secret or all of them cannot be used", () =>
  withAdmin(async ({ admin, useKey }) => {
    await admin.set("A", "value");
    useKey(2);
    assert.match((await admin.list()).secrets[0]?.problem ?? "", /different key: set it again$/);
    useKey(undefined);
    const list = await admin.list();
    assert.match(list.unavailable ?? "", /^There is no key\. /);
    assert.equal(list.secrets.length, 1);
    await failure(admin.set("B", "value"), "NOT_AVAILABLE_HERE");
  }));

Deno.test("SecretsAdmin.set() makes the value known before it is kept, and audits without it", () =>
  withAdmin(async ({ admin, events, audits }) => {
    assert.deepEqual(await admin.set("A", "canary"), {
      usedBy: ["one", "two"],
    });
    await admin.set("A", "canary");
    assert.deepEqual(events, ["learn canary", "changed", "learn canary", "changed"]);
    assert.deepEqual(audits, [
      { action: "secret.set", subject: "A" },
      { action: "secret.change", subject: "A" },
    ]);
  }));

Deno.test("SecretsAdmin.delete() keeps what servers use, unless it is wanted all the same", () =>
  withAdmin(async ({ admin, audits }) => {
    await admin.set("A", "value");
    await admin.set("B", "value");
    const error = await failure(admin.delete("A"), "CONFLICT");
    assert.equal(error.message, "Cannot delete the secret A: the servers one, two use it");
    assert.deepEqual(await admin.delete("A", true), { usedBy: ["one", "two"] });
    assert.deepEqual(await admin.delete("B"), { usedBy: [] });
    await failure(admin.delete("B"), "NOT_FOUND");
    assert.deepEqual((await admin.list()).secrets, []);
    assert.deepEqual(audits.slice(2).map(({ action }) => action), [
      "secret.delete",
      "secret.delete",
    ]);
  }));
