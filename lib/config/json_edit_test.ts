import assert from "node:assert/strict";
import { valueAt, withValueAt } from "./json_edit.ts";

const ENTRY = { type: "http", url: "http://127.0.0.1:3333/mcp" };

const PLACE = ["mcpServers", "quartermaster"];

Deno.test("withValueAt() keeps everything else letter by letter, and takes out what it put in", () => {
  const texts = [
    `{
    // my servers
    "mcpServers": {
        "files": { "command": "npx" }, /* keep */
    },
    "theme":   "dark",
}
`,
    '{\n  "mcpServers": {\n    "files": { "command": "npx" } // note\n  }\n}',
    '{\n  "mcpServers": {\n    "files": { "command": "npx" }\n    , "b": {}\n  }\n}',
    '{\n  "mcpServers": {\n    "files": {}\n    ,\n  }\n}',
    '{\n  "mcpServers": {\n    "files": {}\n    // last\n  },\n  "a": [1,2]\n}',
    '{"mcpServers":{"a":{"command":"x"}},"b":[1,2]}',
    '{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n',
  ];
  for (const text of texts) {
    const merged = withValueAt(text, "a.json", PLACE, ENTRY);
    assert.deepEqual({ ...valueAt(merged, "a.json", PLACE) as object }, ENTRY, merged);
    assert.equal(withValueAt(merged, "a.json", PLACE, ENTRY), merged);
    const removed = withValueAt(merged, "a.json", PLACE, undefined);
    // A comma that had no need to be there is the one thing that may go.
    assert.equal(removed.replace("\n    \n", "\n    ,\n"), text, merged);
  }
});

Deno.test("withValueAt() writes as the file does", () => {
  const text = '{\n    "mcpServers": {\n        "a": {} // note\n    }\n}\n';
  assert.equal(
    withValueAt(text, "a.json", ["mcpServers", "b"], { url: "x" }),
    '{\n    "mcpServers": {\n        "a": {}, // note\n        "b": {\n            "url": "x"\n' +
      "        }\n    }\n}\n",
  );
  const other = '{\n  "mcpServers": {\n    "b": { "url": "old" }, // note\n    "c": {}\n  }\n}\n';
  assert.equal(
    withValueAt(other, "a.json", ["mcpServers", "b"], { url: "x" }),
    '{\n  "mcpServers": {\n    "b": {\n      "url": "x"\n    }, // note\n    "c": {}\n  }\n}\n',
  );
  assert.equal(
    withValueAt(other, "a.json", ["mcpServers", "b"], undefined),
    '{\n  "mcpServers": { // note\n    "c": {}\n  }\n}\n',
  );
});

Deno.test("withValueAt() makes what is not there, in the file's own line ends", () => {
  assert.equal(
    withValueAt("", "a.json", ["servers", "a"], { url: "x" }),
    '{\n  "servers": {\n    "a": {\n      "url": "x"\n    }\n  }\n}\n',
  );
  const windows = withValueAt('{\r\n\t"b": 1\r\n}\r\n', "a.json", ["servers", "a"], { url: "x" });
  assert.ok(windows.includes('\r\n\t"servers": {\r\n\t\t"a"'), JSON.stringify(windows));
  assert.ok(!/[^\r]\n/.test(windows));
});

Deno.test("withValueAt() changes nothing where there is nothing to take out", () => {
  const text = '{ "mcpServers": {} }';
  assert.equal(withValueAt(text, "a.json", ["mcpServers", "gone"], undefined), text);
  assert.equal(withValueAt("", "a.json", ["mcpServers", "gone"], undefined), "");
});

Deno.test("withValueAt() refuses what is broken, and says where", () => {
  assert.throws(
    () => withValueAt('{\n  "mcpServers": {,}\n}', "a.json", ["mcpServers", "a"], ENTRY),
    /a\.json:2:18: /,
  );
  assert.throws(
    () => withValueAt('{ "mcpServers": [] }', "a.json", ["mcpServers", "a"], ENTRY),
    /a\.json:1:17: "mcpServers" must be an object/,
  );
});
