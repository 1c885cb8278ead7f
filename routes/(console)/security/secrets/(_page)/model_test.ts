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
import { decideByForm, formOutcome } from "../../../../../lib/console/form_page.ts";
import { SECRET_DECISIONS, secretsPage } from "./model.ts";

const BY = { principal: "everyone", from: "127.0.0.1" };
const CALL = callBy(BY.principal, { from: () => BY.from });
const SPEC = ServerSpec.parse({ type: "stdio", command: "run", env: { T: "${secret:A}" } });

const change = (gateway: Services, form: URLSearchParams) =>
  decideByForm(SECRET_DECISIONS, gateway, form, CALL);

async function refusal(gateway: Services, form: URLSearchParams) {
  const error = await change(gateway, form).then(() => undefined, (error) => error);
  assert.ok(error instanceof GatewayError);
  return { ...await secretsPage(gateway, form), ...formOutcome(SECRET_DECISIONS, form, error) };
}

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

Deno.test("secrets page sets and deletes, and says who did", () =>
  withGateway(async (gateway, repository, audits) => {
    const set = new URLSearchParams({ action: "set", name: " A ", value: "one" });
    await change(gateway, set);
    assert.equal((await repository.open("A"))?.value, "one");
    const gone = new URLSearchParams({ action: "delete", name: "A" });
    await change(gateway, gone);
    assert.deepEqual(audits, [
      { ...BY, action: "secret.set", subject: "A" },
      { ...BY, action: "secret.delete", subject: "A" },
    ]);
    await assert.rejects(change(gateway, new URLSearchParams()), GatewayError);
  }));

Deno.test("secretsPage() never has a value, not even the one that was refused", () =>
  withGateway(async (gateway) => {
    const form = new URLSearchParams({ action: "set", name: "1A", value: "canary" });
    const refused = await refusal(gateway, form);
    assert.equal(refused.draft, "1A");
    assert.match(refused.problems?.name ?? "", /^A secret name must have/);
    assert.equal(refused.refused, undefined, "said once, beside the field");
    assert.deepEqual(refused.missing, [{ name: "A", usedBy: ["git"] }]);
    form.set("name", "A");
    await change(gateway, form);
    const page = await secretsPage(gateway, new URLSearchParams());
    assert.deepEqual(page.secrets.map(({ name, usedBy }) => [name, usedBy]), [["A", ["git"]]]);
    assert.doesNotMatch(JSON.stringify([refused, page]), /canary|qm1\./);
  }));

Deno.test("secretsPage() tells what is wrong besides the name as an error", () =>
  withGateway(async (gateway) => {
    const form = new URLSearchParams({ action: "set", name: "A", value: "" });
    const refused = await refusal(gateway, form);
    assert.match(refused.refused?.message ?? "", /the value is empty/);
    assert.equal(refused.problems, undefined);
  }));
