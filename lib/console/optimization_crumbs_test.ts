import assert from "node:assert/strict";
import { crumbsOf } from "./crumbs.ts";

Deno.test("optimizationCrumbs() leads from all servers to a tool, and names jobs as such", () => {
  const list = { label: "Optimization", href: "/optimization", isName: false };
  assert.deepEqual(crumbsOf("/optimization/weather/a%2Fb"), [
    list,
    { label: "weather", href: "/optimization/weather", isName: true },
    { label: "a/b", isName: true },
  ]);
  assert.deepEqual(crumbsOf("/optimization/weather"), [list, { label: "weather", isName: true }]);
  assert.deepEqual(crumbsOf("/optimization/~jobs/job_1"), [list, { label: "Job", isName: false }]);
  assert.deepEqual(crumbsOf("/optimization/~all"), [list, { label: "All servers", isName: false }]);
});
