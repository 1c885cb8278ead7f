import assert from "node:assert/strict";
import { dashboardPage } from "./dashboard_page.ts";
import { problem, stubGateway } from "./testing/stub_gateway.ts";

Deno.test("dashboardPage() welcomes where only the demo is there", () => {
  const demo = {
    name: "weather",
    source: { kind: "demo" },
    tools: [{ name: "get_radar" }],
  } as const;
  const first = dashboardPage(stubGateway({ servers: [{ ...demo, tools: [...demo.tools] }] }));
  assert.deepEqual(first.demo?.tools.map(({ name }) => name), ["get_radar"]);
  const second = dashboardPage(stubGateway({ servers: [{ name: "mine" }] }));
  assert.equal(second.demo, undefined);
});

Deno.test("dashboardPage() tells a server's problem with the server, and only there", () => {
  const mine = problem({ server: "b", message: "server b is not started: X is not set" });
  const other = problem({ server: "b", message: "unknown key" });
  const page = dashboardPage(stubGateway({
    servers: [{ name: "a" }, { name: "b", state: "failed", reason: "X is not set" }],
    problems: [
      other,
      mine,
      problem({ severity: "error", message: "bad" }),
    ],
  }));
  assert.deepEqual(page.attention.map(({ server, problem }) => [server.name, problem]), [[
    "b",
    mine,
  ]]);
  assert.deepEqual(page.problems.map(({ message }) => message), ["bad", "unknown key"]);
});

Deno.test("dashboardPage() lists a few of many and counts the rest", () => {
  const servers = Array.from(
    { length: 30 },
    (_, index) => ({ name: `s${index}`, state: "failed" as const }),
  );
  const page = dashboardPage(stubGateway({ servers }));
  assert.equal(page.attention.length + page.moreAttention, 30);
  assert.ok(page.attention.length < 10);
});

Deno.test("dashboardPage() says what is wrong with the data store", () => {
  const page = dashboardPage(stubGateway({ storeTrouble: "The disk is full" }));
  assert.equal(page.storeTrouble, "The disk is full");
  assert.equal(dashboardPage(stubGateway()).storeTrouble, undefined);
});
