import assert from "node:assert/strict";
import { catalogOf, listed, toolsetOf } from "./testing.ts";
import { type Availability, toolsetState } from "./toolset_state.ts";
import { referenceTo } from "./toolsets.ts";

Deno.test("toolsetState() says how each tool stands", () => {
  const { catalog, table } = catalogOf({
    up: ["there", "off"],
    away: ["known", "off"],
    removed: ["left"],
  });
  catalog.setEnabled("up", ["there"]);
  catalog.setEnabled("away", ["known"]);
  const availability: Record<string, Availability> = { up: "available", away: "away" };
  const toolset = toolsetOf("all", [
    "up.there",
    "up.off",
    "up.never",
    "away.known",
    "away.off",
    "away.never",
    "removed.left",
    "nobody.ever",
    "constructor.toString",
  ]);
  const tools = toolsetState(
    toolset,
    table(),
    (server) => Object.hasOwn(availability, server) ? availability[server]! : "unknown",
  );
  const states = tools.map(({ reference: { server, tool }, state }) =>
    `${server}.${tool}: ${state}`
  );
  assert.deepEqual(states, [
    "up.there: registered",
    "up.off: disabled",
    "up.never: gone",
    "away.known: waiting",
    "away.off: disabled",
    "away.never: waiting",
    "removed.left: gone",
    "nobody.ever: gone",
    "constructor.toString: gone",
  ]);
  assert.deepEqual(
    tools.map(({ tool }) => tool?.name),
    ["there", "off", undefined, "known", "off", undefined, "left", undefined, undefined],
  );
});

Deno.test("toolsetState() marks a tool whose definition is another than the saved one", () => {
  const { catalog, table } = catalogOf({ git: ["status", "log", "push"] });
  const tools = [...table().tools()].map(referenceTo);
  const { fingerprint: _, ...unseen } = tools[2]!;
  const toolset = { ...toolsetOf("dev", []), tools: [tools[0]!, tools[1]!, unseen] };
  const changed = () =>
    toolsetState(toolset, table(), () => "available").map(({ isChanged }) => isChanged);
  assert.deepEqual(changed(), [false, false, false]);
  catalog.setListed("git", [listed("status"), listed("log", "New"), listed("push", "New")]);
  assert.deepEqual(changed(), [false, true, false]);
  catalog.unlist("git");
  assert.deepEqual(changed(), [false, false, false]);
});
