import assert from "node:assert/strict";
import { currentOrigin } from "../../../../../lib/telemetry/audit_log.ts";
import type { AuditedChange } from "../../../../../lib/core/access.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import { ServerSpec } from "../../../../../lib/core/server.ts";
import { AesBox } from "../../../../../lib/storage/sealing.ts";
import { SecretsRepository } from "../../../../../lib/storage/secrets_repository.ts";
import { Store } from "../../../../../lib/storage/store.ts";
import { SecretsAdmin } from "../../../../../lib/operations/secrets_admin.ts";
import type { Services } from "../../../../../lib/operations/services.ts";
import { callBy, servicesOf } from "../../../../../lib/operations/testing/services.ts";
import { changeSecrets, secretsPage } from "./model.ts";

const BY = { principal: "everyone", from: "127.0.0.1" };
const CALL = callBy(BY.principal, { from: () => BY.from });
const SPEC = ServerSpec.parse({ type: "stdio", command: "run", env: { T: "${secret:A}" } });

async function withGateway(
  work: (
    gateway: Services,
    repository: SecretsRepository,
    audits: AuditedChange[],
  ) => Promise<void>,
): Promise<void> {
  await using store = await Store.open({ location: ":memory:" });
  const box = () => AesBox.of(new Uint8Array(32));
  const repository = new SecretsRepository(store, box);
  const audits: AuditedChange[] = [];
  const admin = new SecretsAdmin({
    repository,
    keyId: async () => (await box()).keyId,
    servers: () => Promise.resolve([{ name: "git", spec: SPEC }]),
    onAudit(entry) {
      const { principal, from } = currentOrigin()!;
      audits.push({ ...entry, principal, from: from() });
    },
  });
  await work(servicesOf({ secrets: () => Promise.resolve(admin) }), repository, audits);
}

Deno.test("changeSecrets() sets and deletes, and says who did", () =>
  withGateway(async (gateway, repository, audits) => {
    const set = new URLSearchParams({ change: "set", name: " A ", value: "one" });
    assert.equal(await changeSecrets(gateway, set, CALL), "set");
    assert.equal((await repository.open("A"))?.value, "one");
    const gone = new URLSearchParams({ change: "delete", name: "A" });
    assert.equal(await changeSecrets(gateway, gone, CALL), "deleted");
    assert.deepEqual(audits, [
      { ...BY, action: "secret.set", subject: "A" },
      { ...BY, action: "secret.delete", subject: "A" },
    ]);
    await assert.rejects(changeSecrets(gateway, new URLSearchParams(), CALL), GatewayError);
  }));

Deno.test("secretsPage() never has a value, not even the one that was refused", () =>
  withGateway(async (gateway) => {
    const form = new URLSearchParams({ change: "set", name: "1A", value: "canary" });
    const error = await changeSecrets(gateway, form, CALL).then(() => undefined, (error) => error);
    assert.ok(error instanceof GatewayError);
    const refused = await secretsPage(gateway, form, error);
    assert.equal(refused.draft, "1A");
    assert.match(refused.nameProblem ?? "", /^A secret's name has/);
    assert.equal(refused.error, undefined, "said once, beside the field");
    assert.deepEqual(refused.missing, [{ name: "A", usedBy: ["git"] }]);
    form.set("name", "A");
    await changeSecrets(gateway, form, CALL);
    const page = await secretsPage(gateway, new URLSearchParams({ done: "set" }));
    assert.match(page.done ?? "", /^Secret set/);
    assert.deepEqual(page.secrets.map(({ name, usedBy }) => [name, usedBy]), [["A", ["git"]]]);
    assert.doesNotMatch(JSON.stringify([refused, page]), /canary|qm1\./);
  }));

Deno.test("secretsPage() tells what is wrong besides the name as an error", () =>
  withGateway(async (gateway) => {
    const form = new URLSearchParams({ change: "set", name: "A", value: "" });
    const error = await changeSecrets(gateway, form, CALL).then(() => undefined, (error) => error);
    const refused = await secretsPage(gateway, form, error);
    assert.match(refused.error?.message ?? "", /it has no value/);
    assert.equal(refused.nameProblem, undefined);
  }));
