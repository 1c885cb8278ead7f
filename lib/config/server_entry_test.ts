import assert from "node:assert/strict";
import fc from "../../tests/fast_check.ts";
import { ServerName, ServerSpec } from "../core/server.ts";
import { formatProblem } from "./files.ts";
import { loadText } from "./testing/load_servers.ts";

const TYPES: [entry: object, type: string][] = [
  [{ command: "x" }, "stdio"],
  [{ type: "local", command: "x" }, "stdio"],
  [{ url: "https://example.com" }, "http"],
  [{ type: "streamable-http", url: "https://example.com" }, "http"],
  [{ type: "streamableHttp", url: "https://example.com" }, "http"],
  [{ type: "remote", url: "https://example.com" }, "http"],
  [{ transport: "SSE", url: "https://example.com" }, "sse"],
  [{ serverUrl: "https://example.com" }, "http"],
  [{ httpUrl: "https://example.com" }, "http"],
  [{ type: "demo" }, "demo"],
];

for (const [entry, type] of TYPES) {
  Deno.test(`loadServers() takes ${JSON.stringify(entry)} for ${type}`, async () => {
    const { only, lines } = await loadText({ x: entry });
    assert.deepEqual([only?.spec.type, lines], [type, []]);
  });
}

for (const entry of [{ disabled: true }, { enabled: false }]) {
  Deno.test(`loadServers() keeps a server with ${JSON.stringify(entry)}, disabled`, async () => {
    const { only } = await loadText({ x: { command: "a", ...entry } });
    assert.equal(only?.spec.disabled, true);
  });
}

Deno.test("loadServers() takes whether a server is trusted, and what becomes of its changes", async () => {
  const { only, lines } = await loadText({
    x: { command: "a", trust: "untrusted", changes: "notify" },
  });
  assert.deepEqual([only?.spec.trust, only?.spec.changes, lines], ["untrusted", "notify", []]);
  const gemini = await loadText({ x: { command: "a", trust: true } });
  assert.deepEqual([gemini.only?.spec.trust, gemini.lines], [undefined, []]);
});

Deno.test("loadServers() reads the isolation of a program, with folders from the project", async () => {
  const isolation = { kind: "sandbox", read: ["notes", "/a"], write: ["~/b", "${DIR}/c"] };
  const variables = { HOME: "/home/me", DIR: "/dir" };
  const { only, lines } = await loadText({ x: { command: "a", isolation } }, { variables });
  assert.deepEqual(lines, []);
  const read = only?.spec.type === "stdio" ? only.spec.isolation : undefined;
  assert.deepEqual({ ...read, read: [] }, {
    kind: "sandbox",
    read: [],
    write: ["/home/me/b", "/dir/c"],
  });
  assert.match(read?.read?.join(" ") ?? "", /^\/.+\/notes \/a$/);
  const url = await loadText({ x: { url: "https://example.com", isolation: { kind: "sandbox" } } });
  assert.match(url.lines[0] ?? "", /"isolation" has no effect for a server with a URL/);
});

Deno.test("loadServers() takes what may be called, how often, and how long a result may be", async () => {
  const said = {
    mode: "read-only",
    readOnlyTools: ["list_*"],
    writingTools: ["run", "!run_dry"],
    callsPerMinute: 60,
    maxConcurrent: 4,
    maxResultTokens: 20_000,
  };
  for (const way of [{ command: "a" }, { url: "https://example.com/mcp" }, { type: "demo" }]) {
    const { only, lines } = await loadText({ x: { ...way, ...said } });
    assert.deepEqual(lines, []);
    assert.deepEqual(only?.spec, ServerSpec.parse(only?.spec));
    assert.deepEqual({ ...only?.spec, ...said }, only?.spec);
  }
});

const BAD: [name: string, entry: string, problem: string][] = [
  [
    "an unknown mode",
    '{"command":"a","mode":"readonly"}',
    '1:44 server "bad" has an invalid value at mode: it must be "all", "read-only" or "confirm"',
  ],
  [
    "a tool that is no text",
    '{"command":"a","writingTools":["a",5]}',
    '1:57 server "bad" has an invalid value at writingTools[1]: it must be a string of 1 to 128 characters',
  ],
  [
    "an isolation as text",
    '{"command":"a","isolation":"sandbox"}',
    '1:49 server "bad" has an invalid value at isolation: it must be an object with "kind"',
  ],
  [
    "an isolation with a URL for a host",
    '{"command":"a","isolation":{"kind":"sandbox","net":["https://a.example"]}}',
    '1:74 server "bad" has an invalid value at isolation.net[0]: it must be of the form in the example',
  ],
  [
    "an isolation with an unknown key",
    '{"command":"a","isolation":{"kind":"sandbox","hosts":[]}}',
    '1:49 server "bad" has an invalid value at isolation',
  ],
  [
    "a limit of nothing",
    '{"command":"a","maxConcurrent":0}',
    '1:53 server "bad" has an invalid value at maxConcurrent: it must be a whole number from 1',
  ],
  ["a text", '"x"', '1:22 server "bad" must be an object. Write { "command"'],
  ["nothing to start", "{}", '1:22 server "bad" has neither "command" nor "url"'],
  ["both", '{"command":"a","url":"https://b"}', '1:22 server "bad" has both "command" and "url"'],
  [
    "type without URL",
    '{"type":"http","command":"a"}',
    '1:30 server "bad" has the type "http" but no',
  ],
  [
    "type without command",
    '{"type":"stdio","url":"https://a"}',
    '1:30 server "bad" has the type "stdio" but no',
  ],
  [
    "an unknown type",
    '{"type":"ws","url":"ws://a"}',
    '1:30 server "bad" has the unsupported type "ws". Use "stdio", "http" or "sse"',
  ],
  ["a wrong type", '{"type":1,"command":"a"}', '1:30 server "bad" has an invalid value at type'],
  [
    "an unknown trust",
    '{"command":"a","trust":"yes"}',
    '1:45 server "bad" has an invalid value at trust: it must be "trusted", "normal" or "untrusted"',
  ],
  [
    "an unknown policy",
    '{"command":"a","changes":"block"}',
    '1:47 server "bad" has an invalid value at changes: it must be "hold", "notify" or "allow"',
  ],
  ["an empty command", '{"command":" "}', '1:33 server "bad" has an invalid value at command'],
  [
    "a list as command",
    '{"command":["npx","-y"]}',
    '1:33 server "bad" has an invalid value at command: it must be a string. Write it as "command": "npx"',
  ],
  [
    "a number among arguments",
    '{"command":"a","args":["-p",8080]}',
    '1:50 server "bad" has an invalid value at args[1]: it must be a string. Write it as "args": [',
  ],
  [
    "arguments as text",
    '{"command":"a","args":"-p"}',
    '1:44 server "bad" has an invalid value at args',
  ],
  [
    "an object as variable",
    '{"command":"a","env":{"A":{}}}',
    '1:48 server "bad" has an invalid value at env.A: it must be a string',
  ],
  [
    "null as header",
    '{"url":"https://a","headers":{"A":null}}',
    '1:56 server "bad" has an invalid value',
  ],
  [
    "a URL without scheme",
    '{"url":"example.com/mcp"}',
    '1:29 server "bad" has a "url" that is not a valid http',
  ],
  [
    "another scheme",
    '{"url":"ftp://example.com"}',
    '1:29 server "bad" has a "url" that is not a valid http',
  ],
  ["a blocked port", '{"url":"http://a:10080/"}', '1:29 server "bad" uses port 10080'],
  [
    "a header with a line break",
    '{"url":"https://a","headers":{"X":"a\\nb"}}',
    '1:56 server "bad" has a header "X" that cannot be sent',
  ],
];

for (const [name, entry, problem] of BAD) {
  Deno.test(`loadServers() leaves out one entry with ${name}, and only that one`, async () => {
    const text = `{"mcpServers":{"bad":${entry},"good":{"command":"a"}}}`;
    const { servers, leftOut, lines, problems, declared } = await loadText(text);
    assert.deepEqual(servers.map(({ name }) => name), ["good"]);
    const [bad] = leftOut;
    assert.deepEqual(leftOut.map(({ name, source: { kind } }) => [name, kind]), [["bad", "file"]]);
    assert.match(bad!.problem!, /^Its entry .+\. [A-Z]/);
    assert.equal(`${bad!.place!.line}:${bad!.place!.column}`, problem.split(" ")[0]);
    assert.equal(lines.length, 1);
    assert.ok(lines[0]?.startsWith(`error ${problem}`), lines[0]);
    assert.equal(problems[0]?.server, "bad");
    assert.equal(declared, 2);
  });
}

Deno.test("loadServers() names every variable that is not set, and holds back that server alone", async () => {
  const { servers, lines } = await loadText(`{
  "mcpServers": {
    "a": {
      "command": "\${CMD}",
      "args": ["\${ARG}"],
      "env": { "T": "\${TOKEN}", "U": "\${TOKEN}" }
    },
    "b": { "url": "\${BASE}/mcp", "headers": { "A": "Bearer \${TOKEN}" } },
    "c": { "command": "x", "args": ["$TOKEN", "\${TOKEN:-}"] }
  }
}`);
  const fix = (name: string) => `Set ${name}, or give it a default: \${${name}:-value}`;
  assert.deepEqual(lines, [
    `warning 4:18 server "a" cannot start: CMD is not set (in command). ${fix("CMD")}`,
    `warning 5:16 server "a" cannot start: ARG is not set (in args[0]). ${fix("ARG")}`,
    `warning 6:21 server "a" cannot start: TOKEN is not set (in env.T). ${fix("TOKEN")}`,
    `warning 6:38 server "a" cannot start: TOKEN is not set (in env.U). ${fix("TOKEN")}`,
    `warning 8:19 server "b" cannot start: BASE is not set (in url). ${fix("BASE")}`,
    `warning 8:52 server "b" cannot start: TOKEN is not set (in headers.A). ${fix("TOKEN")}`,
  ]);
  assert.deepEqual(servers.map(({ name, problem }) => [name, problem !== undefined]), [
    ["a", true],
    ["b", true],
    ["c", false],
  ]);
  assert.deepEqual(servers[2]?.spec, {
    type: "stdio",
    command: "x",
    args: ["$TOKEN", ""],
    env: {},
  });
});

const WARNED: [name: string, entry: string, warning: string][] = [
  [
    "a typo",
    '{"comand":"a","command":"b"}',
    'has the unknown key "comand". Did you mean "command"?',
  ],
  ["an unknown key", '{"command":"a","zzz":1}', 'has the unknown key "zzz". Remove it'],
  [
    "headersHelper",
    '{"url":"https://a","headersHelper":"x"}',
    '"headersHelper" is not supported here',
  ],
  [
    "disabledTools",
    '{"command":"a","disabledTools":[]}',
    "Enable and disable tools in the console",
  ],
  [
    "headers of a program",
    '{"command":"a","headers":{}}',
    '"headers" has no effect for a server that',
  ],
  [
    "variables of a URL",
    '{"url":"https://a","env":{}}',
    '"env" has no effect for a server with a URL',
  ],
  ["a key twice", '{"command":"a","command":"b"}', 'has "command" twice; the last one is used'],
  ["a bad placeholder", '{"command":"a","args":["${}"]}', "${} in args[0] is not a placeholder"],
];

for (const [name, entry, warning] of WARNED) {
  Deno.test(`loadServers() warns of ${name} and starts the server`, async () => {
    const { only, lines } = await loadText(`{"mcpServers":{"x":${entry}}}`);
    assert.ok(only && only.problem === undefined);
    assert.equal(lines.length, 1);
    assert.ok(lines[0]?.startsWith("warning 1:") && lines[0].includes(warning), lines[0]);
  });
}

Deno.test("loadServers() reads the start timeout of programs and of remote servers", async () => {
  const { servers, lines } = await loadText({
    a: { command: "npx", startTimeoutMs: 120_000 },
    b: { url: "https://example.com/mcp", startTimeoutMs: 500 },
    c: { command: "npx", startTimeoutMs: 5 },
  });
  assert.deepEqual(servers.map(({ spec }) => spec.startTimeoutMs), [120_000, 500]);
  assert.match(lines.join(), /startTimeoutMs: it must be a whole number from 100 to 86400000/);
});

for (
  const [written, timeoutMs] of [
    [{ timeout: 600_000 }, 600_000],
    [{ timeout: 60 }, 60_000],
    [{ timeoutMs: 500 }, 500],
    [{ timeout: 60, timeoutMs: 500 }, 500],
    [{}, undefined],
  ] as const
) {
  Deno.test(`loadServers() makes a limit of ${timeoutMs} ms of ${JSON.stringify(written)}`, async () => {
    const { servers, lines } = await loadText({
      a: { command: "x", ...written },
      b: { url: "https://example.com", ...written },
    });
    assert.deepEqual(servers.map(({ spec }) => spec.timeoutMs), [timeoutMs, timeoutMs]);
    assert.deepEqual(lines, []);
  });
}

Deno.test("loadServers() keeps that a program is to be started late", async () => {
  const { only } = await loadText({ x: { command: "a", lazy: true } });
  assert.ok(only?.spec.type === "stdio" && only.spec.lazy);
});

Deno.test("loadServers() says nothing about keys that only concern a client", async () => {
  const { lines } = await loadText({
    x: { command: "a", alwaysAllow: [], autoApprove: [], description: "d", timeout: 1, dev: {} },
  });
  assert.deepEqual(lines, []);
});

const LOOPS: [name: string, entry: object][] = [
  ["a URL", { url: "http://localhost:3333/mcp" }],
  ["a URL behind a variable", { url: "${GATEWAY}/mcp" }],
  ["a program", { command: "deno", args: ["run", "-A", "/opt/qm/main.ts", "--stdio"] }],
];

for (const [name, entry] of LOOPS) {
  Deno.test(`loadServers() does not start ${name} that is this gateway`, async () => {
    const variables = { GATEWAY: "http://127.0.0.1:3333" };
    const { only, lines } = await loadText({ x: entry }, { variables });
    assert.equal(only?.problem, "it points to this gateway itself");
    assert.match(lines[0] ?? "", /^error 1:\d+ server "x" cannot start: it points to this gateway/);
  });
}

Deno.test("loadServers() holds back a server whose envFile is missing", async () => {
  const { only, lines } = await loadText({ x: { command: "a", envFile: "no.env" } });
  assert.match(only?.problem ?? "", /^file not found: .*no\.env$/);
  assert.match(lines[0] ?? "", /^error .* Correct "envFile"$/);
});

Deno.test("loadServers() shows no secret in what it reports", async () => {
  const secret = "hunter2-secret";
  const { problems, servers } = await loadText({
    a: { url: "${S}", headers: { X: "${S}" } },
    b: { url: "https://a", headers: { X: "${S}\nx" } },
    c: { command: "${S}", env: { S: "${S}" }, args: ["${S}", "${NOPE}"] },
  }, { variables: { S: secret } });
  assert.ok(problems.length >= 3);
  assert.ok(problems.every((problem) => !formatProblem(problem).includes(secret)));
  assert.ok(servers.every((server) => server.secrets.includes(secret)));
});

Deno.test("loadServers() gives valid servers and places inside the file, whatever an entry is", async () => {
  const value = fc.oneof(
    fc.constantFrom("npx", "https://example.com", "${X}", "stdio", "http", "${", 1, null, true),
    fc.array(fc.constantFrom("a", "${A:-b}", 1)),
    fc.dictionary(fc.string({ maxLength: 3 }), fc.constantFrom("a", "${B}", null, 2)),
  );
  const keys = ["type", "command", "args", "env", "url", "headers", "cwd", "disabled", "serverUrl"];
  const entry = fc.dictionary(fc.constantFrom(...keys), value);
  const file = fc.dictionary(
    fc.array(fc.nat(0xffff), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
    fc.oneof(entry, value),
  );
  await fc.assert(
    fc.asyncProperty(file, async (mcpServers) => {
      const text = JSON.stringify({ mcpServers }, null, 2);
      const { servers, problems, declared } = await loadText(text);
      const lines = text.split("\n");
      for (const { line, column } of problems) assert.ok((lines[line - 1]?.length ?? -1) >= column);
      for (const { name, spec, problem } of servers) {
        assert.ok(ServerName.safeParse(name).success);
        if (problem === undefined) assert.ok(ServerSpec.safeParse(spec).success);
      }
      assert.ok(servers.length <= declared);
    }),
    { numRuns: 40 },
  );
});
