import assert from "node:assert/strict";
import { sep } from "node:path";
import fc from "../../tests/fast_check.ts";
import { expand, type ExpansionContext } from "./placeholders.ts";

const VARIABLES = new Map([
  ["TOKEN", "s3cret"],
  ["EMPTY", ""],
  ["TRICKY", "${TOKEN} $TOKEN }"],
  ["ProgramFiles(x86)", "C:\\x86"],
  ["QUARTERMASTER_INPUT_API_KEY", "from-env"],
]);

const SCOPE: ExpansionContext = {
  env: { get: (name) => VARIABLES.get(name) },
  workspaceFolder: "/home/ada/project",
  home: "/home/ada",
  inputs: new Map([["region", "eu"], ["asked", undefined], ["api-key", "from-default"]]),
};

const FILLED: [text: string, expected: string][] = [
  ["", ""],
  ["plain", "plain"],
  ["${TOKEN}", "s3cret"],
  ["Bearer ${TOKEN}!", "Bearer s3cret!"],
  ["${TOKEN}${TOKEN}", "s3crets3cret"],
  ["${env:TOKEN}", "s3cret"],
  ["${EMPTY}", ""],
  ["${EMPTY:-x}", ""],
  ["${TOKEN:-x}", "s3cret"],
  ["${NOPE:-x}", "x"],
  ["${NOPE:-}", ""],
  ["${NOPE:-a:-b}", "a:-b"],
  ["${NOPE:-https://x.example.com:80/a?b}", "https://x.example.com:80/a?b"],
  ["${env:NOPE:-x}", "x"],
  ["${NOPE:-${TOKEN}}", "s3cret"],
  ["${NOPE:-${ALSO:-deep}}/x", "deep/x"],
  ['${NOPE:-{"a":{"b":1}}}', '{"a":{"b":1}}'],
  ["${NOPE:-{}", "{"],
  ["${TRICKY}", "${TOKEN} $TOKEN }"],
  ["$TOKEN $$ $ $1 $(TOKEN)", "$TOKEN $$ $ $1 $(TOKEN)"],
  ["$${TOKEN}", "$s3cret"],
  ["${ProgramFiles(x86)}", "C:\\x86"],
  ["${workspaceFolder}/x", "/home/ada/project/x"],
  ["${workspaceFolderBasename}", "project"],
  ["${userHome}", "/home/ada"],
  ["a${/}b${pathSeparator}c", `a${sep}b${sep}c`],
  ["${input:region}", "eu"],
  ["${input:api-key}", "from-env"],
  ["${input:asked:-x}", "x"],
  ["Bearer ${secret:NAME}", "Bearer ${secret:NAME}"],
  ["${NOPE:-${secret:NAME}}", "${secret:NAME}"],
  ["${keychain:NAME} ${vault:a/b#c}", "${keychain:NAME} ${vault:a/b#c}"],
  ["${op://Vault/My item/field}", "${op://Vault/My item/field}"],
];

for (const [text, expected] of FILLED) {
  Deno.test(`expand() replaces ${text}`, () => {
    const result = expand(text, SCOPE);
    assert.deepEqual([result.text, result.unset, result.malformed], [expected, [], []]);
  });
}

const UNSET: [text: string, what: RegExp, fix: RegExp][] = [
  ["${NOPE}", /^NOPE is not set$/, /^Set NOPE, or give it a default: \$\{NOPE:-value\}$/],
  ["${env:NOPE}", /^NOPE is not set$/, /^Set NOPE/],
  ["${A:-${NOPE}}", /^NOPE is not set$/, /^Set NOPE/],
  ["${input:asked}", /^the input asked has no value$/, /^Set QUARTERMASTER_INPUT_ASKED$/],
  ["${input:other-id}", /"inputs" does not declare it/, /^Set QUARTERMASTER_INPUT_OTHER_ID$/],
  ["${secret:NAME:-x}", /^the secret NAME has a default/, /^Write \$\{secret:NAME\}$/],
  [
    "${vault:secret/app}",
    /^\$\{vault:secret\/app\} is not a valid/,
    /^Write \$\{vault:PATH#KEY\}$/,
  ],
  ["${keychain:a-b}", /is not a valid reference$/, /^Write \$\{keychain:NAME\}$/],
  ["${config:editor.x}", /works only in VS Code/, /Use the value/],
];

for (const [text, what, fix] of UNSET) {
  Deno.test(`expand() leaves ${text} and tells what is missing`, () => {
    const { text: left, unset, malformed } = expand(`a${text}b`, SCOPE);
    assert.deepEqual([unset.length, malformed], [1, []]);
    assert.match(unset[0]?.what ?? "", what);
    assert.match(unset[0]?.fix ?? "", fix);
    if (!text.includes(":-")) assert.equal(left, `a${text}b`);
  });
}

for (
  const text of [
    "${}",
    "${",
    "${TOKEN",
    "${1X}",
    "${A-b}",
    "${ TOKEN }",
    "${:-x}",
    "${env:}",
    "${secret:a-b}",
  ]
) {
  Deno.test(`expand() leaves ${text} and calls it malformed`, () => {
    const result = expand(`a${text}`, SCOPE);
    assert.deepEqual([result.text, result.unset.length], [`a${text}`, 0]);
    assert.deepEqual(result.malformed, [text]);
  });
}

Deno.test("expand() says that the home folder is missing", () => {
  const { unset } = expand("${userHome}", { ...SCOPE, home: undefined });
  assert.deepEqual(unset, [{ what: "the home folder is unknown", fix: "Set HOME" }]);
});

Deno.test("expand() counts as secret what came from outside the file", () => {
  const text = "${TOKEN} ${input:api-key} ${NOPE:-open} ${input:region} ${workspaceFolder}";
  assert.deepEqual(expand(text, SCOPE).values, ["s3cret", "from-env"]);
});

Deno.test("expand() stays quick on text made to be slow", () => {
  const size = 50_000;
  for (
    const text of ["${".repeat(size), "${{a}".repeat(size), "${A:-".repeat(size) + "}".repeat(size)]
  ) {
    assert.ok(expand(text, SCOPE).malformed.length > 0);
  }
});

Deno.test("expand() never throws, and leaves text without a placeholder alone", () => {
  const pieces = [
    "${",
    "}",
    "{",
    "$",
    ":-",
    "TOKEN",
    "NOPE",
    "env:",
    "input:",
    "/",
    " ",
    "\u{1F527}",
  ];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((p) => p.join(""));
  fc.assert(fc.property(text, (text) => {
    const result = expand(text, SCOPE);
    if (!text.includes("${")) assert.equal(result.text, text);
    if (text.includes("${") && !text.includes("}")) assert.equal(result.malformed.length, 1);
  }));
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)), (text) => {
      expand(text, SCOPE);
    }),
  );
});
