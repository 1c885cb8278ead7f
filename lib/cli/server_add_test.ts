import assert from "node:assert/strict";
import { parseCommandLine } from "../config/command_line.ts";
import { GatewayError } from "../core/errors.ts";
import { addedWords, readServer, serverAdd, withoutGuess } from "./server_add.ts";

function read(...args: string[]) {
  const line = parseCommandLine(["server", "add", ...args], serverAdd.flags);
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
  [[], /needs a name/],
  [["a"], /neither a URL nor a command/],
  [["a", "--"], /neither a URL nor a command/],
  [["a", "npx", "-"], /does not take "npx"; put -- before/],
  [["a", "--url", "https://example.com", "--", "npx"], /both a URL and a command/],
  [["a", "--url", "example.com/mcp"], /Cannot use --url "example.com\/mcp"/],
  [["a", "--url", "ftp://example.com"], /Cannot use --url/],
  [["a", "--url", "https://example.com", "--type", "stdio"], /--type cannot be "stdio"/],
  [["a", "--url", "https://example.com", "--env", "A=b"], /--env means nothing/],
  [["a", "--header", "A: b", "--", "npx"], /--header means nothing/],
  [["a", "--type", "sse", "--", "npx"], /--type means nothing/],
  [["a", "--mode", "some", "--", "npx"], /--mode cannot be "some"; use all, confirm, read-only/],
  [["a", "--trust", "yes", "--", "npx"], /--trust cannot be "yes"/],
  [["a", "--changes", "never", "--", "npx"], /--changes cannot be "never"/],
  [["a", "--calls-per-minute", "0", "--", "npx"], /--calls-per-minute cannot be "0".*1000000/],
  [["a", "--max-concurrent", "1.5", "--", "npx"], /--max-concurrent cannot be "1.5"/],
  [["a", "--max-result-tokens", "99", "--", "npx"], /cannot be "99".*from 100 to/],
  [["a", "--env", "secret-without-name", "--", "npx"], /^A value of --env cannot be read; write/],
  [["a", "--url", "https://example.com", "--header", "secret"], /^A value of --header cannot be/],
];

for (const [args, message] of REFUSED) {
  Deno.test(`readServer() refuses: ${args.join(" ")}`, () => {
    assert.throws(() => read(...args), { code: "CONFIG_INVALID", message });
  });
}

Deno.test("addedWords() counts tools, and says what is in quarantine", () => {
  assert.equal(addedWords(1, 0), "1 tool");
  assert.equal(addedWords(2, 0), "2 tools");
  assert.equal(addedWords(1, 1), "1 tool; 1 in quarantine: see `deno task cli review list`");
});

Deno.test("withoutGuess() blames neither address nor command where a secret is missing", () => {
  const { spec } = read("a", "--url", "https://example.com/mcp", "--header", "X: ${secret:KEY}");
  const failure = (message: string) =>
    new GatewayError("SERVER_DISCONNECTED", { message, recoverySteps: ["Check the address"] });
  const missing = withoutGuess(
    "add",
    failure("Cannot add: the secret KEY is not set: set it"),
    spec,
  );
  assert.ok(missing instanceof GatewayError);
  assert.match(missing.message, /the secret KEY is not set/);
  assert.doesNotMatch(missing.details.recoverySteps?.join() ?? "Check", /Check/);
  const other = failure("Cannot add: HTTP 404");
  assert.equal(withoutGuess("add", other, spec), other);
});
