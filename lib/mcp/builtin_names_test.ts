import assert from "node:assert/strict";
import { OPTIONS } from "../config/option_table.ts";
import { Store } from "../storage/store.ts";
import { flatten } from "../catalog/names.ts";
import { BUILTIN_NAMES, RESERVED_NAMES } from "./builtin_names.ts";
import { discoveryTools } from "./discovery_tools.ts";
import { indexTools } from "./index_tools.ts";
import { optimizerTools } from "./optimizer_tools.ts";
import { openToolsets } from "./testing/open_toolsets.ts";
import type { ToolDirectory } from "./tool_directory.ts";
import { operationTools } from "../operations/mcp.ts";
import { servicesOf } from "../operations/testing/services.ts";
import { SERVER_OPERATIONS } from "../operations/servers.ts";
import { TOOLSET_OPERATIONS } from "../operations/toolsets.ts";

Deno.test("BUILTIN_NAMES has every tool of the gateway's own, each under a flat name of its own", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const tools = [
    ...operationTools(Object.values(SERVER_OPERATIONS), servicesOf({})),
    ...discoveryTools({} as ToolDirectory),
    ...indexTools({} as ToolDirectory),
    ...optimizerTools({} as ToolDirectory),
    ...operationTools(
      Object.values(TOOLSET_OPERATIONS),
      servicesOf({ toolsets: openToolsets(store, {}).admin }),
    ),
  ];
  assert.ok(tools.length >= 22);
  for (const { name } of tools) {
    assert.ok(BUILTIN_NAMES.includes(name), `${name} is not in BUILTIN_NAMES`);
    assert.ok(RESERVED_NAMES.has(flatten(name)));
  }
  assert.equal(RESERVED_NAMES.size, BUILTIN_NAMES.length);
});

Deno.test("BUILTIN_NAMES fit the shortest names that can be asked for: they are never cut", () => {
  const longest = Math.max(...BUILTIN_NAMES.map(({ length }) => length));
  const { schema } = OPTIONS.maxNameLength;
  const shortest = Array.from({ length: 100 }, (_, length) => length)
    .find((length) => schema.safeParse(String(length)).success)!;
  assert.ok(longest < shortest, `${longest} does not fit ${shortest}`);
});
