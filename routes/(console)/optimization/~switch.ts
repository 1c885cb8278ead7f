import { runFor } from "../../../lib/console/api.ts";
import { define, formOf } from "../../../lib/console/define.ts";
import { OPTIMIZATION_OPERATIONS } from "../../../lib/operations/optimization.ts";

export const handler = define.handlers({ POST: ["manage", "optimize"] }, {
  async POST(ctx) {
    const isOn = (await formOf(ctx)).get("enabled") === "on";
    await runFor(ctx, OPTIMIZATION_OPERATIONS[isOn ? "enable" : "disable"], {});
    return ctx.redirect("/optimization", 303);
  },
});
