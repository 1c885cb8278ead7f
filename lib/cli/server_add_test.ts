import assert from "node:assert/strict";
import { parseCommandLine } from "../config/command_line.ts";
import { readServer, serverAdd } from "./server_add.ts";

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

const REFUSED: [args: string[], message: RegExp][] = [
  [[], /needs a name/],
  [["a"], /neither a URL nor a command/],
  [["a", "--"], /neither a URL nor a command/],
  [["a", "npx", "-"], /does not take "npx"; put -- before/],
  [["a", "--url", "https://example.com", "--", "npx"], /both a URL and a command/],
  [["a", "--url", "example.com/mcp"], /Cannot use --url "example.com\/mcp"/],
  [["a", "--url", "ftp://example.com"], /Cannot use --url/],
  [["a", "--url", "https://example.com", "--type", "stdio"], /Cannot use --type "stdio"/],
  [["a", "--url", "https://example.com", "--env", "A=b"], /--env means nothing/],
  [["a", "--header", "A: b", "--", "npx"], /--header means nothing/],
  [["a", "--type", "sse", "--", "npx"], /--type means nothing/],
  [["a", "--env", "secret-without-name", "--", "npx"], /^A value of --env cannot be read; write/],
  [["a", "--url", "https://example.com", "--header", "secret"], /^A value of --header cannot be/],
];

for (const [args, message] of REFUSED) {
  Deno.test(`readServer() refuses: ${args.join(" ")}`, () => {
    assert.throws(() => read(...args), { code: "CONFIG_INVALID", message });
  });
}
