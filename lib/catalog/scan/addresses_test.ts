import assert from "node:assert/strict";
import { scanAddresses } from "./addresses.ts";

function severities(text: string, where = "description"): string[] {
  return scanAddresses(where, text).map(({ severity }) => severity);
}

Deno.test("scanAddresses() finds addresses that run or collect something", () => {
  assert.deepEqual(severities("javascript:alert(1)"), ["high"]);
  assert.deepEqual(severities("data:text/html;base64,PHA+", "icons[0].src"), ["high"]);
  assert.deepEqual(severities("See https://webhook.site/1234"), ["medium"]);
  assert.deepEqual(severities("http://169.254.169.254/latest/"), ["medium"]);
  assert.deepEqual(severities("file:///home/me/a.png", "icons[0].src"), ["medium"]);
});

Deno.test("scanAddresses() leaves ordinary addresses alone", () => {
  assert.deepEqual(severities("data:image/svg+xml;base64,PHN2Zy8+", "icons[0].src"), []);
  assert.deepEqual(
    severities("Get a key at https://example.com/keys?tab=api. JavaScript: yes"),
    [],
  );
});
