import assert from "node:assert/strict";
import { resolveTool, withNames } from "./find_tool.ts";

function listed(...names: string[]) {
  return withNames(names.map((full) => {
    const dot = full.indexOf(".");
    const [server, name] = [full.slice(0, dot), full.slice(dot + 1)];
    const definition = { name, inputSchema: { type: "object" as const } };
    return { server, name, enabled: true, definition };
  }));
}

Deno.test("resolveTool() takes a tool's namespaced, flat or own name", () => {
  const tools = listed("git.search-repos", "issues.list", "files.list", "files.dir.read");
  for (
    const [name, found] of [
      ["git.search-repos", "git.search-repos"],
      ["git_search_repos", "git.search-repos"],
      ["search-repos", "git.search-repos"],
      ["files.list", "files.list"],
      ["dir.read", "files.dir.read"],
    ] as const
  ) assert.equal(resolveTool(name, tools).namespaced, found);
});

Deno.test("resolveTool() asks which one where several servers have the name", () => {
  assert.throws(
    () => resolveTool("list", listed("a.list", "b.list")),
    (error: Error & { details: { recoverySteps: string[] } }) => {
      assert.match(error.message, /2 servers have a tool "list"/);
      assert.deepEqual(error.details.recoverySteps, ["Give one of a.list, b.list"]);
      return true;
    },
  );
});

Deno.test("resolveTool() names what was probably meant", () => {
  const tools = listed("git.search-repos", "files.read_file");
  for (
    const [name, hint] of [["git.serch-repos", /git\.search-repos/], [
      "raed_file",
      /read_file/,
    ]] as const
  ) {
    assert.throws(
      () => resolveTool(name, tools),
      (error: Error & { details: { hint: string } }) => {
        assert.match(error.details.hint, hint);
        return true;
      },
    );
  }
});
