import assert from "node:assert/strict";
import { dismissToast, toast, toasts } from "./toast.ts";

Deno.test("toast() says the same thing once, and keeps few", () => {
  toasts.value = [];
  toast("error", "It broke");
  const id = toast("error", "It broke", "again");
  assert.equal(toasts.value.length, 1);
  for (let index = 0; index < 10; index++) toast("info", `Message ${index}`);
  assert.equal(toasts.value.length, 4);
  dismissToast(id);
  dismissToast(toasts.value[0]?.id ?? 0);
  assert.equal(toasts.value.length, 3);
  toasts.value = [];
});
