import assert from "node:assert/strict";
import type { ServerSpec } from "../core/server.ts";
import { type Candidate, entryLine, planImport } from "./import.ts";

function candidate(name: string, spec: ServerSpec, more: Partial<Candidate> = {}): Candidate {
  const file = "/home/ann/.cursor/mcp.json";
  const source = { kind: "file" as const, path: file };
  return {
    name,
    writtenAs: name,
    from: "Cursor",
    file,
    source,
    secrets: [],
    isSelf: false,
    spec,
    ...more,
  };
}

function program(command: string, env: Record<string, string> = {}): ServerSpec {
  return { type: "stdio", command, args: [], env };
}

function states(...[candidates, existing, renames]: Parameters<typeof planImport>) {
  return planImport(candidates, existing, renames).map(({ name, state }) => `${name} ${state}`);
}

Deno.test("planImport() takes over what is new, and never what is there or is the gateway", () => {
  const existing = [
    { name: "same", spec: program("a", { KEY: "***" }) },
    { name: "other", spec: program("b") },
    { name: "filed", spec: program("c"), file: "/project/.mcp.json" },
  ];
  assert.deepEqual(
    states([
      candidate("new", program("n")),
      candidate("same", program("a", { KEY: "secret" })),
      candidate("other", program("x")),
      candidate("filed", { ...program("c"), cwd: "/project" } as ServerSpec, {
        file: "/project/.mcp.json",
      }),
      candidate("gateway", program("deno"), { isSelf: true }),
      candidate("held", program("h"), { problem: "TOKEN is not set" }),
    ], existing),
    ["new new", "same present", "other differs", "filed present", "gateway self", "held unusable"],
  );
});

Deno.test("planImport() tells clients' servers of one name apart", () => {
  const git = candidate("git", program("a"));
  const again = candidate("git", program("a"), { from: "VS Code" });
  const other = candidate("git", program("b"), { from: "VS Code" });
  assert.deepEqual(states([git, again, other], []), ["git new", "git present", "git differs"]);
  const renames = new Map([["git", "git2"]]);
  assert.deepEqual(states([git, other], [], renames), ["git new", "git2 new"]);
  assert.deepEqual(states([git], [], renames), ["git2 new"]);
  const existing = [{ name: "git", spec: program("z") }];
  assert.deepEqual(states([git], existing, renames), ["git2 new"]);
});

Deno.test("entryLine() shows no secret", () => {
  const spec: ServerSpec = {
    type: "stdio",
    command: "npx",
    args: ["-y", "pkg", "--api-key", "canary-one", "canary-two", "a b"],
    env: { TOKEN: "canary-three" },
  };
  const line = entryLine({ spec, secrets: ["canary-two"] });
  assert.equal(line, 'npx -y pkg --api-key *** *** "a b"');
});
