import assert from "node:assert/strict";
import { Catalog } from "./catalog.ts";
import { GatewayError } from "../core/errors.ts";
import { NameTable } from "./name_table.ts";
import { KEY_MINUTES, ToolKeys } from "./tool_keys.ts";

const SECRET = new Uint8Array(32).fill(7);

function tableOf(...names: string[]): NameTable {
  const catalog = new Catalog();
  catalog.setListed(
    "git",
    names.map((name) => JSON.stringify({ name, inputSchema: { type: "object" } })),
  );
  return new NameTable(catalog.snapshot.servers, { reserved: new Set(), maxLength: 60 });
}

const codeOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return (error as GatewayError).code;
  }
};

Deno.test("ToolKeys.resolve() takes a key on every instance, for its caller, until it ends", () => {
  const table = tableOf("status", "log");
  const tool = table.find("git", "status")!;
  const now = Date.now();
  const key = new ToolKeys(SECRET).issue(tool, "ann", now);
  const other = new ToolKeys(SECRET);
  assert.ok(ToolKeys.isKey(key));
  assert.equal(other.resolve(key, "ann", tableOf("log", "status"), now).name, "status");
  assert.equal(codeOf(() => other.resolve(key, "bob", table, now)), "TOOLKEY_INVALID");
  const later = now + (KEY_MINUTES - 1) * 60_000;
  assert.equal(other.resolve(key, "ann", table, later), tool);
  assert.equal(
    codeOf(() => other.resolve(key, "ann", table, later + 2 * 60_000)),
    "TOOLKEY_EXPIRED",
  );
  const month = 30 * 24 * 60 * 60_000;
  assert.equal(codeOf(() => other.resolve(key, "ann", table, now + month)), "TOOLKEY_EXPIRED");
  assert.equal(codeOf(() => other.resolve(key, "ann", tableOf("log"), now)), "TOOLKEY_INVALID");
  const strange = new ToolKeys(new Uint8Array(32));
  assert.equal(codeOf(() => strange.resolve(key, "ann", table, now)), "TOOLKEY_INVALID");
});

Deno.test("ToolKeys.resolve() takes the longer keys of earlier versions", () => {
  const [table, now] = [tableOf("status", "log"), 1_800_000_000_000];
  const long = "tk_OnVJzkUBAcnDvBa7LM9OPcpCNy8i";
  const keys = new ToolKeys(SECRET);
  assert.equal(keys.resolve(long, "ann", table, now).name, "status");
  assert.equal(codeOf(() => keys.resolve(long, "bob", table, now)), "TOOLKEY_INVALID");
  const changed = long.replace(/.{3}$/, "AAA");
  assert.equal(codeOf(() => keys.resolve(changed, "ann", table, now)), "TOOLKEY_INVALID");
  assert.equal(codeOf(() => keys.resolve(long, "ann", table, now + 7_200_000)), "TOOLKEY_EXPIRED");
  assert.ok(keys.issue(table.find("git", "status")!, "ann", now).length <= 15);
});

Deno.test("ToolKeys.resolve() takes no key that was changed in any place", () => {
  const table = tableOf("status", "log");
  const keys = new ToolKeys(SECRET);
  const key = keys.issue(table.find("git", "status")!, "ann");
  for (let at = 3; at < key.length; at++) {
    const changed = key.slice(0, at) + (key[at] === "A" ? "B" : "A") + key.slice(at + 1);
    assert.equal(codeOf(() => keys.resolve(changed, "ann", table)), "TOOLKEY_INVALID", changed);
  }
  for (const text of ["", "tk_", "git:status", key + "A", "tk_" + "é".repeat(28)]) {
    assert.equal(codeOf(() => keys.resolve(text, "ann", table)), "TOOLKEY_INVALID");
  }
});
