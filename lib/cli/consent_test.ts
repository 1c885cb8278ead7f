import assert from "node:assert/strict";
import type { CommandInput } from "./command.ts";
import type { OperationTarget } from "./operation_target.ts";
import { CONSENT_EXTRAS, consentText } from "./review_commands.ts";

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
  assert.match(text, /requested by +agent by mcp .*<U\+001B>\[31mevil <U\+200B>0\.1/);
  assert.match(text, /expires +1970-01-08/);
  assert.doesNotMatch(text, /[[\p{Cc}\p{Cf}]--\n]/v);
  assert.equal(text.trimEnd().split("\n").length, 7);
});
Deno.test("consent approve refuses an id that it cannot show, before the operation runs", async () => {
  const target = { run: () => Promise.resolve({ consents: [] }) } as unknown as OperationTarget;
  const command = { flags: new Map([["yes", true]]) } as unknown as CommandInput;
  const prepared = CONSENT_EXTRAS["consent.approve"]!.prepare!({ id: "gone" }, command, target);
  await assert.rejects(prepared, /Consent request not found: "gone"/);
});
