import { define } from "../../../lib/console/define.ts";
import { readForm } from "../../../lib/http/read_form.ts";

/** Sends the demo server away, or brings it back; a plain form, so that it works without scripts. */
export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const form = await readForm(ctx.req, gateway.options.options.maxBody);
    await gateway.setDemoRemoved(form.get("demo") === "remove");
    return ctx.redirect("/servers", 303);
  },
});
