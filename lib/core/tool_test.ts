import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/core"
import { ToolSchema } from "@modelcontextprotocol/core";
import { ToolDefinition } from "./tool.ts";

const TOOL = { name: "look", inputSchema: { type: "object" } };

Deno.test("ToolDefinition refuses what a client of the SDK refuses, and nothing else", () => {
  const cases: object[] = [
    TOOL,
    { ...TOOL, title: "Look", description: "", _meta: { a: 1 }, unknown: 1 },
    { ...TOOL, annotations: { readOnlyHint: true, title: "Look", other: 1 } },
    { ...TOOL, outputSchema: { type: "array" }, icons: [{ src: "data:," }] },
    { ...TOOL, execution: { taskSupport: "optional" } },
    { ...TOOL, inputSchema: { type: "object", properties: { a: {} }, required: ["a"], $defs: {} } },
    { ...TOOL, annotations: { readOnlyHint: "yes" } },
    { ...TOOL, annotations: null },
    { ...TOOL, title: 1 },
    { ...TOOL, description: null },
    { ...TOOL, outputSchema: true },
    { ...TOOL, outputSchema: { $schema: 1 } },
    {
      ...TOOL,
      icons: [{ src: "data:,", mimeType: "image/png", sizes: ["any"], theme: "dark", a: 1 }],
    },
    { ...TOOL, icons: [{}] },
    { ...TOOL, icons: [{ src: "data:,", sizes: "48x48" }] },
    { ...TOOL, icons: [{ src: "data:,", mimeType: 1 }] },
    { ...TOOL, icons: [{ src: "data:,", theme: "blue" }] },
    { ...TOOL, icons: "data:," },
    { ...TOOL, execution: { taskSupport: "maybe" } },
    { ...TOOL, _meta: "none" },
    { ...TOOL, inputSchema: { type: "string" } },
    { ...TOOL, inputSchema: { type: "object", properties: [] } },
    { ...TOOL, inputSchema: { type: "object", required: "a" } },
    { inputSchema: { type: "object" } },
  ];
  for (const tool of cases) {
    const expected = ToolSchema.safeParse(tool).success;
    assert.equal(ToolDefinition.safeParse(tool).success, expected, JSON.stringify(tool));
  }
});
