import { Catalog } from "../../catalog.ts";
import type { Toolset } from "../../../core/tool.ts";
import { NameTables } from "../../name_table.ts";

/** A tool's definition as its server lists it. */
export function listed(
  name: string,
  description = `Does ${name}`,
  properties?: Record<string, unknown>,
): string {
  const schema = { type: "object", ...(properties ? { properties } : {}) };
  return JSON.stringify({ name, description, inputSchema: schema });
}

/** A catalog with these tools, and the names they have. */
export function catalogOf(servers: Record<string, readonly string[]>) {
  const catalog = new Catalog();
  for (const [server, tools] of Object.entries(servers)) {
    catalog.setListed(server, tools.map((name) => listed(name)));
  }
  const names = new NameTables([], 60);
  return { catalog, names, table: () => names.of(catalog.snapshot) };
}

/** A toolset of tools written as `server.tool`. */
export function toolsetOf(name: string, tools: readonly string[]): Toolset {
  return {
    id: `id of ${name}`,
    name,
    tools: tools.map((written) => {
      const [server = "", tool = ""] = written.split(".");
      return { server, tool };
    }),
    createdAt: 1,
    updatedAt: 1,
  };
}
