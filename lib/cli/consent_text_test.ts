import assert from "node:assert/strict";
import { consentText } from "./consent_text.ts";

Deno.test("consentText() tells all that decides what is run, and lets no text move the cursor", () => {
  const text = consentText({
    id: "0123456789abcdef",
    wish: "change",
    server: "files",
    argv: ["sh", "-c", "echo 'a b'\u001b[2K\nrm"],
    variables: [{ name: "KEY" }, { name: "PATH", value: "/x" }],
    secrets: ["TOKEN"],
    folder: "/tmp",
    origin: { via: "mcp", from: "MCP at /gateway, \u001b[31mevil\n0.1" },
    who: "agent",
    askedAt: 0,
    expiresAt: 604_800_000,
  });
  assert.match(text, /^0123456789abcdef {2}change files\n/);
  assert.ok(text.includes(String.raw`["sh","-c","echo 'a b'\u001b[2K\nrm"]`), text);
  assert.match(text, /variables "KEY", "PATH=\/x"/);
  assert.match(text, /secrets +TOKEN/);
  assert.match(text, /folder +"\/tmp"/);
  assert.match(text, /asked by +agent by mcp/);
  assert.match(text, /forgotten 1970-01-08/);
  assert.ok(!text.includes("\u001b"));
  assert.equal(text.trimEnd().split("\n").length, 7);
});
