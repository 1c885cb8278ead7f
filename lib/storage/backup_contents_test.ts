import assert from "node:assert/strict";
import { keys } from "./keys.ts";
import { gatherSealed, otherKeyWarnings, type SealedNames } from "./backup_contents.ts";

const BODY = "A".repeat(40);
const [ONE, TWO] = [`qm1.00000001.${BODY}`, `qm1.00000002.${BODY}`];

function gathered(): SealedNames[] {
  const found: SealedNames[] = [];
  gatherSealed(found, keys.secrets("A"), { name: "A", sealed: ONE, setAt: 1 });
  gatherSealed(found, keys.secrets("B"), { name: "B", sealed: TWO, setAt: 1 });
  gatherSealed(found, keys.servers("git"), { spec: { env: { A: ONE, B: ONE }, args: ["x"] } });
  gatherSealed(found, keys.servers("web"), {
    spec: { url: `https://example.com/#${TWO}`, headers: {} },
  });
  gatherSealed(found, keys.servers("plain"), { spec: { env: { A: "x" }, args: [] } });
  gatherSealed(found, keys.logins("web"), { sealed: ONE });
  gatherSealed(found, keys.settings("x"), ONE);
  return found;
}

Deno.test("gatherSealed() says what each key is needed for", () => {
  assert.deepEqual(gathered(), [
    { keyId: "00000001", secrets: ["A"], servers: ["git"], logins: ["web"] },
    { keyId: "00000002", secrets: ["B"], servers: ["web"], logins: [] },
  ]);
});

Deno.test("otherKeyWarnings() names what must be set again, and nothing that opens here", () => {
  const all = gathered();
  assert.deepEqual(otherKeyWarnings(all.slice(0, 1), "00000001"), []);
  const [secrets, servers, ...rest] = otherKeyWarnings(all, "00000001");
  assert.match(secrets ?? "", /set these secrets again: B$/);
  assert.match(servers ?? "", /variables of these servers again: web$/);
  assert.deepEqual(rest.map((words) => /00000002/.test(words)), [true]);
  const none = otherKeyWarnings(all, undefined);
  assert.match(none[0] ?? "", /these secrets again: A, B$/);
  assert.match(none[2] ?? "", /log in to these servers again: web$/);
});
