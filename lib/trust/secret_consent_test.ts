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
