import assert from "node:assert/strict";
import { openerFor } from "./server_login.ts";

Deno.test("openerFor() hands the address over as one argument, whatever is in it", () => {
  const address = "https://login.example/a?x=1&y=$(id);`id`|id";
  const systems = ["linux", "darwin", "windows"];
  for (const os of systems) {
    const opener = openerFor(os, address);
    assert.ok(opener);
    assert.equal(opener.args.at(-1), new URL(address).href);
    assert.ok(!/^(sh|bash|cmd|powershell)/.test(opener.command));
  }
  assert.equal(openerFor("aix", address), undefined);
});

Deno.test("openerFor() opens nothing but web addresses", () => {
  for (const address of ["javascript:alert(1)", "file:///etc/passwd", "-a", "calculator:", ""]) {
    assert.equal(openerFor("linux", address), undefined, address);
  }
});
