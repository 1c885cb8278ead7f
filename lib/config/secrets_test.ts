import assert from "node:assert/strict";
import { ServerSpec } from "../core/server.ts";
import { secretsOf } from "./secrets.ts";

Deno.test("secretsOf() takes a program's variables and telling arguments", () => {
  const spec = ServerSpec.parse({
    type: "stdio",
    command: "docker",
    args: [
      ...["run", "--api-key=arg-key", "-e", "GH_TOKEN=docker-token", "--password", "arg-word"],
      ...["--header", "Authorization: Bearer head-token", "--name=visible", "--token", "--flag"],
    ],
    env: { API: "env-value", DEBUG: "true", LEVEL: "1" },
  });
  assert.deepEqual(
    new Set(secretsOf(spec, ["foreign", "abc"])),
    new Set([
      ...["foreign", "env-value", "arg-key", "docker-token", "arg-word"],
      ...["Bearer head-token", "head-token"],
    ]),
  );
});

Deno.test("secretsOf() takes headers and what a URL carries", () => {
  const spec = ServerSpec.parse({
    type: "http",
    url: "https://user:p%40ss@example.com/mcp?api_key=k%2Fey1&page=visible",
    headers: { Authorization: "Bearer head-token", "X-Plain": "x-value" },
  });
  assert.deepEqual(
    new Set(secretsOf(spec, [])),
    new Set([
      ...["user", "p%40ss", "p@ss", "k/ey1", "k%2Fey1"],
      ...["Bearer head-token", "head-token", "x-value"],
    ]),
  );
});

Deno.test("secretsOf() has nothing to hide in the demo server", () => {
  assert.deepEqual(secretsOf({ type: "demo" }, []), []);
});

Deno.test("secretsOf() does not hide what only refers to a secret", () => {
  const program = ServerSpec.parse({
    type: "stdio",
    command: "run",
    args: ["--token=${secret:A}", "--key", "${secret:B}"],
    env: { TOKEN: "${secret:C}" },
  });
  assert.deepEqual(secretsOf(program, []), []);
  const remote = ServerSpec.parse({
    type: "http",
    url: "https://example.com/mcp?key=${secret:A}",
    headers: { Authorization: "Bearer ${secret:B}" },
  });
  assert.deepEqual(secretsOf(remote, []), []);
});
