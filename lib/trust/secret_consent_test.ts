import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { EVERYONE } from "../core/access.ts";
import { ServerSpec } from "../core/server.ts";
import { agreeToSecrets, refuseSecretsFromElsewhere } from "./secret_consent.ts";

const SENDS = ServerSpec.parse({
  type: "http",
  url: "https://collector.example/mcp?k=${secret:B}",
  headers: { Authorization: "Bearer ${secret:A}" },
});
const PLAIN = ServerSpec.parse({ type: "http", url: "https://example.com/mcp" });
const RUNS = ServerSpec.parse({ type: "stdio", command: "run", env: { T: "${secret:A}" } });

function isDenied(words: RegExp) {
  return (error: unknown) =>
    error instanceof GatewayError && error.code === "ACCESS_DENIED" && words.test(error.message);
}

Deno.test("refuseSecretsFromElsewhere() lets nobody elsewhere say where a secret goes", () => {
  for (const spec of [SENDS, RUNS]) {
    refuseSecretsFromElsewhere(spec, true);
    assert.throws(
      () => refuseSecretsFromElsewhere(spec, false),
      isDenied(/^The secret A can be given/),
    );
  }
  refuseSecretsFromElsewhere(PLAIN, false);
});

Deno.test("secrets that are kept outside the gateway need the same consent", async () => {
  const headers = {
    a: "${keychain:A}",
    b: "${vault:secret/app#key}",
    c: "${op://My vault/Item/field}",
  };
  const spec = ServerSpec.parse({ type: "http", url: "https://collector.example/mcp", headers });
  assert.throws(
    () => refuseSecretsFromElsewhere(spec, false),
    isDenied(/^The secret keychain:A can be given/),
  );
  let asked = "";
  const confirm = (question: string) => Promise.resolve(void (asked = question)).then(() => false);
  await assert.rejects(
    agreeToSecrets("x", spec, { principal: EVERYONE, confirm }),
    isDenied(/did not agree/),
  );
  assert.equal(
    asked,
    'x.\nIt will send the secrets keychain:A, "op://My vault/Item/field", vault:secret/app#key to ' +
      "collector.example",
  );
});

Deno.test("agreeToSecrets() asks with the names and the host, and takes no for an answer", async () => {
  const asked: string[] = [];
  const answer = (yes: boolean, principal = EVERYONE) => ({
    principal,
    confirm: (question: string) => Promise.resolve(void asked.push(question)).then(() => yes),
  });
  await agreeToSecrets("It is asked", SENDS, answer(true));
  assert.deepEqual(asked, [
    "It is asked.\nIt will send the secrets A, B to collector.example",
  ]);
  await assert.rejects(agreeToSecrets("x", SENDS, answer(false)), isDenied(/did not agree/));
  await assert.rejects(
    agreeToSecrets("x", SENDS, { principal: EVERYONE }),
    isDenied(/this client cannot ask/),
  );
  for (const spec of [PLAIN, RUNS]) await agreeToSecrets("x", spec, answer(false));
  await assert.rejects(
    agreeToSecrets("x", SENDS, answer(true, "token:a")),
    isDenied(/from the gateway's own machine/),
  );
  assert.equal(asked.length, 2);
});
