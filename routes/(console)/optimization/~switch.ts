import { define } from "../../../lib/console/define.ts";
import { changeSettings } from "../../../lib/console/settings_changes.ts";
import { readForm } from "../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const { gateway, principal } = ctx.state;
    const form = await readForm(ctx.req, gateway.options.options.maxBody);
    const to = form.get("enabled") === "on" ? "on" : "off";
    const { signal } = ctx.req;
    await changeSettings(gateway, { change: "optimization", to }, { principal, signal });
    return ctx.redirect("/optimization", 303);
  },
});
