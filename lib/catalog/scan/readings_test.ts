import assert from "node:assert/strict";
import { readingsOf } from "./readings.ts";

Deno.test("readingsOf() reads names, and sentences in one word, as words", () => {
  const { readings } = readingsOf({
    name: "sendAll_now",
    description: "Sends MY_API_KEY_NAME as a_b.",
    inputSchema: {
      properties: { note_for_you: { enum: ["plain_mode", "pick_this_after_sending_it"] } },
    },
  }, "mail");
  const read = new Set(readings.map(({ read }) => read));
  for (const each of ["send All now", "note for you", "pick this after sending it"]) {
    assert.ok(read.has(each), each);
  }
  assert.ok(read.has("Sends MY_API_KEY_NAME as a_b."));
  assert.ok(read.has("plain_mode"));
});

Deno.test("readingsOf() lets a name be about nothing, and the rest about the name", () => {
  const { readings } = readingsOf({ name: "read_mails", description: "Reads mails." }, "post");
  const topicAt = (place: string) => readings.find(({ where }) => where === place)!.topic;
  assert.equal(topicAt("name").size, 0);
  assert.ok(topicAt("description").has("mails"));
});
