import assert from "node:assert/strict";
import type { ServerSpec } from "../core/server.ts";
import { settingsText, withSettings } from "./server_settings.ts";

const remote: ServerSpec = { type: "http", url: "https://a.example/mcp", headers: {} };
const program: ServerSpec = { type: "stdio", command: "npx", args: [], env: { A: "1" } };

Deno.test("withSettings() reads headers for an address and variables for a program", () => {
  const headers = { Authorization: "Bearer a:b", "X-Team": "" };
  assert.deepEqual(withSettings(remote, "Authorization: Bearer a:b\n\nX-Team:"), {
    ...remote,
    headers,
  });
  assert.deepEqual(withSettings(program, " B=c=d \r\nE=", "/srv"), {
    ...program,
    env: { A: "1", B: "c=d", E: "" },
    cwd: "/srv",
  });
});

Deno.test("withSettings() names the line that cannot be read, but not what stands in it", () => {
  const failing = () => withSettings(remote, "A: b\nsecret");
  assert.throws(failing, { message: "Line 2 under headers and variables cannot be read" });
  assert.throws(() => withSettings(remote, "", "/srv"), /has no folder/);
});

Deno.test("settingsText() is read back as it was", () => {
  for (const spec of [withSettings(remote, "A: b"), withSettings(program, "C=d")]) {
    assert.deepEqual(withSettings(spec, settingsText(spec)), spec);
  }
});
