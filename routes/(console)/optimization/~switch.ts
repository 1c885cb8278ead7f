import { define, formOf } from "../../../lib/console/define.ts";
import { changeSettings } from "../settings/(_page)/model.ts";

export const handler = define.handlers({ POST: ["manage", "optimize"] }, {
  async POST(ctx) {
    const { gateway, principal } = ctx.state;
    const form = await formOf(ctx);
    const to = form.get("enabled") === "on" ? "on" : "off";
    const { signal } = ctx.req;
    await changeSettings(gateway, { change: "optimization", to }, { principal, signal });
    return ctx.redirect("/optimization", 303);
  },
});
