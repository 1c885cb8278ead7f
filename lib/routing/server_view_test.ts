import assert from "node:assert/strict";
import { Catalog } from "../catalog/catalog.ts";
import { GatewayError } from "../core/errors.ts";
import { ServerView } from "./server_view.ts";

function view(names: string[], enabled?: string[]): ServerView {
  const catalog = new Catalog();
  catalog.setListed(
    "git",
    names.map((name) => JSON.stringify({ name, inputSchema: { type: "object" } })),
  );
  catalog.setEnabled("git", enabled);
  return new ServerView("git", catalog.of("git"));
}

const names = (text: string) => JSON.parse(text).tools.map(({ name }: { name: string }) => name);

Deno.test("ServerView.listText() lists enabled tools under the names of each kind", () => {
  const git = view(["status", "log-all", "x.y"], ["status", "x.y"]);
  assert.deepEqual(names(git.listText("namespaced")), ["git.status", "git.x.y"]);
  assert.deepEqual(names(git.listText("original")), ["status", "x.y"]);
  assert.deepEqual(names(git.listText("flat")), ["git_status", "git_x_y"]);
  assert.equal(git.listText("flat"), git.listText("flat"));
});

Deno.test("ServerView.resolve() accepts every name, those of the door's own kind first", () => {
  const git = view(["status", "git.status"]);
  assert.equal(git.resolve("status", "namespaced").name, "status");
  assert.equal(git.resolve("git.status", "namespaced").name, "status");
  assert.equal(git.resolve("git.status", "original").name, "git.status");
  assert.equal(git.resolve("git.git.status", "original").name, "git.status");
  assert.equal(git.resolve("git_status", "namespaced").name, "status");
});

Deno.test("ServerView.resolve() tells disabled from unknown, and what was meant", () => {
  const git = view(["status", "commit"], ["status"]);
  const failure = (name: string) => {
    try {
      git.resolve(name, "namespaced");
    } catch (error) {
      if (error instanceof GatewayError) return error;
    }
    throw new Error("It did not fail as it should");
  };
  assert.equal(failure("git.commit").code, "TOOL_DISABLED");
  assert.equal(failure("git.sttus").code, "TOOL_NOT_FOUND");
  assert.match(failure("git.sttus").details.hint!, /git\.status/);
  assert.doesNotMatch(failure("git.comit").details.hint ?? "", /commit/);
  assert.equal(failure("constructor").code, "TOOL_NOT_FOUND");
});

Deno.test("ServerView cuts names that clients would refuse, and still knows the whole ones", () => {
  const long = "search_".repeat(12);
  const git = view([`${long}a`, `${long}b`]);
  const listed = names(git.listText("namespaced"));
  for (const name of listed) assert.ok(name.length <= 60, name);
  assert.equal(new Set(listed).size, 2);
  assert.equal(git.resolve(listed[0], "namespaced").name, `${long}a`);
  assert.equal(git.resolve(`git.${long}b`, "namespaced").name, `${long}b`);
});
