import assert from "node:assert/strict";
import fc from "../../tests/fast_check.ts";
import { Catalog } from "./catalog.ts";
import type { CatalogTool } from "./catalog_tool.ts";
import { ToolGuard } from "./tool_guard.ts";
import { GatewayError } from "../core/errors.ts";
import { NameTable } from "./name_table.ts";
import { flatten } from "./names.ts";
import { Builtins, type ResolveContext, resolveTool } from "./resolve.ts";

const BUILTINS = new Builtins([{ name: "build-toolset" }, { name: "optim.find_tool" }]);
const RESERVED = new Set([...BUILTINS.names()].map(flatten));

function tableOf(
  servers: Record<string, string[]>,
  enabled = new Map<string, string[]>(),
  maxLength = 60,
) {
  const catalog = new Catalog();
  for (const [server, names] of Object.entries(servers)) {
    catalog.setListed(
      server,
      names.map((name) => JSON.stringify({ name, inputSchema: { type: "object" } })),
    );
    catalog.setEnabled(server, enabled.get(server));
  }
  return new NameTable(catalog.snapshot.servers, { reserved: RESERVED, maxLength });
}

function onServer(server: string, names: string[], enabled?: string[]) {
  const table = tableOf({ [server]: names }, new Map(enabled && [[server, enabled]]));
  const find = (name: string, naming: ResolveContext["naming"]) =>
    resolveTool({ table, naming, server }, name).name;
  return { table, find };
}

function failure(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error("It did not fail as it should");
}

const listed = (text: string) => JSON.parse(text).tools.map(({ name }: { name: string }) => name);

Deno.test("NameTable.listText() lists enabled tools under the names of each kind", () => {
  const { table } = onServer("git", ["status", "log-all", "x.y"], ["status", "x.y"]);
  assert.deepEqual(listed(table.listText("git", "namespaced")), ["git.status", "git.x.y"]);
  assert.deepEqual(listed(table.listText("git", "original")), ["status", "x.y"]);
  assert.deepEqual(listed(table.listText("git", "flat")), ["git_status", "git_x_y"]);
  assert.deepEqual(listed(table.listText("svn", "flat")), []);
});

Deno.test("resolveTool() at a server's endpoint accepts every name, those of its own kind first", () => {
  const { find } = onServer("git", ["status", "git.status"]);
  assert.equal(find("status", "namespaced"), "status");
  assert.equal(find("git.status", "namespaced"), "status");
  assert.equal(find("git.status", "original"), "git.status");
  assert.equal(find("git.git.status", "original"), "git.status");
  assert.equal(find("git_status", "namespaced"), "status");
  assert.equal(find("git_git_status", "flat"), "git.status");
});

Deno.test("resolveTool() at a server's endpoint does not know other servers' tools", () => {
  const table = tableOf({ git: ["status"], docker: ["ps"] });
  for (const name of ["docker.ps", "docker_ps", "ps"]) {
    const error = failure(() => resolveTool({ table, naming: "namespaced", server: "git" }, name));
    assert.equal(error.code, "TOOL_NOT_FOUND");
    assert.doesNotMatch(JSON.stringify(error.toBody().suggestedTools ?? []), /docker/);
  }
});

Deno.test("resolveTool() tells disabled from unknown, and what was meant", () => {
  const { find } = onServer("git", ["status", "commit"], ["status"]);
  const fails = (name: string) => failure(() => find(name, "namespaced"));
  assert.equal(fails("git.commit").code, "TOOL_DISABLED");
  assert.equal(fails("git.sttus").code, "TOOL_NOT_FOUND");
  assert.match(fails("git.sttus").details.hint!, /git\.status/);
  assert.doesNotMatch(fails("git.comit").details.hint ?? "", /commit/);
  assert.equal(fails("constructor").code, "TOOL_NOT_FOUND");
});

Deno.test("resolveTool() finds what is off where a view has that, those that are on first", () => {
  const table = tableOf(
    { git: ["log", "gc"], docker: ["log"], svn: ["gc"] },
    new Map([["git", []], ["svn", []]]),
  );
  const view = { table, naming: "namespaced" as const, withDisabled: true };
  assert.equal(resolveTool(view, "git.log").server, "git");
  assert.equal(resolveTool(view, "log").server, "docker");
  const both = failure(() => resolveTool(view, "gc"));
  assert.deepEqual(both.details.suggestedTools, ["git.gc", "svn.gc"]);
  assert.match(failure(() => resolveTool(view, "git.lgo")).details.hint!, /git\.log/);
});

Deno.test("resolveTool() cuts names that clients would refuse, and still knows the whole ones", () => {
  const long = "search_".repeat(12);
  const { table, find } = onServer("git", [`${long}a`, `${long}b`]);
  const names = listed(table.listText("git", "namespaced"));
  for (const name of names) assert.ok(name.length <= 60, name);
  assert.equal(new Set(names).size, 2);
  assert.equal(find(names[0], "namespaced"), `${long}a`);
  assert.equal(find(`git.${long}b`, "namespaced"), `${long}b`);
});

Deno.test("resolveTool() finds a tool among all servers by each of its names, and Builtins by theirs", () => {
  const long = "s".repeat(64);
  const table = tableOf({
    git: ["status", "log"],
    docker: ["ps", "log"],
    optim: ["find_tool"],
    [long]: ["run"],
  });
  const view = { table, naming: "flat" as const, builtins: BUILTINS };
  const find = (name: string) => {
    const tool = resolveTool(view, name);
    return `${tool.server}/${tool.name}`;
  };
  assert.equal(find("git_status"), "git/status");
  assert.equal(find("git.status"), "git/status");
  assert.equal(find("git:status"), "git/status");
  assert.equal(find("status"), "git/status");
  assert.equal(BUILTINS.find("build_toolset")?.name, "build-toolset");
  assert.equal(BUILTINS.find("optim.find_tool")?.name, "optim.find_tool");
  assert.equal(BUILTINS.find("optim_find_tool")?.name, "optim.find_tool");
  const [tool] = table.byOriginal("find_tool");
  assert.equal(find(table.nameOf(tool!, "flat")), "optim/find_tool");
  assert.equal(find(table.nameOf(table.byOriginal("run")[0]!, "namespaced")), `${long}/run`);
  const error = failure(() => find("log"));
  assert.equal(error.code, "TOOL_NOT_FOUND");
  assert.deepEqual(error.details.suggestedTools, ["git_log", "docker_log"]);
});

Deno.test("resolveTool() finds a tool by a name that was cut within its server's part", () => {
  const table = tableOf({ "a-server-with-a-long-name": ["run"], git: ["log"] }, new Map(), 24);
  const [tool] = table.byOriginal("run");
  const name = table.nameOf(tool!, "namespaced");
  assert.match(name, /^a-server-with-a-l_[0-9a-f]{6}$/);
  assert.equal(resolveTool({ table, naming: "flat" }, name), tool);
});

Deno.test("resolveTool() treats what a view does not admit as if it were not there", () => {
  const table = tableOf({ git: ["status", "log"], docker: ["log"] });
  const admits = (tool: CatalogTool) => tool.server === "git" && tool.name !== "status";
  const view = { table, naming: "flat" as const, admits };
  assert.equal(resolveTool(view, "log").server, "git");
  for (const name of ["docker_log", "docker.log", "docker:log"]) {
    assert.equal(failure(() => resolveTool(view, name)).code, "TOOL_NOT_FOUND");
  }
  const error = failure(() => resolveTool(view, "git_status"));
  assert.equal(error.code, "TOOL_NOT_FOUND");
  assert.ok(!error.details.suggestedTools?.includes("git_status"));
});

Deno.test("NameTable.collisions() names both owners", () => {
  const table = tableOf({ git: ["hub_x"], git_hub: ["x"], build: ["toolset"] });
  const [own, other] = table.collisions().toSorted((a, b) => a.plain < b.plain ? -1 : 1);
  assert.equal(own!.plain, "build_toolset");
  assert.equal(own!.keptBy, undefined);
  assert.equal(other!.keptBy, "git.hub_x");
  assert.equal(other!.namespaced, "git_hub.x");
  assert.match(other!.flat, /^git_hub_x_[0-9a-f]{6}$/);
});

Deno.test("NameTable.collisions() names both owners of names that are the same once cut", () => {
  const long = "search_".repeat(12);
  const table = tableOf({
    git: [`${long}b`, `${long}a`, `hub_${long}`, `alone_${long}`],
    git_hub: [long],
  });
  const found = table.collisions();
  assert.deepEqual(
    found.map(({ cutLike, namespaced, keptBy }) => [cutLike, namespaced, keptBy]),
    [
      [`git.${long}a`, `git.${long}b`, undefined],
      [`git.hub_${long}`, `git_hub.${long}`, undefined],
    ],
  );
  for (const { plain, flat, namespaced } of found) {
    assert.equal(flat.length, 60);
    assert.match(flat, new RegExp(`^${plain}_[0-9a-f]{6}$`));
    assert.equal(
      resolveTool({ table, naming: "flat" }, flat).name,
      namespaced.replace(/^\w+\./, ""),
    );
  }
  assert.deepEqual(tableOf({ git: [`${long}a`, `${long}b`] }, new Map(), 128).collisions(), []);
});

Deno.test("NameTable.collisions() names who has the very name that another is cut to", () => {
  const long = "search_".repeat(12);
  const cut = (table: NameTable) => table.nameOf(table.byOriginal(long)[0]!, "flat");
  const taken = cut(tableOf({ git_hub: [long] }));
  const table = tableOf({ git_hub: [long], git: [taken.slice("git_".length)] });
  assert.deepEqual(table.collisions(), [{
    plain: taken,
    keptBy: `git.${taken.slice("git_".length)}`,
    namespaced: `git_hub.${long}`,
    flat: cut(table),
  }]);
});

Deno.test("Names of every length are unique, valid, never a built-in's, stable, and resolve back to their tool", () => {
  const long = "search_".repeat(12);
  const server = fc.oneof(
    fc.constantFrom(
      "git",
      "git_hub",
      "git-hub",
      "build",
      "optim",
      long.slice(20),
      long.slice(21),
      "a-server-with-a-long-name",
    ),
    fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
  );
  const tool = fc.oneof(
    fc.constantFrom("toolset", "find_tool", "hub_x", "hub.x", "x", long, `${long}a`, `hub-${long}`),
    fc.stringMatching(/^[a-c._-]{1,4}$/),
    fc.string({ minLength: 1, maxLength: 140 }),
  );
  // What the option allows.
  const maxLengths = fc.integer({ min: 24, max: 128 });
  const servers = fc.dictionary(server, fc.uniqueArray(tool, { maxLength: 12 }), {
    maxKeys: 6,
    noNullPrototype: true,
  });
  fc.assert(fc.property(servers, maxLengths, (servers, maxLength) => {
    const table = tableOf(servers, new Map(), maxLength);
    const entries = Object.entries(servers).reverse();
    const reversed = tableOf(
      Object.fromEntries(entries.map(([name, tools]) => [name, tools.toReversed()])),
      new Map(),
      maxLength,
    );
    const seen = new Set<string>();
    const view = { table, naming: "flat" as const, builtins: BUILTINS };
    for (const tool of table.tools()) {
      const flat = table.nameOf(tool, "flat");
      assert.match(flat, /^[A-Za-z0-9_]+$/);
      assert.ok(flat.length <= maxLength);
      assert.ok(!RESERVED.has(flat));
      assert.ok(!seen.has(flat));
      seen.add(flat);
      assert.equal(BUILTINS.find(flat), undefined);
      assert.equal(resolveTool(view, flat), tool);
      const namespaced = table.nameOf(tool, "namespaced");
      assert.ok(namespaced.length <= maxLength);
      const wholes = [namespaced, `${tool.server}.${tool.name}`, `${tool.server}:${tool.name}`];
      for (const name of wholes) assert.equal(resolveTool(view, name), tool, name);
      const again = reversed.find(tool.server, tool.name)!;
      assert.equal(reversed.nameOf(again, "flat"), flat);
      assert.equal(reversed.nameOf(again, "namespaced"), namespaced);
    }
  }));
});

Deno.test("resolveTool() says of a quarantined tool that it is one, to whoever may see it, and nothing else of it", () => {
  const finding = { rule: "x", severity: "high" as const, where: "name", excerpt: "", why: "bad" };
  const guard = new ToolGuard({
    find: (_, fingerprint) => fingerprint === poisoned ? [finding] : [],
    verdict: (findings) => findings.length > 0 ? "quarantine" : "clean",
  });
  let poisoned = "";
  const catalog = new Catalog({ guard });
  const texts = ["good", "bad-one"].map((name) =>
    JSON.stringify({ name, description: "hostile words", inputSchema: { type: "object" } })
  );
  poisoned = catalog.parse("s", texts).flatMap((tool) =>
    tool.name === "bad-one" && "fingerprint" in tool ? [tool.fingerprint] : []
  )[0]!;
  catalog.setListed("s", texts);
  const rules = { reserved: RESERVED, maxLength: 60 };
  const table = new NameTable(catalog.snapshot.servers, rules);
  for (const name of ["s.bad-one", "s_bad_one", "s:bad-one", "bad-one"]) {
    const error = failure(() => resolveTool({ table, naming: "flat" }, name));
    assert.equal(error.code, "TOOL_QUARANTINED", name);
    assert.doesNotMatch(JSON.stringify(error.toBody()), /hostile/);
  }
  const onEndpoint: ResolveContext = { table, naming: "original", server: "s" };
  assert.equal(failure(() => resolveTool(onEndpoint, "bad-one")).code, "TOOL_QUARANTINED");
  const other: ResolveContext = { ...onEndpoint, server: "t" };
  assert.equal(failure(() => resolveTool(other, "bad-one")).code, "TOOL_NOT_FOUND");
  const blind = failure(() =>
    resolveTool({ table, naming: "flat", admits: () => false }, "s.bad-one")
  );
  assert.equal(blind.code, "TOOL_NOT_FOUND");
  // Nor is it proposed to whoever mistypes.
  const near = failure(() => resolveTool({ table, naming: "flat" }, "s_bad_on"));
  assert.doesNotMatch(JSON.stringify(near.toBody()), /bad_one/);
});

Deno.test("resolveTool() says of a name of a server that is not up how that is, and of no other", () => {
  const table = tableOf({ git: ["log"] });
  const away = () =>
    ["git", "git_hub", "my-db"].map((name) => ({
      ...{ name, type: "stdio" as const, source: { kind: "demo" as const } },
      ...{
        state: "installing" as const,
        reason: "npx is fetching packages",
        since: 0,
        toolCount: 0,
      },
    }));
  const code = (name: string, server?: string) => {
    const view = { table, naming: "flat" as const, away };
    return failure(() => resolveTool(server === undefined ? view : { ...view, server }, name));
  };
  const names = ["my-db.query", "my-db:query", "my_db_query", "git_hub.star", "git_hub_star"];
  for (const name of [...names, "git.push"]) {
    const { code: found, message } = code(name);
    assert.equal(found, "SERVER_STARTING", name);
    const owner = name.startsWith("my") ? "my-db" : name.startsWith("git_hub") ? "git_hub" : "git";
    assert.match(message, new RegExp(`^Server "${owner}" is still installing: npx`));
  }
  for (const name of ["query", "gitx.push", "my-dbs.query", "toString"]) {
    assert.equal(code(name).code, "TOOL_NOT_FOUND", name);
  }
  assert.equal(code("query", "my-db").code, "SERVER_STARTING");
  assert.equal(code("query", "other").code, "TOOL_NOT_FOUND");
  assert.equal(resolveTool({ table, naming: "flat", away }, "git.log").name, "log");
});
