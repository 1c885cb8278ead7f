import assert from "node:assert/strict";
import { openSyntax } from "./client_syntax.ts";

const TOML = `# mine
model = "o3"

[mcp_servers.files] # files
command = "npx"
args = ["-y", "files"]

[mcp_servers.files.env]
KEY = "[mcp_servers.quartermaster]"

[tui]
theme = "dark"
`;
const PLACE = ["mcp_servers", "quartermaster"];

Deno.test("a TOML table is added, changed and removed, and all else stays", async () => {
  const { valueAt, withValueAt } = await openSyntax("toml");
  const added = withValueAt(TOML, "f", PLACE, { url: "http://a/mcp", http_headers: { A: "b" } });
  assert.ok(added.startsWith(TOML), added);
  assert.equal(
    JSON.stringify(valueAt(added, "f", PLACE)),
    '{"url":"http://a/mcp","http_headers":{"A":"b"}}',
  );
  const changed = withValueAt(added, "f", PLACE, { url: "http://b/mcp" });
  assert.ok(changed.startsWith(TOML) && !changed.includes("http_headers"), changed);
  assert.equal(withValueAt(changed, "f", PLACE, { url: "http://b/mcp" }), changed);
  assert.equal(withValueAt(changed, "f", PLACE, undefined), TOML);
  assert.equal(
    withValueAt("", "f", PLACE, { url: "u" }),
    '[mcp_servers.quartermaster]\nurl = "u"\n',
  );
});

Deno.test("a TOML table between others is replaced where it stands", async () => {
  const { withValueAt } = await openSyntax("toml");
  const changed = withValueAt(TOML, "f", ["mcp_servers", "files"], { url: "u" });
  assert.equal(
    changed,
    '# mine\nmodel = "o3"\n\n[mcp_servers.files]\nurl = "u"\n\n[tui]\ntheme = "dark"\n',
  );
});

Deno.test("a TOML file that cannot be changed safely is refused with what to add", async () => {
  const { withValueAt, valueAt } = await openSyntax("toml");
  const inline = 'mcp_servers = { quartermaster = { url = "a" } }\n';
  assert.throws(() => withValueAt(inline, "f.toml", PLACE, { url: "b" }), /by hand/);
  assert.throws(() => valueAt("a = \n", "f.toml", PLACE), /f\.toml:1:\d+: /);
});

const YAML = `# mine
GOOSE_MODEL: sonnet # fast
extensions:
  developer:
    type: builtin # kept
    enabled: true
`;

Deno.test("a YAML entry is added, changed and removed, and comments stay", async () => {
  const { valueAt, withValueAt } = await openSyntax("yaml");
  const place = ["extensions", "quartermaster"];
  const added = withValueAt(YAML, "f", place, { uri: "http://a/mcp" });
  assert.ok(added.startsWith(YAML), added);
  assert.deepEqual(valueAt(added, "f", place), { uri: "http://a/mcp" });
  assert.equal(withValueAt(added, "f", place, { uri: "http://a/mcp" }), added);
  assert.equal(withValueAt(added, "f", place, undefined), YAML);
  assert.equal(withValueAt("", "f", place, { a: 1 }), "extensions:\n  quartermaster:\n    a: 1\n");
  assert.throws(() => valueAt("a: [1\n", "f.yaml", place), /f\.yaml:\d+:\d+: /);
  assert.throws(() => valueAt("- 1\n", "f.yaml", place), /mapping/);
});
