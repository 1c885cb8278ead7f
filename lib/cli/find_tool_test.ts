import assert from "node:assert/strict";
import type { GatewayError } from "../core/errors.ts";
import { NamedTools, resolveListed, SEARCH_EXTRAS } from "./tools.ts";

function list(names: string[], maxNameLength = 60) {
  const tools = names.map((full) => {
    const dot = full.indexOf(".");
    const [server, name] = [full.slice(0, dot), full.slice(dot + 1)];
    const definition = { name, inputSchema: { type: "object" as const } };
    return { server, name, enabled: true, definition };
  });
  return { tools, maxNameLength };
}

function listed(...names: string[]): NamedTools {
  return new NamedTools(list(names));
}

Deno.test("NamedTools.resolve() takes a tool's namespaced, flat or own name", () => {
  const tools = listed("git.search-repos", "issues.list", "files.list", "files.dir.read");
  for (
    const [name, found] of [
      ["git.search-repos", "git.search-repos"],
      ["git_search_repos", "git.search-repos"],
      ["search-repos", "git.search-repos"],
      ["files.list", "files.list"],
      ["dir.read", "files.dir.read"],
      ["files:dir.read", "files.dir.read"],
    ] as const
  ) assert.equal(tools.resolve(name).namespacedName, found);
});

Deno.test("NamedTools leave the names of the gateway's own tools to these", () => {
  const tools = listed("equip.toolset", "git.status");
  const [equip] = tools.all;
  assert.match(equip!.flatName, /^equip_toolset_[0-9a-f]{6}$/);
  assert.equal(tools.resolve(equip!.flatName).namespacedName, "equip.toolset");
  assert.equal(tools.resolve("equip.toolset").flatName, equip!.flatName);
  assert.throws(() => tools.resolve("equip_toolset"), { code: "TOOL_NOT_FOUND" });
});

Deno.test("NamedTools cut long names at the gateway's length, and know them cut and whole", () => {
  const long = "search_".repeat(12);
  for (const maxNameLength of [24, 60, 128]) {
    const tools = new NamedTools(list([`git.${long}a`, `git.${long}b`], maxNameLength));
    for (const tool of tools.all) {
      assert.equal(
        tool.namespacedName.length,
        Math.min(maxNameLength, "git.".length + long.length + 1),
      );
      assert.equal(tool.flatName.length, tool.namespacedName.length);
      for (
        const name of [tool.namespacedName, tool.flatName, `git.${tool.name}`, `git:${tool.name}`]
      ) {
        assert.equal(tools.resolve(name).name, tool.name, name);
      }
    }
  }
});

Deno.test("NamedTools.resolve() finds what is off, too", () => {
  const { tools, maxNameLength } = list(["git.status", "git.log"]);
  const off = tools.map((tool) => ({ ...tool, enabled: tool.name === "log" }));
  const named = new NamedTools({ tools: off, maxNameLength });
  assert.equal(named.resolve("git_status").enabled, false);
  assert.equal(named.resolve("log").enabled, true);
});

Deno.test("NamedTools.resolve() asks which one where several servers have the name", () => {
  assert.throws(
    () => listed("a.list", "b.list").resolve("list"),
    (error: Error & { details: { recoverySteps: string[] } }) => {
      assert.match(error.message, /2 servers have a tool "list"/);
      assert.deepEqual(error.details.recoverySteps, ["Use one of a.list, b.list"]);
      return true;
    },
  );
});

Deno.test("NamedTools.resolve() names what was probably meant", () => {
  const tools = listed("git.search-repos", "files.read_file");
  for (
    const [name, hint] of [["git.serch-repos", /git\.search-repos/], [
      "raed_file",
      /read_file/,
    ]] as const
  ) {
    assert.throws(
      () => tools.resolve(name),
      (error: Error & { details: { hint: string } }) => {
        assert.match(error.details.hint, hint);
        return true;
      },
    );
  }
});

Deno.test("resolveListed() says of a tool that is kept back where to decide on it", async () => {
  const long = "read_".repeat(20);
  const [cut] = listed(`files.${long}`).all;
  const servers = {
    isRunning: false,
    run: () =>
      Promise.resolve({
        ...list(["files.read"]),
        items: [
          { server: "files", tool: "bad", state: "quarantined", kind: "finding" },
          { server: "files", tool: long, state: "quarantined", kind: "finding" },
          { server: "files", tool: "added", state: "held", kind: "added" },
          { server: "files", tool: "read", state: "held", kind: "changed" },
        ],
      }),
  };
  assert.equal((await resolveListed("files.read", servers)).namespacedName, "files.read");
  for (
    const [name, message] of [
      ["files.bad", /"files\.bad" is quarantined/],
      ["files_bad", /is quarantined/],
      ["files:bad", /is quarantined/],
      [cut!.flatName, /is quarantined/],
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

Deno.test("resolveListed() says how a server is whose tools are not known", async () => {
  const server = (name: string, state: string, toolCount = 0) => (
    { name, state, toolCount, type: "stdio", reason: "As it is" }
  );
  const servers = {
    isRunning: true,
    run: () =>
      Promise.resolve({
        ...list(["files.read"]),
        items: [],
        servers: [
          server("files", "failed", 1),
          server("slow", "installing"),
          server("still", "paused"),
          server("broken", "failed"),
          server("off", "disabled"),
        ],
      }),
  };
  for (
    const [name, code] of [
      ["slow.x", "SERVER_STARTING"],
      ["still_x", "SERVER_NOT_RUNNING"],
      ["broken:x", "SERVER_DISCONNECTED"],
      ["files.none", "TOOL_NOT_FOUND"],
      ["off.x", "TOOL_NOT_FOUND"],
    ] as const
  ) await assert.rejects(resolveListed(name, servers), { code }, name);
  const offline = { ...servers, isRunning: false };
  await assert.rejects(resolveListed("slow.x", offline), { code: "TOOL_NOT_FOUND" });
});

Deno.test("resolveListed() tells a caller who may not decide no more than others", async () => {
  const servers = {
    isRunning: false,
    run: ({ name }: { name: string }) =>
      name === "tool.list"
        ? Promise.resolve(list(["files.read"]))
        : Promise.reject(new Error("not for you")),
  };
  await assert.rejects(resolveListed("files.bad", servers), { code: "TOOL_NOT_FOUND" });
});

Deno.test("quartermaster search says first if nothing fits", () => {
  const text = (relevance: number) => {
    const names = { server: "git", name: "log", namespacedName: "git.log", flatName: "git_log" };
    const found = [{ ...names, summary: "Git log", category: "git", relevance }];
    return SEARCH_EXTRAS["tool.search"]!.show!({ query: "fax", found, more: 0 } as never, {
      paint: (_, text) => text,
      isFollowed: false,
      isRunning: true,
      input: {},
      flags: new Map(),
    });
  };
  assert.match(text(0.09), /^No good match\. Best guesses:\nRELEVANCE/);
  assert.match(text(0.1), /^RELEVANCE/);
});
