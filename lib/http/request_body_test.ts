import assert from "node:assert/strict";
import { TimeoutQueue } from "../core/async.ts";
import { isUpload, readBody, readTextInTime, readUpload } from "./request_body.ts";

Deno.test("readBody() stops at the limit when no length was declared", async () => {
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent++;
      controller.enqueue(new Uint8Array(40));
      if (sent > 1_000) controller.close();
    },
  });
  const request = new Request("http://x", { method: "POST", body });
  await assert.rejects(
    readBody(request, 100),
    { code: "PAYLOAD_TOO_LARGE" },
  );
  assert.ok(sent < 10, `${sent} chunks were read`);
  const small = new Request("http://x", { method: "POST", body: "hello" });
  assert.equal(new TextDecoder().decode(await readBody(small, 100)), "hello");
});

/** A request whose body begins and does not go on. */
function halfSent(): Request {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"half":')),
  });
  return new Request("http://127.0.0.1/", { method: "POST", body });
}

Deno.test("readBody() waits no longer than its limit for a body that does not go on", async () => {
  await assert.rejects(readBody(halfSent(), 1_000, 50), { code: "REQUEST_TIMEOUT" });
});

Deno.test("readTextInTime() gives up with the clock, and gives a whole body at once", async () => {
  using clock = new TimeoutQueue(50);
  await assert.rejects(readTextInTime(halfSent(), clock), { code: "REQUEST_TIMEOUT" });
  const whole = new Request("http://127.0.0.1/", { method: "POST", body: "whole" });
  assert.equal(await readTextInTime(whole, clock), "whole");
});

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
  await assert.rejects(readUpload(request("text"), "backup", 10_000), /contains no file/);
  await assert.rejects(readUpload(request(new File([], "")), "backup", 10_000), /contains no file/);
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
