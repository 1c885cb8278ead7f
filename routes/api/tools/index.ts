import { define } from "../../../lib/console/define.ts";

/** Every tool of every server, those that are off too, and what their names depend on. */
export const handler = define.handlers({
  GET(ctx) {
    const { admin, servers, options: { options } } = ctx.state.gateway;
    const tools = servers.list().flatMap(({ name: server }) => {
      const { enabled } = admin.enabledTools(server);
      const chosen = enabled && new Set(enabled);
      return servers.tools(server).map((definition) => ({
        server,
        name: definition.name,
        enabled: chosen?.has(definition.name) ?? true,
        definition,
      }));
    });
    return Response.json({ tools, maxNameLength: options.maxNameLength });
  },
});
