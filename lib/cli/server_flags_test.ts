import assert from "node:assert/strict";
import { parseCommandLine } from "../config/command_line.ts";
import { ProgramServer, RemoteServer, type ServerSpec } from "../core/server.ts";
import { COMMANDS } from "./quartermaster.ts";
import { changedEntry, readChange, readServer } from "./server_flags.ts";

function read(...args: string[]) {
  const line = parseCommandLine(["server", "add", ...args], COMMANDS["server add"]?.flags);
  return readServer({ ...line, positionals: line.positionals.slice(1), flags: line.given });
}

Deno.test("readServer() reads a server with a URL", () => {
  assert.deepEqual(read("a", "--url", "https://example.com/mcp"), {
    name: "a",
    spec: { type: "http", url: "https://example.com/mcp", headers: {} },
  });
  const headers = ["--header", "Authorization: Bearer a:b", "--header", "X-Empty:"];
  assert.deepEqual(read("a", "--url=http://localhost:1/sse", "--type", "sse", ...headers).spec, {
    type: "sse",
    url: "http://localhost:1/sse",
    headers: { Authorization: "Bearer a:b", "X-Empty": "" },
  });
});

Deno.test("readServer() reads the isolation of a program, with folders from here", () => {
  const isolationIn = (...flags: string[]) => {
    const { spec } = read("a", ...flags, "--", "npx");
    return spec.type === "stdio" ? spec.isolation : undefined;
  };
  assert.equal(isolationIn(), undefined);
  const lists = ["--read", "/a", "--read", "b", "--write", "/c", "--net", "example.com"];
  assert.deepEqual(isolationIn("--isolation", "sandbox", ...lists), {
    kind: "sandbox",
    read: ["/a", `${Deno.cwd()}/b`],
    write: ["/c"],
    net: ["example.com"],
  });
  assert.throws(() => isolationIn("--net", "example.com"), /--net requires --isolation/);
  assert.throws(() => isolationIn("--isolation", "vm"), /Cannot use --isolation "vm"/);
  const url = ["--isolation", "sandbox", "--net", "https://example.com"];
  assert.throws(() => isolationIn(...url), /Cannot use --net: A host is written as example\.com/);
  assert.throws(
    () => read("a", "--url", "https://example.com", "--isolation", "sandbox"),
    /has no effect/,
  );
});

Deno.test("readServer() takes what follows the dashes as it is", () => {
  const { name, spec } = read(
    "a",
    "--env",
    "A=1=2",
    "--env",
    "B=",
    "--",
    "npx",
    "--url",
    "-y",
    "--",
  );
  assert.equal(name, "a");
  assert.deepEqual(spec, {
    type: "stdio",
    command: "npx",
    args: ["--url", "-y", "--"],
    env: { A: "1=2", B: "" },
  });
});

Deno.test("readServer() reads mode, limits, trust and what becomes of changes", () => {
  const given = [
    ...["--mode", "confirm", "--calls-per-minute", "60", "--max-concurrent", "4"],
    ...["--max-result-tokens", "2000", "--trust", "untrusted", "--changes", "notify"],
  ];
  const limits = {
    mode: "confirm",
    callsPerMinute: 60,
    maxConcurrent: 4,
    maxResultTokens: 2_000,
    trust: "untrusted",
    changes: "notify",
  };
  assert.deepEqual(read("a", "--url", "https://example.com/mcp", ...given).spec, {
    type: "http",
    url: "https://example.com/mcp",
    headers: {},
    ...limits,
  });
  assert.deepEqual(read("a", ...given, "--", "npx").spec, {
    type: "stdio",
    command: "npx",
    args: [],
    env: {},
    ...limits,
  });
});

const REFUSED: [args: string[], message: RegExp][] = [
  [[], /requires a name/],
  [["a"], /requires a URL or a command/],
  [["a", "--"], /requires a URL or a command/],
  [["a", "npx", "-"], /does not take "npx"; put -- before/],
  [["a", "--url", "https://example.com", "--", "npx"], /takes either a URL or a command/],
  [["a", "--url", "example.com/mcp"], /Cannot use --url "example.com\/mcp"/],
  [["a", "--url", "ftp://example.com"], /Cannot use --url/],
  [["a", "--url", "https://example.com", "--type", "stdio"], /Cannot use --type "stdio"/],
  [["a", "--url", "https://example.com", "--env", "A=b"], /--env has no effect/],
  [["a", "--header", "A: b", "--", "npx"], /--header has no effect/],
  [["a", "--type", "sse", "--", "npx"], /--type has no effect/],
  [
    ["a", "--mode", "some", "--", "npx"],
    /Cannot use --mode "some"; it must be one of all, confirm, read-only/,
  ],
  [["a", "--trust", "yes", "--", "npx"], /Cannot use --trust "yes"/],
  [["a", "--changes", "never", "--", "npx"], /Cannot use --changes "never"/],
  [["a", "--calls-per-minute", "0", "--", "npx"], /Cannot use --calls-per-minute "0".*1000000/],
  [["a", "--max-concurrent", "1.5", "--", "npx"], /Cannot use --max-concurrent "1.5"/],
  [["a", "--max-result-tokens", "99", "--", "npx"], /Cannot use .* "99".*from 100 to/],
  [["a", "--env", "secret-without-name", "--", "npx"], /^Cannot read a value of --env; write/],
  [["a", "--url", "https://example.com", "--header", "secret"], /^Cannot read a value of --header/],
];

for (const [args, message] of REFUSED) {
  Deno.test(`readServer() refuses: ${args.join(" ")}`, () => {
    assert.throws(() => read(...args), { code: "CONFIG_INVALID", message });
  });
}

function readUpdate(...args: string[]) {
  const line = parseCommandLine(["server", "update", ...args], COMMANDS["server update"]?.flags);
  const isAllowed = line.given.get("allow-private") === true;
  const flags = new Map([...line.given].filter(([flag]) => flag !== "allow-private"));
  return readChange(
    {
      ...line,
      positionals: line.positionals.slice(1),
      flags,
      options: { allowPrivate: isAllowed },
      origins: { allowPrivate: isAllowed ? "flag" : "default" },
    } as unknown as Parameters<typeof readChange>[0],
  );
}

function change(before: ServerSpec, ...args: string[]): ServerSpec {
  return changedEntry(before, readUpdate("a", ...args));
}

const REMOTE = RemoteServer.parse({
  type: "sse",
  url: "https://a.example/sse",
  headers: { Authorization: "***", "X-Team": "${secret:TEAM}" },
  mode: "read-only",
  maxConcurrent: 2,
  allowPrivate: true,
});
const PROGRAM = ProgramServer.parse({
  type: "stdio",
  command: "run",
  args: ["--key", "***"],
  env: { TOKEN: "***", LOG: "***" },
  cwd: "/old",
  trust: "untrusted",
});

Deno.test("changedEntry() changes what is named, and nothing else", () => {
  assert.deepEqual(change(REMOTE, "--max-concurrent", "5"), { ...REMOTE, maxConcurrent: 5 });
  assert.deepEqual(change(REMOTE, "--type", "http"), { ...REMOTE, type: "http" });
  assert.deepEqual(change(REMOTE, "--url", "https://a.example/v2"), {
    ...REMOTE,
    url: "https://a.example/v2",
  });
  assert.deepEqual(change(PROGRAM, "--env", "LOG=debug", "--env", "NEW=a=b"), {
    ...PROGRAM,
    env: { TOKEN: "***", LOG: "debug", NEW: "a=b" },
  });
  const decided = ["--trust", "trusted", "--changes", "hold", "--mode", "confirm"];
  assert.deepEqual(
    change(
      PROGRAM,
      ...decided,
      "--timeout",
      "90s",
      "--start-timeout",
      "2m",
      "--lazy",
      "--disabled",
    ),
    {
      ...PROGRAM,
      trust: "trusted",
      changes: "hold",
      mode: "confirm",
      timeoutMs: 90_000,
      startTimeoutMs: 120_000,
      lazy: true,
      disabled: true,
    },
  );
  const on = change({ ...PROGRAM, disabled: true }, "--no-disabled", "--no-lazy");
  assert.deepEqual(on, { ...PROGRAM, disabled: false, lazy: false });
});

Deno.test("changedEntry() takes out headers and variables by name", () => {
  assert.deepEqual(change(PROGRAM, "--unset", "LOG"), { ...PROGRAM, env: { TOKEN: "***" } });
  assert.deepEqual(change(REMOTE, "--unset", "authorization"), {
    ...REMOTE,
    headers: { "X-Team": "${secret:TEAM}" },
  });
  assert.throws(
    () => change(PROGRAM, "--unset", "TOKN"),
    /server "a" does not have it.*Did you mean TOKEN/,
  );
  assert.throws(() => change(PROGRAM, "--unset", "log"), /variable "log"/);
});

Deno.test("changedEntry() replaces a header that is written in other letters", () => {
  assert.deepEqual(change(REMOTE, "--header", "authorization: new"), {
    ...REMOTE,
    headers: { "X-Team": "${secret:TEAM}", authorization: "new" },
  });
});

Deno.test("changedEntry() says by undefined that a limit is to go", () => {
  const none = ["--max-concurrent", "none", "--timeout", "none"];
  const changed = change(REMOTE, ...none);
  assert.ok("maxConcurrent" in changed && "timeoutMs" in changed);
  assert.equal(changed.maxConcurrent, undefined);
  assert.throws(() => readUpdate("a", "--mode", "none"), /Cannot use --mode "none"/);
});

Deno.test("changedEntry() hands no value on to another place, nor the right to be there", () => {
  assert.throws(
    () => change(REMOTE, "--url", "https://b.example/sse"),
    /stored value of Authorization .*--header "Authorization: VALUE".*--unset Authorization/,
  );
  const moved = change(REMOTE, "--url", "https://b.example/sse", "--header", "Authorization: b");
  const { allowPrivate: _, ...rest } = REMOTE;
  assert.deepEqual(moved, {
    ...rest,
    url: "https://b.example/sse",
    headers: { Authorization: "b", "X-Team": "${secret:TEAM}" },
  });
  const named = ["--unset", "Authorization", "--allow-private"];
  const allowed = change(REMOTE, "--url", "https://b.example/", ...named);
  assert.equal("url" in allowed && allowed.allowPrivate, true);
  assert.throws(
    () => change(PROGRAM, "--", "run", "v2"),
    /stored value of TOKEN, LOG .*--env TOKEN=VALUE/,
  );
  assert.throws(() => change(PROGRAM, "--cwd", "/new"), /TOKEN, LOG/);
  const again = ["--env", "TOKEN=1", "--unset", "LOG", "--", "run", "v2"];
  assert.deepEqual(change(PROGRAM, ...again), { ...PROGRAM, args: ["v2"], env: { TOKEN: "1" } });
});

Deno.test("changedEntry() makes one kind of server the other", () => {
  assert.deepEqual(change(PROGRAM, "--url", "https://b.example/"), {
    type: "http",
    url: "https://b.example/",
    headers: {},
  });
  assert.deepEqual(change(REMOTE, "--env", "A=b", "--", "npx", "-y", "x"), {
    type: "stdio",
    command: "npx",
    args: ["-y", "x"],
    env: { A: "b" },
  });
});

const REFUSED_CHANGES: [before: ServerSpec, args: string[], message: RegExp][] = [
  [REMOTE, [], /requires a name/],
  [REMOTE, ["a"], /requires a change/],
  [REMOTE, ["a", "--json"], /requires a change/],
  [REMOTE, ["a", "npx"], /does not take "npx"; put -- before/],
  [REMOTE, ["a", "--url", "https://b.example", "--", "npx"], /takes either a URL or a command/],
  [REMOTE, ["a", "--url", "b.example"], /Cannot use --url/],
  [REMOTE, ["a", "--env", "A=b"], /--env has no effect for a server with a URL/],
  [REMOTE, ["a", "--lazy"], /--lazy has no effect/],
  [
    PROGRAM,
    ["a", "--header", "A: b"],
    /--header has no effect for a server that runs as a program/,
  ],
  [PROGRAM, ["a", "--type", "sse"], /--type has no effect/],
  [PROGRAM, ["a", "--timeout", "5 days"], /Cannot use --timeout "5 days".*100 ms to 24 h/],
  [PROGRAM, ["a", "--disabled=maybe"], /Cannot use --disabled "maybe".*true or false/],
];

for (const [before, args, message] of REFUSED_CHANGES) {
  Deno.test(`server update refuses: ${args.join(" ")}`, () => {
    assert.throws(() => changedEntry(before, readUpdate(...args)), {
      code: "CONFIG_INVALID",
      message,
    });
  });
}
