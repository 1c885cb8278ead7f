import assert from "node:assert/strict";
import { oldDenoText } from "./product.ts";

Deno.test("oldDenoText() has one sentence for a Deno that is too old, and none for others", () => {
  for (const version of ["2.5.0", "2.5.1", "2.10.0", "3.0.0", "2.6.0+abc", "2.5.0-rc.1"]) {
    assert.equal(oldDenoText(version), undefined, version);
  }
  for (const version of ["2.4.4", "2.4.99", "1.46.3", "2.4.0+abc"]) {
    assert.ok(
      oldDenoText(version)?.startsWith(
        `Quartermaster requires Deno 2.5.0 or newer; this is ${version}. `,
      ),
      version,
    );
  }
});
