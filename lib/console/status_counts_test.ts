import assert from "node:assert/strict";
import { countStatus } from "./status_counts.ts";
import { problem, stubGateway } from "./testing/stub_gateway.ts";

Deno.test("countStatus() counts what needs a person once", () => {
  const gateway = stubGateway({
    servers: [
      { name: "a", tools: [{ name: "x" }, { name: "y" }] },
      { name: "b", state: "failed" },
      { name: "c", state: "needs_login" },
      { name: "d", state: "disabled" },
    ],
    problems: [
      problem({ severity: "error", server: "b" }),
      problem({ severity: "error" }),
      problem({ severity: "warning" }),
    ],
  });
  assert.deepEqual(countStatus(gateway.servers.list(), gateway.problems), {
    servers: 4,
    ready: 1,
    tools: 2,
    attention: 3,
  });
});
