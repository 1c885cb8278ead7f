import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { parseEnv } from "node:util";
import { nonEmpty, parseEnvFile, systemEnv } from "./platform.ts";

Deno.test("systemEnv() has the variables of this process, one by one and all together", () => {
  const env = systemEnv();
  assert.equal(env.get("PATH"), Deno.env.get("PATH"));
  assert.deepEqual(env.toObject?.(), Deno.env.toObject());
});

Deno.test("systemEnv() knows the account's home folder without HOME", () => {
  const home = Deno.env.get("HOME");
  try {
    Deno.env.delete("HOME");
    assert.equal(systemEnv().get("HOME"), existsSync(homedir()) ? homedir() : undefined);
  } finally {
    if (home !== undefined) Deno.env.set("HOME", home);
  }
});

Deno.test("nonEmpty() takes an empty variable for one that is not set", () => {
  const env = { get: (name: string) => name === "A" ? "" : name === "B" ? "b" : undefined };
  assert.deepEqual(["A", "B", "C"].map((name) => nonEmpty(env, name)), [undefined, "b", undefined]);
});

const ENV_FILES = [
  "",
  "A=1\nB = two words \n\nexport C=3\r\nD=\r\n",
  "# A=0\n  A=1 # one\nB='#1' # two\nC=\"a b\"\nD=`'\"`",
  'LINES="first\nB=second"\nC=a\\nb\nD="a\\nb"\nE=\'a\\nb\'',
  'URL=https://example.com/?a=b&c=d\nJSON={"a": 1}\nA=1\nA=2',
  'no assignment\n=nothing\nA.b-c=1\nOPEN="never closed\nB=2',
];

for (const text of ENV_FILES) {
  Deno.test(`parseEnvFile() reads ${JSON.stringify(text)} as Node does`, () => {
    assert.deepEqual({ ...Object.fromEntries(parseEnvFile(text)) }, { ...parseEnv(text) });
  });
}
