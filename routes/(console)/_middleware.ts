import { define } from "../../lib/console/define.ts";

/** Before anything is read: a change that comes meanwhile must not be taken for seen. */
export default define.middleware((ctx) => {
  ctx.state.madeAt = ctx.state.gateway.events.lastEventId;
  return ctx.next();
});
