import assert from "node:assert/strict";
import type { Gateway } from "../compose.ts";
import { EVERYONE } from "../core/principal.ts";
import { doorAudience, equippedAudience } from "./audience.ts";

interface Client {
  door: string;
  info?: unknown;
  idleMs?: number;
  principal?: string;
}

function gatewayWith(...clients: Client[]): Pick<Gateway, "doors"> {
  const list = () =>
    clients.map(({ door, info, idleMs = 0, principal = EVERYONE }) => ({
      door,
      principal,
      client: { clientInfo: info },
      idleMs: () => idleMs,
    }));
  return { doors: { host: { sessions: { list } } } as unknown as Gateway["doors"] };
}

Deno.test("equippedAudience() has those whose list is what is equipped, by name", () => {
  const gateway = gatewayWith(
    { door: "mcp?default", info: { name: "cursor" } },
    { door: "mcp?toolset&flat", info: { name: "claude-code", title: "Claude Code" } },
    { door: "mcp?default", info: { title: "Claude Code" } },
    { door: "mcp?default", info: "nonsense" },
    { door: "mcp?all", info: { name: "sees everything" } },
    { door: "servers/git?flat", info: { name: "elsewhere" } },
  );
  assert.deepEqual(equippedAudience(gateway), {
    count: 4,
    names: ["Claude Code (2)", "a client without a name", "cursor"],
    more: 0,
  });
});

Deno.test("equippedAudience() leaves out who has long been silent, and other people's clients", () => {
  const gateway = gatewayWith(
    { door: "mcp?default", info: { name: "left" }, idleMs: 10 * 60_000 },
    { door: "mcp?default", info: { name: "theirs" }, principal: "somebody" },
  );
  assert.equal(equippedAudience(gateway).count, 0);
});

Deno.test("equippedAudience() has a person's clients, whichever tokens they and the person came with", () => {
  const gateway = gatewayWith(
    { door: "mcp?default", info: { name: "same" }, principal: "oauth:ann#1" },
    { door: "mcp?default", info: { name: "other" }, principal: "oauth:ann#2@web" },
    { door: "mcp?default", info: { name: "theirs" }, principal: "oauth:bob#1" },
  );
  assert.deepEqual(equippedAudience(gateway, "oauth:ann#1").names, ["other", "same"]);
});

Deno.test("equippedAudience() names a few of many", () => {
  const clients = Array.from({ length: 8 }, (_, index) => ({
    door: "mcp?default",
    info: { name: `client ${index}` },
  }));
  const { count, names, more } = equippedAudience(gatewayWith(...clients));
  assert.deepEqual([count, names.length, more], [8, 5, 3]);
});

Deno.test("doorAudience() has the clients at that toolset's door alone", () => {
  const gateway = gatewayWith(
    { door: "toolsets/dev?", info: { name: "a" } },
    { door: "toolsets/develop?", info: { name: "b" } },
  );
  assert.deepEqual(doorAudience(gateway, "dev").names, ["a"]);
});
