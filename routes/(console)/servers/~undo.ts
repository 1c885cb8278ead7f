import { define } from "../../../lib/console/define.ts";
import { serverPath } from "../../../lib/console/ui/paths.ts";
import { serverAsker } from "../../../lib/http/from_here.ts";
import { readForm } from "../../../lib/http/read_form.ts";

/** Takes back a removal. */
export const handler = define.handlers({
  async POST(ctx) {
    const { admin, removedServers, options } = ctx.state.gateway;
    const form = await readForm(ctx.req, options.options.maxBody);
    const id = form.get("id") ?? "";
    const { name } = await admin.restore(removedServers.resolve(id), serverAsker(ctx, "console"));
    removedServers.forget(id);
    return ctx.redirect(serverPath(name), 303);
  },
});
