import assert from "node:assert/strict";
import type { AuditedChange } from "../core/audit.ts";
import { GatewayError } from "../core/errors.ts";
import { ServerSpec } from "../core/server.ts";
import { AesBox } from "../storage/secret_box.ts";
import { SecretsRepository } from "../storage/secrets_repository.ts";
import { Store } from "../storage/store.ts";
import { SecretsAdmin } from "../surfaces/secrets_admin.ts";
import { changeSecrets, secretsPage } from "./security_secrets.ts";

const BY = { principal: "everyone", from: "127.0.0.1" };
const SPEC = ServerSpec.parse({ type: "stdio", command: "run", env: { T: "${secret:A}" } });

async function withGateway(
  work: (
    gateway: { secrets(): Promise<SecretsAdmin> },
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
    onAudit: (entry) => void audits.push(entry),
  });
  await work({ secrets: () => Promise.resolve(admin) }, repository, audits);
}

Deno.test("changeSecrets() sets and deletes, and says who did", () =>
  withGateway(async (gateway, repository, audits) => {
    const set = new URLSearchParams({ change: "set", name: " A ", value: "one" });
    assert.equal(await changeSecrets(gateway, set, BY), "set");
    assert.equal((await repository.open("A"))?.value, "one");
    const gone = new URLSearchParams({ change: "delete", name: "A" });
    assert.equal(await changeSecrets(gateway, gone, BY), "deleted");
    assert.deepEqual(audits, [
      { ...BY, action: "secret.set", subject: "A" },
      { ...BY, action: "secret.delete", subject: "A" },
    ]);
    await assert.rejects(changeSecrets(gateway, new URLSearchParams(), BY), GatewayError);
  }));

Deno.test("secretsPage() never has a value, not even the one that was refused", () =>
  withGateway(async (gateway) => {
    const form = new URLSearchParams({ change: "set", name: "1A", value: "canary" });
    const error = await changeSecrets(gateway, form, BY).then(() => undefined, (error) => error);
    assert.ok(error instanceof GatewayError);
    const refused = await secretsPage(gateway, form, error);
    assert.equal(refused.draft, "1A");
    assert.match(refused.nameProblem ?? "", /^A secret's name has/);
    assert.equal(refused.error, undefined, "said once, beside the field");
    assert.deepEqual(refused.missing, [{ name: "A", usedBy: ["git"] }]);
    form.set("name", "A");
    await changeSecrets(gateway, form, BY);
    const page = await secretsPage(gateway, new URLSearchParams({ done: "set" }));
    assert.match(page.done ?? "", /^The secret is set/);
    assert.deepEqual(page.secrets.map(({ name, usedBy }) => [name, usedBy]), [["A", ["git"]]]);
    assert.doesNotMatch(JSON.stringify([refused, page]), /canary|qm1\./);
  }));

Deno.test("secretsPage() tells what is wrong besides the name as an error", () =>
  withGateway(async (gateway) => {
    const form = new URLSearchParams({ change: "set", name: "A", value: "" });
    const error = await changeSecrets(gateway, form, BY).then(() => undefined, (error) => error);
    const refused = await secretsPage(gateway, form, error);
    assert.match(refused.error?.message ?? "", /it has no value/);
    assert.equal(refused.nameProblem, undefined);
  }));
