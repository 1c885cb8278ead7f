import assert from "node:assert/strict";
import { isUpload, readUpload } from "./read_upload.ts";

function request(value: string | File): Request {
  const body = new FormData();
  body.set("backup", value);
  return new Request("http://localhost/settings/restore", { method: "POST", body });
}

Deno.test("readUpload() gives the file of a field, whatever is in it", async () => {
  const bytes = new Uint8Array([0, 13, 10, 45, 45, 255]);
  const sent = request(new File([bytes], "a.backup"));
  assert.ok(isUpload(sent));
  const file = await readUpload(sent, "backup", 10_000);
  assert.deepEqual([file.name, new Uint8Array(await file.arrayBuffer())], ["a.backup", bytes]);
});

Deno.test("readUpload() refuses forms without a file, other bodies and too much", async () => {
  await assert.rejects(readUpload(request("text"), "backup", 10_000), /There is no file/);
  await assert.rejects(readUpload(request(new File([], "")), "backup", 10_000), /There is no file/);
  await assert.rejects(readUpload(request(new File(["x"], "a")), "other", 10_000), /no file/);
  const large = request(new File(["x".repeat(2_000)], "a"));
  await assert.rejects(readUpload(large, "backup", 1_000), { code: "PAYLOAD_TOO_LARGE" });
  const broken = new Request("http://localhost/", {
    method: "POST",
    body: "no form",
    headers: { "content-type": "multipart/form-data; boundary=x" },
  });
  await assert.rejects(readUpload(broken, "backup", 1_000), { code: "INVALID_ARGUMENTS" });
});
