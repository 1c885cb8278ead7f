import type { Gateway } from "../compose.ts";
import { EVERYONE } from "../core/principal.ts";
import type { PaletteIndex } from "./ui/palette_items.ts";

/** What the palette can find besides pages: names only, so that thousands stay small. */
export function paletteIndex(
  gateway: Pick<Gateway, "servers" | "toolsets">,
  principal = EVERYONE,
): PaletteIndex {
  const servers = gateway.servers.list().map(({ name, state }) => ({
    name,
    state,
    tools: gateway.servers.tools(name).map((tool) => tool.name),
  }));
  const { toolsets } = gateway.toolsets;
  const equipped = toolsets.equippedBy(principal)?.name;
  return {
    servers,
    toolsets: toolsets.list().map(({ name }) => ({ name, isEquipped: name === equipped })),
  };
}
