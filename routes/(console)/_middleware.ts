import { define } from "../../lib/console/define.ts";

export default define.middleware((ctx) => {
  // Before anything is read: the page must not count a change in between as seen.
  ctx.state.madeAt = ctx.state.host.events.lastEventId;
  return ctx.next();
});
