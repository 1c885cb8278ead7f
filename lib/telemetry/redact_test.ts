import assert from "node:assert/strict";
import { Redactor } from "./redact.ts";

Deno.test("Redactor.value() masks by name, and keeps names that only count", () => {
  const value = new Redactor().value({
    authorization: "Bearer abcdefgh",
    Cookie: "a=b",
    env: { API_URL: "http://x", MODE: "fast" },
    headers: { "X-Custom": "hush", "content-type": "application/json" },
    nested: [{ apiKey: "k", api_key: "k", password: "p", clientSecret: "s", access_token: "t" }],
    maxTokens: 5,
    progressToken: 7,
    tokens_saved: 9,
    toolName: "get_forecast",
  });
  assert.deepEqual(value, {
    authorization: "[redacted]",
    Cookie: "[redacted]",
    env: { API_URL: "[redacted]", MODE: "[redacted]" },
    headers: { "X-Custom": "[redacted]", "content-type": "application/json" },
    nested: [{
      apiKey: "[redacted]",
      api_key: "[redacted]",
      password: "[redacted]",
      clientSecret: "[redacted]",
      access_token: "[redacted]",
    }],
    maxTokens: 5,
    progressToken: 7,
    tokens_saved: 9,
    toolName: "get_forecast",
  });
});

Deno.test("Redactor.value() breaks cycles and cuts what is huge or deep", () => {
  const cyclic: Record<string, unknown> = { name: "a" };
  cyclic.self = cyclic;
  cyclic.twice = [1, 1].map(() => ({ shared: true }));
  const deep: Record<string, unknown> = {};
  let at = deep;
  for (let level = 0; level < 50; level++) at = at.next = {} as Record<string, unknown>;
  const value = new Redactor().value({
    cyclic,
    deep,
    text: "x".repeat(100_000),
    list: Array(1_000).fill(1),
    wide: Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index])),
    bytes: new Uint8Array(9),
    big: 5n,
    fn: () => {},
    when: new Date(0),
    bad: new Date(NaN),
    map: new Map([["a", 1]]),
  });
  const text = JSON.stringify(value);
  assert.ok(text.length < 10_000, `${text.length} characters`);
  assert.match(text, /\[circular\]/);
  assert.match(text, /\[too deep\]/);
  assert.match(text, /\[\+95904 characters\]/);
  assert.match(text, /\[9 bytes\]/);
});

Deno.test("Redactor.value() shows an error's cause, and its stack only when asked", () => {
  const error = new Error("outer", { cause: new TypeError("inner") });
  const plain = new Redactor().value({ err: error });
  assert.deepEqual(plain, {
    err: { type: "Error", message: "outer", cause: { type: "TypeError", message: "inner" } },
  });
  assert.match(
    JSON.stringify(new Redactor().value({ err: error }, { stacks: true })),
    /redact_test/,
  );
});

Deno.test("Redactor.text() masks learned secrets in every form, and evident ones unlearned", () => {
  const redactor = new Redactor();
  redactor.learn(['pa"ss\\word', "a b&c=d!", "short", "(.*regex[chars)"]);
  const line = JSON.stringify({
    msg: `pa"ss\\word and ${encodeURIComponent("a b&c=d!")} and (.*regex[chars)`,
    url: "https://user:hunter22@host/?access_token=abcdef&x=1&code=zzz",
    auth: "Bearer eyJhbGciOi.abc.def",
    other: "short",
  });
  const clean = redactor.text(line);
  for (const secret of ["ss\\\\word", "hunter22", "abcdef", "zzz", "eyJhbGciOi", "regex[chars"]) {
    assert.ok(!clean.includes(secret), `${secret} is still in ${clean}`);
  }
  assert.ok(!clean.includes(encodeURIComponent("a b&c=d!")));
  assert.ok(clean.includes("short") && clean.includes("&x=1"));
  JSON.parse(clean);
});

Deno.test("Redactor.json() masks members by their names, also where the text breaks off", () => {
  const redactor = new Redactor();
  redactor.learn(["correct horse"]);
  const inner = JSON.stringify({ api_key: 'hidden"vault', note: "open" });
  const text = JSON.stringify({
    password: 'a"b',
    maxTokens: 5,
    user: "ada",
    inner,
    x: "correct horse",
  });
  const clean = redactor.json(text);
  for (const secret of ['a\\"b', "hidden", "vault", "horse"]) {
    assert.ok(!clean.includes(secret), `${secret} in ${clean}`);
  }
  assert.ok(clean.includes('"user":"ada"') && clean.includes('"maxTokens":5'), clean);
  assert.ok(clean.includes('\\"note\\":\\"open\\"'), clean);
  assert.ok(!redactor.json('{"a":1,"client_secret":"half of i').includes("half"));
});

Deno.test("Redactor.value() copies the whole where it is asked to", () => {
  const redactor = new Redactor();
  const whole = { text: "x".repeat(10_000), items: Array.from({ length: 100 }, () => 1) };
  assert.deepEqual(redactor.value(whole, { isWhole: true }), whole);
  assert.notDeepEqual(redactor.value(whole), whole);
});

Deno.test("Redactor.text() masks the user of an address, whatever is before its scheme", () => {
  const redactor = new Redactor();
  for (const before of ["", "see...", "-", "1.", "jdbc:", "a".repeat(100)]) {
    const clean = redactor.text(`${before}https://ada:lovelace@host/`);
    assert.equal(clean, `${before}https://[redacted]@host/`);
  }
});

Deno.test("Redactor takes no longer than in proportion to a text that is made to hold it up", () => {
  const redactor = new Redactor();
  redactor.learn(["swordfish"]);
  const length = 131_072;
  const fill = (piece: string) => piece.repeat(length / piece.length);
  const started = performance.now();
  const check = (text: string) => {
    redactor.json(text);
    redactor.value({ [`${text}\n`]: 1 });
    assert.ok(performance.now() - started < 20_000, `Seconds for ${text.slice(0, 20)}`);
  };
  for (
    const piece of [
      "a.",
      "a-",
      "a+b.",
      "a:",
      "a://",
      "://a",
      "?token",
      "?a_",
      "sk-",
      "Bearer ",
      "swordfis",
    ]
  ) {
    check(fill(piece));
    check(`Bearer${fill(" ")}?${fill(piece)}`);
  }
  for (const piece of ['"a" ', '"a":', '\\"a\\" ', '\\"a\\":', "\\\\", '"', " "]) {
    check(fill(piece));
    check(`"a"${fill(" ")}${fill(piece)}`);
  }
  check(fill("token"));
  check(fill("accesskey-"));
});

Deno.test("Redactor.value() masks by a name that has a line break", () => {
  assert.deepEqual(new Redactor().value({ "my\ntoken\n": "x" }), { "my\ntoken\n": "[redacted]" });
});

Deno.test("Redactor.value() cuts through no known secret", () => {
  const redactor = new Redactor();
  const secret = "correct-horse-battery-staple";
  redactor.learn([secret]);
  for (let before = 4_096 - secret.length; before <= 4_096; before++) {
    const text = `${"x".repeat(before)}${secret}${"y".repeat(100)}`;
    const value = redactor.value({
      text,
      err: new Error(text, { cause: new URL(`http://a/${text}`) }),
      headers: { accept: text },
    });
    const line = redactor.text(JSON.stringify(value));
    assert.ok(!line.includes("corr"), `${before}: ${line.slice(4_000)}`);
  }
});

Deno.test("Redactor.learn() forgets what its owner had before its last two", () => {
  const redactor = new Redactor();
  redactor.learn(["everybody's"]);
  redactor.learn(["first-token", "refresh-token"], "login a");
  redactor.learn(["first-token"], "login b");
  redactor.learn(["second-token", "refresh-token"], "login a");
  redactor.learn(["second-token", "refresh-token"], "login a");
  const masked = (text: string) => redactor.text(text) === "[redacted]";
  assert.ok(["first-token", "second-token", "refresh-token", "everybody's"].every(masked));
  redactor.learn(["third-token", "refresh-token"], "login a");
  assert.ok(masked("first-token"), "b has it yet");
  for (let nth = 0; nth < 1_000; nth++) {
    redactor.learn([`token-${nth}-of-a`, "refresh-token"], "login a");
    redactor.learn([`token-${nth}-of-b`], "login b");
  }
  assert.ok(["token-998-of-a", "token-999-of-b", "refresh-token", "everybody's"].every(masked));
  assert.ok(!masked("first-token") && !masked("token-1-of-a"));
});
