import assert from "node:assert/strict";
import { z } from "zod";
import { resultText } from "../../core/rpc.ts";
import type { ClientPort } from "../surface.ts";
import { ResultPages, type ResultPagesOptions } from "./result_pages.ts";
import { gatedCall, testPort } from "./testing/gated_call.ts";

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

function open(more: Partial<ResultPagesOptions> = {}): ResultPages {
  return new ResultPages({ count: never, ...more });
}

const answerOf = (text: string, more: object = {}) =>
  resultText(1, JSON.stringify({ content: [{ type: "text", text }], ...more }));

function uriIn(answer: string): string {
  const [uri] = /quartermaster:\/\/results\/[0-9a-f-]+\?page=2/.exec(answer) ?? [];
  assert.ok(uri, answer.slice(0, 500));
  return uri;
}

function read(pages: ResultPages, uri: string, port: ClientPort): string {
  const { scope } = gatedCall();
  return pages.read({ ...scope, method: "resources/read", params: { uri } }, port);
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
    assert.equal(await pages.shorten(gatedCall(), answer, 1_000), answer);
  }
});

Deno.test("ResultPages.shorten() cuts, says what is left, and read() gives all the rest", async () => {
  using pages = open();
  const text = Array.from({ length: 5_000 }, (_, nth) => `line ${nth}`).join("\n");
  const call = gatedCall();
  const answer = await pages.shorten(call, answerOf(text, { _meta: { kept: 1 } }), 1_000);
  assert.ok(answer.length < 5_000);
  const { result } = Answer.parse(JSON.parse(answer));
  assert.deepEqual(result._meta, { kept: 1 });
  const [head, note] = result.content.map(({ text = "" }) => text);
  assert.match(
    note ?? "",
    /^\[Cut by the gateway: about [\d,]+ tokens are shown, about [\d,]+ are left/,
  );
  let whole = head ?? "";
  let uri: string | undefined = uriIn(answer);
  for (let page = 2; uri !== undefined && page < 100; page++) {
    const text: string = read(pages, uri, call.port);
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
  const call = gatedCall();
  const uri = uriIn(await pages.shorten(call, answerOf("x ".repeat(50_000)), 1_000));
  assert.match(read(pages, uri, call.port), /"contents"/);
  const refused = /"code":-32002,"message":"There is no such page/;
  assert.match(read(pages, uri, testPort()), refused, "another session of the same caller");
  for (const odd of ["?page=1", "?page=0", "?page=999999", "", "?page=2&x"]) {
    assert.match(read(pages, uri.replace("?page=2", odd), call.port), refused, odd);
  }
  assert.match(read(pages, "quartermaster://results/", call.port), refused);
  now += 600_001;
  assert.match(read(pages, uri, call.port), refused, "after ten minutes");
});

Deno.test("ResultPages keeps no more than there is room for, the newest", async () => {
  using pages = open({ mostKept: 250_000 });
  const call = gatedCall();
  const shorten = (size: number) => pages.shorten(call, answerOf("x ".repeat(size / 2)), 1_000);
  const uris: string[] = [];
  for (let nth = 0; nth < 3; nth++) uris.push(uriIn(await shorten(100_000)));
  const isThere = uris.map((uri) => read(pages, uri, call.port).includes('"contents"'));
  assert.deepEqual(isThere, [false, true, true]);
  assert.match(await shorten(300_000), /too many to be kept: ask for less/);
});

Deno.test("ResultPages.shorten() sends nobody to pages that are not kept", async () => {
  using pages = open({ mostKept: 10_000 });
  const image = { type: "image", mimeType: "image/png", data: "A".repeat(20_000) };
  const structuredContent = { rows: "x".repeat(20_000) };
  for (const more of [{ content: [image] }, { structuredContent }]) {
    const given = await pages.shorten(gatedCall(), answerOf("short", more), 1_000);
    assert.match(given, /is over the limit of this gateway: it is too large to be kept\]/);
    assert.match(given, /too many to be kept: ask for less/);
    assert.doesNotMatch(given, /resources\/read/);
  }
});

Deno.test("ResultPages.shorten() counts a close call, and believes the count", async () => {
  const answer = answerOf("x ".repeat(2_500));
  for (const [ratio, isCut] of [[5, false], [2, true]] as const) {
    using pages = open({ count: (text) => Promise.resolve(text.length / ratio) });
    const given = await pages.shorten(gatedCall(), answer, 1_100);
    assert.equal(given !== answer, isCut, `${ratio} characters a token`);
  }
  using uncounted = open({ count: () => Promise.resolve(0) });
  assert.notEqual(await uncounted.shorten(gatedCall(), answer, 1_100), answer);
});

Deno.test("ResultPages.shorten() does not pass off a result without its structure as a success", async () => {
  using pages = open();
  const structuredContent = { rows: "y".repeat(50_000) };
  const answer = answerOf("short", { structuredContent });
  const strict = gatedCall({ outputSchema: { type: "object" } });
  const failed = Answer.parse(JSON.parse(await pages.shorten(strict, answer, 1_000))).result;
  assert.equal(failed.isError, true);
  assert.equal(failed.structuredContent, undefined);
  assert.match(JSON.stringify(failed.content), /was made and succeeded: do not repeat it/);
  const loose = await pages.shorten(gatedCall(), answer, 1_000);
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
  const call = gatedCall();
  const answer = await pages.shorten(call, resultText(1, JSON.stringify({ content })), 1_000);
  const { contents: [image] } =
    Read.parse(JSON.parse(read(pages, uriIn(answer), call.port))).result;
  assert.equal(image?.mimeType, "image/png");
  assert.equal(image?.blob, "A".repeat(50_000));
});
