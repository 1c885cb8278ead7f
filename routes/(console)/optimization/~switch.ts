import { define } from "../../../lib/console/define.ts";
import { localPath } from "../../../lib/console/local_path.ts";
import { readForm } from "../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const form = await readForm(ctx.req, gateway.options.options.maxBody);
    const admin = await gateway.optimization();
    await admin.setEnabled(form.get("enabled") === "on");
    return ctx.redirect(localPath(form.get("back") ?? "/optimization"), 303);
  },
});
