import assert from "node:assert/strict";
import type { ServerStatus } from "../../../lib/core/server.ts";
import { layOut, SHAPES } from "../(_components)/live_map.tsx";
import { mapOf } from "./map.ts";

function server(name: string, more: Partial<ServerStatus> = {}): ServerStatus {
  return {
    name,
    type: "stdio",
    source: { kind: "store" },
    state: "ready",
    reason: "Connected",
    since: 0,
    toolCount: 1,
    ...more,
  };
}

function times(server: string, calls: number, errors = 0, p95 = 10) {
  return { server, calls, errors, p50: 5, p95 };
}

function map(servers: ServerStatus[], used: ReturnType<typeof times>[] = []) {
  const { servers: nodes } = mapOf({ clients: [], mayManage: true, servers, times: used });
  return nodes.map(({ label, note, tone }) => `${label} / ${note} / ${tone}`);
}

Deno.test("mapOf() puts what fails and what is slow first, in words too", () => {
  const servers = [
    server("busy"),
    server("idle"),
    server("errs"),
    server("slow"),
    server("once"),
    server("down", { state: "failed" }),
  ];
  const used = [
    times("busy", 90, 2),
    times("errs", 10, 4),
    times("slow", 9, 0, 8_000),
    times("once", 1, 1),
  ];
  assert.deepEqual(map(servers, used), [
    "errs / 4 of 10 failed / bad",
    "down / Failed / bad",
    "slow / slow: 8.0 s / warn",
    "once / 1 of 1 failed / warn",
    "busy / 2 of 90 failed / ok",
    "idle / idle / ok",
  ]);
});

const CLIENT = {
  id: "c1",
  name: "editor",
  protocolVersion: "2025-11-25",
  transport: "http",
  endpoint: "mcp?default",
  principal: "everyone",
  connectedAt: 0,
  lastSeenAt: 0,
  calls: 7,
  errors: 1,
  searches: 0,
  sent: { baseline: 0, listed: 0, answered: 0 },
} as const;

Deno.test("mapOf() makes one node of idle clients", () => {
  const idle = { ...CLIENT, errors: 0, idleSince: 0 };
  const all = [CLIENT, idle, { ...idle, id: "c2", name: "other" }];
  const { clients } = mapOf({ clients: all, mayManage: true, servers: [], times: [] });
  assert.deepEqual(clients.map(({ label, note }) => [label, note]), [
    ["editor", "1 of 7 failed"],
    ["2 idle clients", "14 calls"],
  ]);
});

Deno.test("mapOf() shows how many of a client's calls failed", () => {
  const { clients } = mapOf({ clients: [CLIENT], mayManage: true, servers: [], times: [] });
  assert.deepEqual(clients.map(({ note, tone }) => [note, tone]), [["1 of 7 failed", "warn"]]);
});

Deno.test("mapOf() makes one node of many idle servers, and one of more that are busy", () => {
  const servers = Array.from({ length: 60 }, (_, index) => server(`s${index}`));
  assert.deepEqual(map(servers, [times("s7", 3)]), [
    "s7 / 3 calls / ok",
    "59 idle servers /  / quiet",
  ]);
  const nodes = map(servers, servers.slice(0, 20).map(({ name }) => times(name, 2)));
  assert.equal(nodes.length, 12);
  assert.deepEqual(nodes.slice(-2), [
    "10 more in use / 20 calls / quiet",
    "40 idle servers /  / quiet",
  ]);
});

Deno.test("layOut() gives every node a place of its own, inside the drawing", () => {
  for (const shape of Object.values(SHAPES)) {
    for (const [clients, servers] of [[0, 1], [6, 12], [6, 1]] as const) {
      const { width, height, gateway, ...boxes } = layOut(shape, clients, servers);
      const all = [gateway, ...boxes.clients, ...boxes.servers];
      assert.equal(all.length, 1 + clients + servers);
      all.forEach((a, index) => {
        assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height);
        const isOver = (b: typeof a) =>
          a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
          b.y < a.y + a.height;
        assert.ok(!all.slice(index + 1).some(isOver));
      });
    }
  }
});
