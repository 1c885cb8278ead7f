import assert from "node:assert/strict";
import type { GatewayError } from "../core/errors.ts";
import { resolveListed, resolveTool, withNames } from "./find_tool.ts";

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

Deno.test("resolveListed() says of a tool that is kept back where to decide on it", async () => {
  const servers = {
    allTools: () => Promise.resolve(listed("files.read")),
    waiting: () =>
      Promise.resolve([
        { server: "files", name: "bad", state: "quarantined" as const, isServed: false },
        { server: "files", name: "added", state: "held" as const, isServed: false },
        { server: "files", name: "read", state: "held" as const, isServed: true },
      ]),
  };
  assert.equal((await resolveListed("files.read", servers)).namespaced, "files.read");
  for (
    const [name, message] of [
      ["files.bad", /"files\.bad" is in quarantine/],
      ["files_bad", /is in quarantine/],
      ["added", /"files\.added" is held/],
    ] as const
  ) {
    await assert.rejects(resolveListed(name, servers), (error: GatewayError) => {
      assert.equal(error.code, "TOOL_QUARANTINED");
      assert.match(error.message, message);
      assert.match(
        error.details.recoverySteps?.join() ?? "",
        /review show files.*security\/review/,
      );
      return true;
    });
  }
  await assert.rejects(resolveListed("files.none", servers), { code: "TOOL_NOT_FOUND" });
});

Deno.test("resolveListed() tells a caller who may not decide no more than others", async () => {
  const servers = {
    allTools: () => Promise.resolve(listed("files.read")),
    waiting: () => Promise.reject(new Error("not for you")),
  };
  await assert.rejects(resolveListed("files.bad", servers), { code: "TOOL_NOT_FOUND" });
});
