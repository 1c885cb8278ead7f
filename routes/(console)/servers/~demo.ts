import { define, formOf } from "../../../lib/console/define.ts";

/** Sends the demo server away, or brings it back; a plain form, so that it works without scripts. */
export const handler = define.handlers({ POST: ["manage"] }, {
  async POST(ctx) {
    const form = await formOf(ctx);
    await ctx.state.gateway.setDemoRemoved(form.get("demo") === "remove");
    return ctx.redirect("/servers", 303);
  },
});
