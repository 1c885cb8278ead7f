import { define } from "../../lib/console/define.ts";

export default define.middleware((ctx) => {
  // Thrown here, it is shown with the console around it.
  if (ctx.state.refused !== undefined) throw ctx.state.refused;
  // Before anything is read: a change that comes meanwhile must not be taken for seen.
  ctx.state.madeAt = ctx.state.gateway.events.lastEventId;
  return ctx.next();
});
