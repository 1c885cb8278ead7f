import assert from "node:assert/strict";
import fc from "../../../tests/fast_check.ts";
import { GatewayError } from "../../core/errors.ts";
import { Toolset } from "../../core/tool.ts";
import { exportToolsets, readImport } from "./exchange.ts";
import { catalogOf } from "./testing/toolsets.ts";

const { catalog, table } = catalogOf({
  git: ["status", "log-all", "push", "deep.name/x"],
  "dev-ops": ["ps", "status"],
});
catalog.setEnabled("git", ["status", "log-all", "deep.name/x"]);
const fingerprints = new Map(
  [...table().tools()].map(({ server, name, fingerprint }) => [`${server}.${name}`, fingerprint]),
);

function refused(value: unknown): string {
  try {
    readImport(value, table());
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, "INVALID_ARGUMENTS");
    assert.match(error.message, /^Cannot import toolsets: /);
    return error.message;
  }
  throw new Error("It was not refused");
}

const names = (tools: readonly { server: string; tool: string }[]) =>
  tools.map(({ server, tool }) => `${server}.${tool}`);

const arbitraryTool = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...fingerprints.keys()) },
  fc.tuple(
    fc.constantFrom("git", "dev-ops", "gone", "-", "_9"),
    // A star alone stands for all tools of a server.
    fc.string({ minLength: 1, unit: "binary" }).filter((name) => name !== "*"),
  ).map(([server, name]) => `${server}.${name}`),
);
const arbitraryToolset = fc.record({
  name: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
  description: fc.option(fc.string({ maxLength: 500 }), { nil: undefined }),
  tools: fc.uniqueArray(arbitraryTool, { minLength: 1, maxLength: 10 }),
  saved: fc.option(fc.constantFrom("0123", "abcd"), { nil: undefined }),
}).map(({ name, description, tools, saved }) =>
  Toolset.parse({
    id: crypto.randomUUID(),
    name,
    ...(description === undefined ? {} : { description }),
    tools: tools.map((written) => {
      const dot = written.indexOf(".");
      const fingerprint = saved ?? fingerprints.get(written);
      return {
        server: written.slice(0, dot),
        tool: written.slice(dot + 1),
        ...(fingerprint === undefined ? {} : { fingerprint }),
      };
    }),
    createdAt: 1,
    updatedAt: 2,
  })
);

Deno.test("readImport() gives back what exportToolsets() wrote, whatever is known of its tools", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(arbitraryToolset, { maxLength: 5, selector: ({ name }) => name }),
      (toolsets) => {
        const file = JSON.parse(JSON.stringify(exportToolsets(toolsets)));
        const imported = readImport(file, table()).map(({ unmatched: _, ...rest }) => rest);
        const expected = toolsets.map(({ name, description, tools }) => ({
          name,
          ...(description === undefined ? {} : { description }),
          tools,
        }));
        assert.deepEqual(imported, expected);
      },
    ),
  );
});

Deno.test("readImport() takes the shapes of other programs", () => {
  const tools = [{ namespacedName: "git.status", refId: "1" }, "dev_ops_ps"];
  const single = { name: "dev", tools, version: "1.0.0" };
  const shapes = [
    single,
    [single],
    { toolsets: [single] },
    { toolsets: [single], version: 7 },
    { toolsets: { dev: { tools } }, equipped: "dev" },
    { toolsets: { dev: { name: "called otherwise", tools } } },
  ];
  for (const shape of shapes) {
    const [toolset, ...others] = readImport(shape, table());
    assert.equal(toolset?.name, "dev");
    assert.equal(toolset.wasNamed, undefined);
    assert.deepEqual(names(toolset.tools), ["git.status", "dev-ops.ps"], JSON.stringify(shape));
    assert.equal(toolset.tools[0]?.fingerprint, fingerprints.get("git.status"));
    assert.deepEqual(toolset.unmatched, []);
    assert.deepEqual(others, []);
  }
  assert.deepEqual(readImport({ toolsets: [] }, table()), []);
});

Deno.test("readImport() changes a name that cannot stay, and says what it was", () => {
  const named = (name: string) => readImport({ name, tools: ["git.status"] }, table())[0];
  assert.deepEqual(
    ["my tools!", " dev ", "a/../b", "-a-", "x".repeat(100)].map((name) => named(name)?.name),
    ["my-tools", "dev", "a-b", "-a-", "x".repeat(64)],
  );
  assert.equal(named("my tools!")?.wasNamed, "my tools!");
  assert.equal(named("-a-")?.wasNamed, undefined);
  assert.match(refused({ name: "  ", tools: ["git.status"] }), /is not a valid toolset name/);
  assert.match(refused({ name: "日本", tools: ["git.status"] }), /"日本" is not a valid/);
});

Deno.test("readImport() refuses two toolsets that would have one name", () => {
  const tools = ["git.status"];
  const file = [{ name: "my tools", tools }, { name: "my-tools", tools }];
  assert.match(refused(file), /two toolsets have the name "my-tools"/);
});

Deno.test("readImport() refuses what a newer version wrote, whatever its shape", () => {
  const kind = "quartermaster/toolsets";
  const tools = ["git.status"];
  for (const toolsets of [[{ name: "dev", tools }], { dev: { tools } }, "elsewhere", undefined]) {
    assert.match(refused({ kind, version: 2, toolsets }), /newer version \(2\)/);
  }
  assert.equal(
    readImport({ kind, version: 1, toolsets: [{ name: "dev", tools }] }, table()).length,
    1,
  );
});

Deno.test("readImport() refuses what holds no toolsets, and says where it is wrong", () => {
  for (
    const value of [null, 1, "dev", {}, [1], { toolsets: 1 }, { name: "dev" }, {
      name: "dev",
      tools: [],
    }]
  ) {
    refused(value);
  }
  assert.match(refused({ toolsets: [{ name: "dev", tools: [{}] }] }), /toolsets\[0\]\.tools\[0\]/);
  assert.match(refused([{ name: "dev", tools: ["a.b"], description: "x".repeat(501) }]), /500/);
});

Deno.test("readImport() keeps a tool that is not there yet, with what may have been meant", () => {
  const tools = [
    "git.statsu",
    "git.push",
    "later.tool",
    "my git.x",
    "nodot",
    "gti.*",
    ".x",
    "git.",
  ];
  const [toolset] = readImport({ name: "dev", tools }, table());
  assert.deepEqual(toolset?.tools, [
    { server: "git", tool: "statsu" },
    { server: "git", tool: "push" },
    { server: "later", tool: "tool" },
    { server: "my_git", tool: "x" },
  ]);
  assert.deepEqual(toolset.unmatched.map(({ written }) => written), tools);
  const nearest = new Map(toolset.unmatched.map(({ written, nearest }) => [written, nearest]));
  assert.deepEqual(nearest.get("git.statsu"), ["git.status"]);
  assert.deepEqual(nearest.get("gti.*"), ["git.*"]);
  assert.match(toolset.unmatched[1]?.reason ?? "", /disabled/);
});

Deno.test("readImport() takes `server.*` for all of a server, and each tool once", () => {
  const tools = ["git_status", "git.*", { namespacedName: " git.status " }, "gone.x", " gone.x"];
  const [toolset] = readImport({ name: "dev", tools }, table());
  assert.deepEqual(names(toolset?.tools ?? []), [
    "git.status",
    "git.log-all",
    "git.deep.name/x",
    "gone.x",
  ]);
});
