import { callOf } from "../../lib/console/api.ts";
import { readAction, runAction } from "../../lib/console/actions.ts";
import { define, formOf } from "../../lib/console/define.ts";
import { errorPage } from "../../lib/console/errors.ts";
import { localPath } from "../../lib/console/ui/pages.ts";
import { GatewayError } from "../../lib/core/errors.ts";

/** What one click does: as a form it leads back to its page, for a script it answers in words. */
export const handler = define.handlers({ POST: ["read"] }, {
  async POST(ctx) {
    const { gateway } = ctx.state;
    const form = await formOf(ctx);
    const isScript = ctx.req.headers.get("accept") === "application/json";
    try {
      const done = await runAction(gateway, readAction(form), callOf(ctx, "console"));
      if (isScript) return Response.json({ done });
    } catch (error) {
      // Anything else is logged further out, before it is answered.
      if (!isScript || !(error instanceof GatewayError)) throw error;
      const { status, code, message, steps } = errorPage(error);
      return Response.json({ error: { code, message, steps } }, { status });
    }
    return ctx.redirect(localPath(form.get("back")), 303);
  },
});
