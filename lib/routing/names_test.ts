import assert from "node:assert/strict";
import fc from "fast-check";
import { flatNames, flatten, MAX_NAME, namespacedName } from "./names.ts";

Deno.test("flatten() does as the examples say", () => {
  const examples = {
    "git.status": "git_status",
    "docker.ps": "docker_ps",
    "linear.create_issue": "linear_create_issue",
    "context7.resolve-library-id": "context7_resolve_library_id",
    "task-master.get_tasks": "task_master_get_tasks",
    "git.search-repositories": "git_search_repositories",
    "server.tool.with.multiple.dots": "server_tool_with_multiple_dots",
  };
  for (const [name, flat] of Object.entries(examples)) assert.equal(flatten(name), flat);
});

Deno.test("flatNames() are unique, valid, reserved from built-ins, and the same in any order", () => {
  const server = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
  const tool = fc.oneof(
    fc.stringMatching(/^[a-c._-]{1,4}$/),
    fc.string({ minLength: 1, maxLength: 90 }),
  );
  const names = fc.uniqueArray(fc.tuple(server, tool).map(([a, b]) => namespacedName(a, b)), {
    maxLength: 40,
  });
  fc.assert(fc.property(names, fc.array(fc.nat()), (names, seed) => {
    const reserved = new Set([
      "tool_discovery",
      ...names.slice(0, 2).map(flatten).filter((flat) => flat.length <= MAX_NAME),
    ]);
    const flat = flatNames(names, reserved);
    const values = [...flat.values()];
    assert.equal(flat.size, names.length);
    assert.equal(new Set(values).size, names.length);
    for (const value of values) {
      assert.match(value, /^[A-Za-z0-9_]{1,60}$/);
      assert.ok(!reserved.has(value));
    }
    const shuffled = names.map((name, index) => ({
      name,
      key: seed[index % (seed.length || 1)] ?? 0,
    }))
      .sort((a, b) => a.key - b.key).map(({ name }) => name);
    for (const [name, value] of flatNames(shuffled.toReversed(), reserved)) {
      assert.equal(flat.get(name), value);
    }
  }));
});

Deno.test("flatNames() gives the plain form by sorted name, never by arrival", () => {
  const flat = flatNames(["git_hub.x", "git.hub_x"]);
  assert.equal(flat.get("git.hub_x"), "git_hub_x");
  assert.match(flat.get("git_hub.x")!, /^git_hub_x_[0-9a-f]{6}$/);
});
