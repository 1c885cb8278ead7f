import assert from "node:assert/strict";
import { consentText } from "./review_commands.ts";

Deno.test("consentText() tells all that decides what is run, and hides nothing of it", () => {
  const text = consentText({
    id: "0123456789abcdef",
    wish: "change",
    server: "files",
    argv: ["sh", "-c", "echo 'a b'\u001b[2K\nrm\u202e\u009b"],
    variables: [{ name: "KEY" }, { name: "PATH", value: "/x" }],
    secrets: ["TOKEN"],
    folder: "/tmp",
    origin: { via: "mcp", from: "MCP at /gateway, \u001b[31mevil\n\u200b0.1" },
    who: "agent",
    askedAt: 0,
    expiresAt: 604_800_000,
  });
  assert.match(text, /^0123456789abcdef {2}change files\n/);
  assert.ok(text.includes(String.raw`["sh","-c","echo 'a b'\u001b[2K\nrm\u202e\u009b"]`), text);
  assert.match(text, /variables "KEY", "PATH=\/x"/);
  assert.match(text, /secrets +TOKEN/);
  assert.match(text, /folder +"\/tmp"/);
  assert.match(text, /asked by +agent by mcp .*<U\+001B>\[31mevil <U\+200B>0\.1/);
  assert.match(text, /expires +1970-01-08/);
  assert.doesNotMatch(text, /[[\p{Cc}\p{Cf}]--\n]/v);
  assert.equal(text.trimEnd().split("\n").length, 7);
});
