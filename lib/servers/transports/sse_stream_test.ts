import assert from "node:assert/strict";
import fc from "../../../tests/fast_check.ts";
import { EventTooLarge, ResumableStream, SseParser } from "./sse_stream.ts";
import { StreamBudget } from "./stream_budget.ts";

function parse(chunks: string[], limit = 1000) {
  const events: [string, string | undefined][] = [];
  const parser = new SseParser(limit, (data, name) => events.push([data, name]));
  for (const chunk of chunks) parser.push(chunk);
  return { events, parser };
}

Deno.test("SseParser.push() reads fields, comments, several data lines and every kind of line end", () => {
  const { events, parser } = parse([
    ": hello\r\nevent: message\r\nid: 7\r\ndata: a\r\ndata:b\r\n\r\n",
    "data\rdata:  c\r\rretry: 250\nunknown: x\nid\ndata: d\n\n",
  ]);
  assert.deepEqual(events, [["a\nb", "message"], ["\n c", undefined], ["d", undefined]]);
  assert.equal(parser.lastEventId, "");
  assert.equal(parser.retryMs, 250);
});

Deno.test("SseParser.push() takes the id of a priming event, and of no event that was cut off", () => {
  const { events, parser } = parse(["id: prime\nretry: 5\ndata: \n\nid: next\ndata: {"]);
  assert.deepEqual(events, []);
  assert.equal(parser.lastEventId, "prime");
});

Deno.test("SseParser.push() finds the same events wherever the stream is cut into pieces", () => {
  const ends = fc.constantFrom("\n", "\r", "\r\n");
  const line = fc.constantFrom("data: x", "data:y", ": c", "id: 1", "id: 2", "event: e", "", "");
  fc.assert(fc.property(
    fc.array(fc.tuple(line, ends), { maxLength: 30 }),
    fc.array(fc.nat(200), { maxLength: 8 }),
    (lines, cuts) => {
      const text = lines.map((parts) => parts.join("")).join("");
      const places = [...new Set([0, ...cuts.filter((at) => at < text.length)])].sort((a, b) =>
        a - b
      );
      const pieces = places.map((at, index) => text.slice(at, places[index + 1]));
      const whole = parse([text]);
      const cut = parse(pieces);
      assert.deepEqual(cut.events, whole.events);
      assert.equal(cut.parser.lastEventId, whole.parser.lastEventId);
    },
  ));
});

Deno.test("SseParser.push() refuses an event over its limit, and lets any number of small ones by", () => {
  const fits = parse(Array.from({ length: 100 }, () => ": beat\n\ndata: 12345678\n\n"), 20);
  assert.equal(fits.events.length, 100);
  parse([": never ends\n".repeat(100)], 20);
  assert.throws(() => parse(["data: 12345", "67890", "1234567890"], 20), EventTooLarge);
  assert.throws(() => parse(Array.from({ length: 9 }, () => "data: 1\n"), 20), EventTooLarge);
});

Deno.test("SseParser.push() skips an event over its limit where somebody is told, however it is cut", () => {
  const text = 'data: 1\n\nid: 5\ndata: {"head"' + "x".repeat(600) + '"tail"}\n\ndata: 2\n\n';
  for (let size = 1; size <= text.length; size++) {
    const events: string[] = [];
    const skipped: string[][] = [];
    const parser = new SseParser(50, (data) => events.push(data), (...ends) => skipped.push(ends));
    for (let at = 0; at < text.length; at += size) parser.push(text.slice(at, at + size));
    assert.deepEqual(events, ["1", "2"], `in pieces of ${size}`);
    assert.equal(skipped.length, 1);
    assert.match(skipped[0]?.[0] ?? "", /^\{"head"x+$/);
    assert.match(skipped[0]?.[1] ?? "", /x+"tail"\}$/);
  }
});

Deno.test("SseParser.push() gives the ends of a skipped event's data, however many lines it has", () => {
  const data = JSON.stringify(
    { result: { text: "x".repeat(600) }, jsonrpc: "2.0", id: 5 },
    null,
    2,
  );
  const event = `${data.replaceAll(/^/gm, "data: ")}\nid: 7\n`;
  for (const text of [event, event.replaceAll("\n", "\r\n")]) {
    for (let size = 1; size <= text.length; size++) {
      const ends: string[] = [];
      const parser = new SseParser(50, () => {}, (head, tail) => ends.push(head, tail));
      for (let at = 0; at < text.length; at += size) parser.push(text.slice(at, at + size));
      parser.push("\n");
      const [head = "", tail = ""] = ends;
      assert.ok(data.startsWith(head.slice(0, 30)) && head.length >= 30, head);
      assert.equal(tail, data.slice(-tail.length), `in pieces of ${size}`);
      assert.ok(tail.length >= 100, tail);
    }
  }
});

Deno.test("ResumableStream.read() does not count the expected answer against the stream, however large", async () => {
  const event = `data: ${"x".repeat(2 * 1024 * 1024)}\n\n`;
  for (const [answers, isStrained] of [[1, false], [2, true]] as const) {
    const budget = new StreamBudget(() => 0);
    const chunks = Array.from({ length: answers }, () => new TextEncoder().encode(event));
    let messages = 0;
    const stream = new ResumableStream(10_000_000, budget, () => void messages++);
    const response = {
      status: 200,
      headers: new Headers(),
      read: () => Promise.resolve(chunks.shift()),
      text: () => Promise.resolve(""),
      cancel: () => Promise.resolve(),
    };
    await stream.read(response, () => messages === answers);
    assert.equal(messages, answers);
    assert.equal(budget.isStrained, isStrained);
  }
});
