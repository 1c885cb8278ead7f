import { define } from "../../lib/console/define.ts";

/** Who answers here, so that the CLI can tell this gateway from another on the same port. */
export const handler = define.handlers({
  GET(ctx) {
    const { version, startedAt, address, admin } = ctx.state.gateway;
    const states = Map.groupBy(admin.list(), ({ state }) => state);
    return Response.json({
      version,
      pid: Deno.pid,
      startedAt,
      address,
      servers: Object.fromEntries(Array.from(states, ([state, list]) => [state, list.length])),
    });
  },
});
