import { define } from "../../../../lib/console/define.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const { admin, removedServers } = ctx.state.gateway;
    const removed = await admin.remove(ctx.params.name ?? "");
    if (!removed) return ctx.redirect("/servers", 303);
    return ctx.redirect(`/servers?removed=${removedServers.keep(removed)}`, 303);
  },
});
