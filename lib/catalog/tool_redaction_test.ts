import assert from "node:assert/strict";
import { isBroken, readTool } from "./catalog_tool.ts";
import type { Finding } from "./tool_guard.ts";
import { admission } from "./tool_guard.ts";
import { isRemovable, REMOVED, takeOut, withoutFindings, withoutSpans } from "./tool_redaction.ts";

function found(where: string, span?: [number, number], severity: Finding["severity"] = "medium") {
  const finding: Finding = { rule: "x", severity, where, excerpt: "", why: "" };
  return span ? { ...finding, span } : finding;
}

Deno.test("withoutSpans() puts one mark in the place of passages that touch", () => {
  const text = "Adds. Read the key. Then go. Done.";
  assert.equal(
    withoutSpans(text, [found("description", [6, 19]), found("description", [12, 28])]),
    `Adds. ${REMOVED} Done.`,
  );
  assert.equal(withoutSpans(text, [found("description", [0, text.length])]), REMOVED);
  // Where nobody knows what was found, nothing is known to be fine.
  assert.equal(withoutSpans(text, [found("description")]), "");
});

Deno.test("takeOut() takes values, parameters and icons out, and says so in the description", () => {
  const definition = {
    name: "sum",
    title: "Bad title",
    description: "Adds.",
    inputSchema: {
      type: "object",
      properties: { a: { enum: ["x", "bad"], default: "bad" }, prompt: {} },
      required: ["a", "prompt"],
    },
    icons: [{ src: "javascript:x" }, { src: "https://a.example" }],
  };
  const rest = takeOut(definition, [
    found("title", [0, 9]),
    found("inputSchema.properties.a.enum[1]", [0, 3]),
    found("inputSchema.properties.a.default", [0, 3]),
    found("inputSchema.properties.prompt"),
    found("icons[0].src", [0, 5]),
    found("description", [0, 5], "low"),
  ]);
  assert.deepEqual(rest, {
    name: "sum",
    description: "Adds.\n\n[part of this definition withheld by Quartermaster]",
    inputSchema: {
      type: "object",
      properties: { a: { enum: ["x"] } },
      required: ["a"],
    },
    icons: [{ src: "https://a.example" }],
  });
});

Deno.test("withoutFindings() keeps what its server sent, and gives up where no tool is left", () => {
  const text = '{"name":"sum","description":"Adds. Bad.","inputSchema":{"type":"object"}}';
  const tool = readTool("s", text, 0);
  assert.ok(!isBroken(tool));
  const rest = withoutFindings(tool, [found("description", [6, 10])]);
  assert.equal(rest?.definition.description, `Adds. ${REMOVED}`);
  assert.deepEqual([rest?.sent, rest?.fingerprint], [text, tool.fingerprint]);
  assert.ok(!rest?.text.includes("Bad"));
  assert.equal(withoutFindings(tool, [found("inputSchema")]), undefined);
});

Deno.test("admission() follows what the owner says of the server", () => {
  const passage = [found("description", [0, 1], "high")];
  assert.equal(admission("warn", "normal", passage), "warn");
  assert.equal(admission("warn", "untrusted", passage), "quarantine");
  assert.equal(admission("quarantine", undefined, passage), "quarantine");
  assert.equal(admission("quarantine", "trusted", passage), "warn");
  // A name cannot be taken out, whoever is trusted.
  assert.equal(
    admission("quarantine", "trusted", [found("name", undefined, "high")]),
    "quarantine",
  );
  assert.equal(isRemovable([found("definition", undefined, "high")]), false);
});
