import assert from "node:assert/strict";
import fc from "../../tests/fast_check.ts";
import { fittingNames, flatNames, flatten, namesOf, namespacedName } from "./names.ts";

/** What the option allows. */
const maxLengths = fc.integer({ min: 24, max: 128 });
const long = "search_".repeat(20);
const names = fc.uniqueArray(
  fc.tuple(
    fc.oneof(fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/), fc.constantFrom("git", "git_search")),
    fc.oneof(
      fc.stringMatching(/^[a-c._-]{1,4}$/),
      fc.string({ minLength: 1, maxLength: 160, unit: "grapheme" }),
      fc.constantFrom(`${long}a`, `${long}b`, long.replaceAll("_", "-"), long.slice(7)),
    ),
  ).map(([server, tool]) => namespacedName(server, tool)),
  { maxLength: 40 },
);

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

Deno.test("flatNames() are unique, valid, reserved from built-ins, and the same in any order, at every length", () => {
  fc.assert(fc.property(names, fc.array(fc.nat()), maxLengths, (names, seed, maxLength) => {
    const reserved = new Set([
      "tool_discovery",
      ...names.slice(0, 2).map(flatten).filter((flat) => flat.length <= maxLength),
    ]);
    const flat = flatNames(names, maxLength, reserved);
    const values = [...flat.values()];
    assert.equal(flat.size, names.length);
    assert.equal(new Set(values).size, names.length);
    for (const value of values) {
      assert.match(value, /^[A-Za-z0-9_]+$/);
      assert.ok(value.length <= maxLength, value);
      assert.ok(!reserved.has(value));
    }
    const shuffled = names.map((name, index) => ({
      name,
      key: seed[index % (seed.length || 1)] ?? 0,
    }))
      .sort((a, b) => a.key - b.key).map(({ name }) => name);
    for (const [name, value] of flatNames(shuffled.toReversed(), maxLength, reserved)) {
      assert.equal(flat.get(name), value);
    }
  }));
});

Deno.test("fittingNames() are unique and whole texts at every length, and change what is too long alone", () => {
  fc.assert(fc.property(names, maxLengths, (names, maxLength) => {
    const bounded = fittingNames(names, maxLength);
    assert.equal(new Set(bounded.values()).size, names.length);
    for (const [name, value] of bounded) {
      assert.ok(value.length <= maxLength, value);
      assert.ok(value.isWellFormed(), value);
      assert.equal(value === name, name.length <= maxLength);
    }
  }));
});

Deno.test("namesOf() has the names that a tool has alone and those it has where they clash", () => {
  const flat = flatNames([`git.${long}`, "git.x", "git_x.y", "git.x_y"], 30);
  assert.ok(namesOf("git", long, 30).includes(flat.get(`git.${long}`)!));
  assert.ok(namesOf("git_x", "y", 30).includes(flat.get("git_x.y")!));
  const [whole] = fittingNames([`git.${long}`], 30).values();
  assert.ok(namesOf("git", long, 30).includes(whole!));
  for (const name of ["x", "git.x", "git_x", "git:x"]) {
    assert.ok(namesOf("git", "x", 30).includes(name), name);
  }
});

Deno.test("flatNames() gives the plain form by sorted name, never by arrival", () => {
  const flat = flatNames(["git_hub.x", "git.hub_x"], 60);
  assert.equal(flat.get("git.hub_x"), "git_hub_x");
  assert.match(flat.get("git_hub.x")!, /^git_hub_x_[0-9a-f]{6}$/);
});
