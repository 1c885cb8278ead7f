import assert from "node:assert/strict";
import * as z from "zod";
import { resultText } from "../../core/rpc.ts";
import { type Client, sessionKeyOf } from "../../core/client.ts";
import {
  cutPlace,
  cutResult,
  inParts,
  partsOf,
  ResultPages,
  type ResultPagesOptions,
} from "./result_pages.ts";
import { PeerGone } from "../../storage/mailbox.ts";
import { PageWish } from "./control.ts";
import { pendingCall, testClient } from "./testing/pending_call.ts";

const Answer = z.object({
  result: z.looseObject({
    content: z.array(z.looseObject({ text: z.string().optional() })),
    isError: z.boolean().optional(),
    structuredContent: z.unknown().optional(),
  }),
});
const Read = z.object({
  result: z.object({
    contents: z.array(z.looseObject({ text: z.string().optional(), blob: z.string().optional() })),
  }),
});

const never = () => Promise.reject(new Error("Nothing had to be counted"));

/** The one gateway on its store. */
const nobodyElse = {
  id: crypto.randomUUID(),
  ask: () => Promise.reject(new Error("Nobody is to be asked")),
};

function open(more: Partial<ResultPagesOptions> = {}): ResultPages {
  return new ResultPages({ mailbox: nobodyElse, count: never, ...more });
}

const answerOf = (text: string, more: object = {}) =>
  resultText(1, JSON.stringify({ content: [{ type: "text", text }], ...more }));

function uriIn(answer: string): string {
  const [uri] = /quartermaster:\/\/results\/[0-9a-f/-]+\?page=2/.exec(answer) ?? [];
  assert.ok(uri, answer.slice(0, 500));
  return uri;
}

function read(pages: ResultPages, uri: string, client: Client): string {
  const found = pages.read(uri, sessionKeyOf(client) ?? "");
  return found === undefined ? "not found" : resultText(1, found);
}

Deno.test("ResultPages.shorten() leaves what is short, what failed and what is no result", async () => {
  using pages = open();
  for (
    const answer of [
      answerOf("x".repeat(1_000)),
      '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
      `{"jsonrpc":"2.0","id":1,"result":{"task":{"n":"${"x".repeat(90_000)}"}}}`,
    ]
  ) {
    assert.equal(await pages.shorten(pendingCall(), answer, 1_000), answer);
  }
});

Deno.test("ResultPages.shorten() cuts, says what is left, and read() gives all the rest", async () => {
  using pages = open();
  const text = Array.from({ length: 5_000 }, (_, nth) => `line ${nth}`).join("\n");
  const call = pendingCall();
  const answer = await pages.shorten(call, answerOf(text, { _meta: { kept: 1 } }), 1_000);
  assert.ok(answer.length < 5_000);
  const { result } = Answer.parse(JSON.parse(answer));
  assert.deepEqual(result._meta, { kept: 1 });
  const [head, note] = result.content.map(({ text = "" }) => text);
  assert.match(
    note ?? "",
    /^\[Cut by the gateway: about [\d,]+ tokens are shown, about [\d,]+ remain/,
  );
  let whole = head ?? "";
  let uri: string | undefined = uriIn(answer);
  for (let page = 2; uri !== undefined && page < 100; page++) {
    const text: string = read(pages, uri, call.client);
    const [content] = Read.parse(JSON.parse(text)).result.contents;
    const [, body = "", end = ""] = /^(.*)\n\n(\[Page [^\n]+\])$/s.exec(content?.text ?? "") ?? [];
    assert.ok(body.length <= 4_000);
    whole += body;
    uri = /next: (\S+)\]/.exec(end)?.[1];
  }
  assert.equal(whole, text);
});

Deno.test("ResultPages.read() knows nobody but the session that asked, and not for long", async () => {
  let now = 0;
  using pages = open({ now: () => now });
  const call = pendingCall();
  const uri = uriIn(await pages.shorten(call, answerOf("x ".repeat(50_000)), 1_000));
  assert.match(read(pages, uri, call.client), /"contents"/);
  const refused = /^not found$/;
  assert.match(read(pages, uri, testClient()), refused, "another session of the same caller");
  for (const odd of ["?page=1", "?page=0", "?page=999999", "", "?page=2&x"]) {
    assert.match(read(pages, uri.replace("?page=2", odd), call.client), refused, odd);
  }
  assert.match(read(pages, "quartermaster://results/", call.client), refused);
  now += 600_001;
  assert.match(read(pages, uri, call.client), refused, "after ten minutes");
});

Deno.test("ResultPages.find() asks the gateway that a URI names, and nobody about an invented one", async () => {
  const asked: string[] = [];
  const here = crypto.randomUUID();
  const gone = crypto.randomUUID();
  using kept = open({ mailbox: { ...nobodyElse, id: here } });
  using pages = open({
    mailbox: {
      id: crypto.randomUUID(),
      ask(peer, _topic, body) {
        asked.push(peer);
        if (peer !== here) return Promise.reject(new PeerGone());
        const { uri, session } = PageWish.parse(JSON.parse(body));
        return Promise.resolve(kept.read(uri, session) ?? "");
      },
    },
  });
  const call = pendingCall();
  const session = sessionKeyOf(call.client)!;
  const uri = uriIn(await kept.shorten(call, answerOf("x ".repeat(50_000)), 1_000));
  assert.match(await pages.find(uri, session) ?? "", /"contents"/);
  assert.match(await kept.find(uri, session) ?? "", /"contents"/);
  assert.equal(await pages.find(uri, "another session"), undefined);
  assert.equal(await pages.find(uri.replace(here, gone), session), undefined);
  assert.deepEqual(asked.splice(0), [here, here, gone]);
  for (const invented of ["x", "x?page=2", `${crypto.randomUUID()}?page=2`, `${here}/x?page=2`]) {
    assert.equal(await pages.find(`quartermaster://results/${invented}`, session), undefined);
  }
  const own = uriIn(await pages.shorten(call, answerOf("x ".repeat(50_000)), 1_000));
  assert.match(await pages.find(own, session) ?? "", /"contents"/);
  assert.equal(await pages.find(own, "another session"), undefined);
  assert.deepEqual(asked, []);
});

Deno.test("ResultPages keeps no more than there is room for, the newest", async () => {
  using pages = open({ mostKept: 250_000 });
  const call = pendingCall();
  const shorten = (size: number) => pages.shorten(call, answerOf("x ".repeat(size / 2)), 1_000);
  const uris: string[] = [];
  for (let nth = 0; nth < 3; nth++) uris.push(uriIn(await shorten(100_000)));
  const isThere = uris.map((uri) => read(pages, uri, call.client).includes('"contents"'));
  assert.deepEqual(isThere, [false, true, true]);
  assert.match(await shorten(300_000), /too many to store: request less/);
});

Deno.test("ResultPages.shorten() sends nobody to pages that are not kept", async () => {
  using pages = open({ mostKept: 10_000 });
  const image = { type: "image", mimeType: "image/png", data: "A".repeat(20_000) };
  const structuredContent = { rows: "x".repeat(20_000) };
  for (const more of [{ content: [image] }, { structuredContent }]) {
    const given = await pages.shorten(pendingCall(), answerOf("short", more), 1_000);
    assert.match(given, /exceeds this gateway's limit: it is too large to store\]/);
    assert.match(given, /too many to store: request less/);
    assert.doesNotMatch(given, /resources\/read/);
  }
});

Deno.test("ResultPages.shorten() counts a close call, and believes the count", async () => {
  const answer = answerOf("x ".repeat(2_500));
  for (const [ratio, isCut] of [[5, false], [2, true]] as const) {
    using pages = open({ count: (text) => Promise.resolve(text.length / ratio) });
    const given = await pages.shorten(pendingCall(), answer, 1_100);
    assert.equal(given !== answer, isCut, `${ratio} characters a token`);
  }
  using uncounted = open({ count: () => Promise.resolve(0) });
  assert.notEqual(await uncounted.shorten(pendingCall(), answer, 1_100), answer);
});

Deno.test("ResultPages.shorten() does not pass off a result without its structure as a success", async () => {
  using pages = open();
  const structuredContent = { rows: "y".repeat(50_000) };
  const answer = answerOf("short", { structuredContent });
  const strict = pendingCall({ outputSchema: { type: "object" } });
  const failed = Answer.parse(JSON.parse(await pages.shorten(strict, answer, 1_000))).result;
  assert.equal(failed.isError, true);
  assert.equal(failed.structuredContent, undefined);
  assert.match(JSON.stringify(failed.content), /was made and succeeded: do not repeat it/);
  const loose = await pages.shorten(pendingCall(), answer, 1_000);
  assert.equal(Answer.parse(JSON.parse(loose)).result.isError, undefined);
  const failure = await pages.shorten(
    strict,
    answerOf("short", { structuredContent, isError: true }),
    1_000,
  );
  assert.doesNotMatch(failure, /succeeded/);
});

Deno.test("ResultPages.read() gives an image as an image", async () => {
  using pages = open();
  const content = [{ type: "image", data: "A".repeat(50_000), mimeType: "image/png" }];
  const call = pendingCall();
  const answer = await pages.shorten(call, resultText(1, JSON.stringify({ content })), 1_000);
  const { contents: [image] } =
    Read.parse(JSON.parse(read(pages, uriIn(answer), call.client))).result;
  assert.equal(image?.mimeType, "image/png");
  assert.equal(image?.blob, "A".repeat(50_000));
});

const text = (text: string, more: object = {}) => JSON.stringify({ type: "text", text, ...more });
const image = (size: number) =>
  JSON.stringify({ type: "image", data: "A".repeat(size), mimeType: "image/png" });

function cut(content: string[], most: number, structured?: string) {
  return cutResult({ content, structured }, {
    most,
    replacement: (what, _size, page) => `${what} on ${page}`,
  });
}

Deno.test("partsOf() gives what came, and nothing for what is no result of a tool", () => {
  const parts = partsOf(
    '{"content":[{"n":12345678901234567890}, {"b":1}],"structuredContent":{"a":1.0}}',
  );
  assert.deepEqual(parts, {
    content: ['{"n":12345678901234567890}', '{"b":1}'],
    structured: '{"a":1.0}',
  });
  assert.deepEqual(partsOf('{"task":{}}'), { content: [], structured: undefined });
  assert.equal(partsOf('{"content":"x"}'), undefined);
});

Deno.test("cutResult() leaves alone what fits", () => {
  assert.equal(cut([text("a".repeat(50)), text("b".repeat(50))], 100), undefined);
});

Deno.test("cutResult() cuts a text at a line, and puts all that follows on pages, in order", () => {
  const long = Array.from({ length: 100 }, (_, nth) => `line ${nth}`).join("\n");
  const annotations = { annotations: { audience: ["user"] } };
  const done = cut([text(long, annotations), text("after")], 200)!;
  assert.equal(done.content.length, 1);
  const head = JSON.parse(done.content[0]!);
  assert.deepEqual(head.annotations, annotations.annotations);
  assert.match(head.text, /\n$/);
  assert.ok(head.text.length <= 200);
  const pages = done.pages.map((page) => "text" in page ? page.text : "");
  assert.equal(head.text + pages.join(""), `${long}\nafter`);
  assert.ok(pages.every((page) => page.length <= 200));
});

Deno.test("cutResult() never cuts an image: it is there whole, or on a page of its own", () => {
  const done = cut([text("before"), image(5_000), text("after"), image(20)], 200)!;
  assert.deepEqual(done.content, [
    text("before"),
    text("image (image/png) on 2"),
    text("after"),
    image(20),
  ]);
  assert.deepEqual(done.pages, [
    { mimeType: "image/png", blob: "A".repeat(5_000) },
  ]);
});

Deno.test("cutResult() gives an embedded file as what it is, and other blocks as JSON, many on a page", () => {
  const file = { type: "resource", resource: { uri: "x:y", mimeType: "a/b", blob: "QUJD" } };
  const link = (nth: number) => JSON.stringify({ type: "resource_link", uri: `x:${nth}` });
  const links = Array.from({ length: 10 }, (_, nth) => link(nth));
  const done = cut([text("x".repeat(300)), JSON.stringify(file), ...links], 200)!;
  const kinds = done.pages.map((page) => page.mimeType);
  assert.deepEqual(kinds, ["text/plain", "a/b", "application/json", "application/json"]);
  const blocks = done.pages.slice(2).flatMap((page) => "text" in page ? JSON.parse(page.text) : []);
  assert.deepEqual(blocks, links.map((text) => JSON.parse(text)));
});

Deno.test("cutResult() keeps structured content whole, or puts it on a page whole", () => {
  const small = JSON.stringify({ rows: "y".repeat(100) });
  const kept = cut([text("x".repeat(300))], 250, small)!;
  assert.equal(kept.structured, small);
  assert.ok(JSON.parse(kept.content[0]!).text.length <= 250 - small.length);
  const large = JSON.stringify({ rows: "y".repeat(1_000) });
  const moved = cut([text("short")], 250, large)!;
  assert.equal(moved.structured, undefined);
  assert.deepEqual(moved.content, [text("Structured content on 2"), text("short")]);
  assert.deepEqual(moved.pages, [{ mimeType: "application/json", text: large }]);
});

const head = (text: string, most: number) => text.slice(0, cutPlace(text, most));

Deno.test("cutPlace() prefers the end of a paragraph, a line, a sentence, a word", () => {
  assert.equal(head("whole", 5), "whole");
  assert.equal(head("one two\n\nthree\nfour five", 12), "one two\n\n");
  assert.equal(head("one two three\nfour five", 16), "one two three\n");
  assert.equal(head("It is. So it goes on", 8), "It is. ");
  assert.equal(head("abcdef ghijkl", 8), "abcdef ");
  assert.equal(head("a bcdefghijklmnop", 10), "a bcdefghi", "no good place is near");
});

Deno.test("cutPlace() never cuts a character in two", () => {
  assert.equal(head("abc😀def", 4), "abc");
  assert.equal(head("abc😀def", 5), "abc😀");
});

Deno.test("inParts() loses nothing", () => {
  const text = "Ein Satz. Noch einer\nund 😀😀😀😀 viele\n\nWörter ohneeinendeweilniemandtrennt"
    .repeat(20);
  for (const most of [2, 3, 7, 50, 10_000]) {
    const parts = inParts(text, most);
    assert.equal(parts.join(""), text);
    assert.ok(parts.every((part) => part.length <= most && part.length > 0));
    assert.ok(parts.every((part) => part.isWellFormed()), `cut at ${most}`);
  }
  assert.deepEqual(inParts("", 10), []);
});
