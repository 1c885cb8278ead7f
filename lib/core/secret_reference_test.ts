import assert from "node:assert/strict";
import {
  fillSecrets,
  isReference,
  SecretName,
  secretNames,
  secretNamesIn,
  secretReference,
} from "./secret_reference.ts";
import { ServerSpec } from "./server.ts";

const STDIO = ServerSpec.parse({
  type: "stdio",
  command: "run-${secret:COMMAND}",
  args: ["--key=${secret:ARG}", "plain"],
  env: { TOKEN: "${secret:ENV}", TWICE: "${secret:ARG}-${secret:ENV}" },
});
const REMOTE = ServerSpec.parse({
  type: "http",
  url: "https://example.com/${secret:PATH}/mcp?key=${secret:QUERY}",
  headers: { Authorization: "Bearer ${secret:HEAD}" },
});

Deno.test("secretNames() finds references in arguments, variables, headers and the address", () => {
  assert.deepEqual(secretNames(STDIO), ["ARG", "ENV"]);
  assert.deepEqual(secretNames(REMOTE), ["HEAD", "PATH", "QUERY"]);
  assert.deepEqual(secretNames({ type: "demo" }), []);
});

Deno.test("fillSecrets() puts values in, and looks at nothing that a value contains", () => {
  const values = new Map([["ARG", "a $& $1"], ["ENV", "${secret:ARG}"]]);
  const filled = fillSecrets(STDIO, values);
  assert.deepEqual(filled, {
    ...STDIO,
    args: ["--key=a $& $1", "plain"],
    env: { TOKEN: "${secret:ARG}", TWICE: "a $& $1-${secret:ARG}" },
  });
  assert.deepEqual(fillSecrets(REMOTE, new Map([["PATH", "p"], ["QUERY", "q"]])), {
    ...REMOTE,
    url: "https://example.com/p/mcp?key=q",
  });
});

Deno.test("isReference() tells what can be read by anybody from what may hold a secret", () => {
  for (const text of ["${secret:A}", "Bearer ${secret:A}", "${secret:A}${secret:B}"]) {
    assert.equal(isReference(text), true, text);
  }
  for (
    const text of [
      "",
      "plain",
      "${secret:}",
      "${secret:A-b}",
      "hunter2 and more ${secret:A}",
      "hunter2${secret:A}",
      "hunter ${secret:A}",
      "${secret:A}hunter2",
    ]
  ) assert.equal(isReference(text), false, text);
});

Deno.test("SecretName takes what a reference can name", () => {
  for (const name of ["A", "_x", "GITHUB_TOKEN", "a".repeat(64)]) {
    assert.equal(SecretName.safeParse(name).success, true, name);
    assert.deepEqual(secretNamesIn(secretReference(name)), [name]);
  }
  for (const name of ["", "1A", "a-b", "a b", "ä", "a".repeat(65)]) {
    assert.equal(SecretName.safeParse(name).success, false, name);
    assert.deepEqual(secretNamesIn(secretReference(name)), [], name);
  }
});

const ELSEWHERE: [reference: string, name: string][] = [
  ["${keychain:GITHUB_TOKEN}", "keychain:GITHUB_TOKEN"],
  ["${vault:secret/app/db#password}", "vault:secret/app/db#password"],
  ["${op://Private/GitHub/token}", "op://Private/GitHub/token"],
  ["${op:My vault/Git.Hub-2/keys/token}", "op://My vault/Git.Hub-2/keys/token"],
  ["${op://v/i/one-time password?attribute=otp}", "op://v/i/one-time password?attribute=otp"],
];

for (const [reference, name] of ELSEWHERE) {
  Deno.test(`${reference} is a secret's reference that an entry may contain`, () => {
    assert.deepEqual(secretNamesIn(`Bearer ${reference}`), [name]);
    assert.deepEqual(secretNamesIn(secretReference(name)), [name]);
    assert.equal(isReference(`Bearer ${reference}`), true);
    const spec = ServerSpec.parse({ type: "stdio", command: "run", env: { T: `a ${reference}` } });
    assert.deepEqual(secretNames(spec), [name]);
    assert.deepEqual(fillSecrets(spec, new Map([[name, "v"]])), { ...spec, env: { T: "a v" } });
  });
}

for (
  const text of [
    "${keychain:a-b}",
    "${keychain:other/NAME}",
    "${vault:app#key}",
    "${vault:secret/app}",
    "${vault:secret/../sys/x#key}",
    "${vault:secret/./x#key}",
    "${vault:secret/..#key}",
    "${vault:secret/app#key?x}",
    "${op://v/i}",
    "${op://v/i\nIt sends nothing/f}",
    '${op://v/i" or "x/f}',
    "${op://v/../f}",
    `\${op://v/i/${"f".repeat(300)}}`,
  ]
) {
  Deno.test(`${text} names no secret`, () => {
    assert.deepEqual(secretNamesIn(text), []);
    assert.equal(isReference(text), false);
  });
}
