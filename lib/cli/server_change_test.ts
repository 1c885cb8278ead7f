import assert from "node:assert/strict";
import { parseCommandLine } from "../config/command_line.ts";
import { RemoteServer, type ServerSpec, StdioServer } from "../core/server.ts";
import { changedEntry, readChange } from "./server_change.ts";
import { serverUpdate } from "./server_update.ts";

function read(...args: string[]) {
  const line = parseCommandLine(["server", "update", ...args], serverUpdate.flags);
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
  return changedEntry(before, read("a", ...args));
}

const REMOTE = RemoteServer.parse({
  type: "sse",
  url: "https://a.example/sse",
  headers: { Authorization: "***", "X-Team": "${secret:TEAM}" },
  mode: "read-only",
  maxConcurrent: 2,
  allowPrivate: true,
});
const PROGRAM = StdioServer.parse({
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
  assert.deepEqual(change(PROGRAM, ...decided, "--timeout", "90s", "--lazy", "--disabled"), {
    ...PROGRAM,
    trust: "trusted",
    changes: "hold",
    mode: "confirm",
    timeoutMs: 90_000,
    lazy: true,
    disabled: true,
  });
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
    /server "a" has none.*Did you mean TOKEN/,
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
  assert.throws(() => read("a", "--mode", "none"), /--mode cannot be "none"/);
});

Deno.test("changedEntry() hands no value on to another place, nor the right to be there", () => {
  assert.throws(
    () => change(REMOTE, "--url", "https://b.example/sse"),
    /Authorization goes to the place .*--header "Authorization: VALUE".*--unset Authorization/,
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
  assert.throws(() => change(PROGRAM, "--", "run", "v2"), /TOKEN, LOG goes.*--env TOKEN=VALUE/);
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

const REFUSED: [before: ServerSpec, args: string[], message: RegExp][] = [
  [REMOTE, [], /needs a name/],
  [REMOTE, ["a"], /was given nothing to change/],
  [REMOTE, ["a", "--json"], /was given nothing to change/],
  [REMOTE, ["a", "npx"], /does not take "npx"; put -- before/],
  [REMOTE, ["a", "--url", "https://b.example", "--", "npx"], /both a URL and a command/],
  [REMOTE, ["a", "--url", "b.example"], /Cannot use --url/],
  [REMOTE, ["a", "--env", "A=b"], /--env means nothing for a server with a URL/],
  [REMOTE, ["a", "--lazy"], /--lazy means nothing/],
  [PROGRAM, ["a", "--header", "A: b"], /--header means nothing for a server that is a program/],
  [PROGRAM, ["a", "--type", "sse"], /--type means nothing/],
  [PROGRAM, ["a", "--timeout", "5 days"], /--timeout cannot be "5 days".*100 ms to 24 h/],
  [PROGRAM, ["a", "--disabled=maybe"], /--disabled cannot be "maybe".*--no-disabled/],
];

for (const [before, args, message] of REFUSED) {
  Deno.test(`server update refuses: ${args.join(" ")}`, () => {
    assert.throws(() => changedEntry(before, read(...args)), { code: "CONFIG_INVALID", message });
  });
}
