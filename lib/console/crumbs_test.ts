import assert from "node:assert/strict";
import { crumbsOf } from "./crumbs.ts";

Deno.test("crumbsOf() leads from the page in the rail to the thing shown", () => {
  assert.deepEqual(crumbsOf("/"), [{ label: "Dashboard", isName: false }]);
  assert.deepEqual(crumbsOf("/tools/weather/a%2Fb"), [
    { label: "Tools", href: "/tools", isName: false },
    { label: "weather", href: "/tools?server=weather", isName: true },
    { label: "a/b", isName: true },
  ]);
});

Deno.test("crumbsOf() names the steps of making a toolset", () => {
  const labels = (path: string) => crumbsOf(path).map(({ label, href }) => [label, href]);
  assert.deepEqual(labels("/toolsets/~new"), [["Toolsets", "/toolsets"], [
    "New toolset",
    undefined,
  ]]);
  assert.deepEqual(labels("/toolsets/dev/edit"), [
    ["Toolsets", "/toolsets"],
    ["dev", "/toolsets/dev"],
    ["Edit", undefined],
  ]);
});

Deno.test("crumbsOf() knows what is no page", () => {
  assert.equal(crumbsOf("/nope")[0]?.label, "Not found");
  assert.equal(crumbsOf("/servers/%E0%A4%A")[0]?.label, "Not found");
});

Deno.test("crumbsOf() names the steps that are taken with a server", () => {
  const labels = (path: string) => crumbsOf(path).map(({ label }) => label);
  assert.deepEqual(labels("/servers/~new"), ["Servers", "Add server"]);
  assert.deepEqual(labels("/servers/git/~tools"), ["Servers", "git", "Configure tools"]);
  assert.deepEqual(labels("/servers/git/~edit"), ["Servers", "git", "Edit"]);
});
