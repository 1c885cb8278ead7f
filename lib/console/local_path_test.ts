import assert from "node:assert/strict";
import { localPath } from "./local_path.ts";

Deno.test("localPath() keeps paths of this console, and no others", () => {
  assert.equal(localPath("/servers?state=failed#x"), "/servers?state=failed#x");
  for (
    const path of [
      null,
      "",
      "servers",
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "/..//evil.example",
    ]
  ) {
    assert.equal(localPath(path), "/", String(path));
  }
});
