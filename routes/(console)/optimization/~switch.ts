import { define } from "../../../lib/console/define.ts";
import { changeSettings } from "../../../lib/console/settings_changes.ts";
import { readForm } from "../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const form = await readForm(ctx.req, gateway.options.options.maxBody);
    const to = form.get("enabled") === "on" ? "on" : "off";
    await changeSettings(gateway, { change: "optimization", to }, ctx.req.signal);
    return ctx.redirect("/optimization", 303);
  },
});
