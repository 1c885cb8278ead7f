import { z } from "zod";
import { askerOf } from "../../../lib/console/asker.ts";
import { define } from "../../../lib/console/define.ts";
import { readJson } from "../(_parts)/read_json.ts";

const MAX_BODY = 262_144;
const Body = z.strictObject({ value: z.string() });

/** Values come in and never go out. */
export const handler = define.handlers({
  async PUT(ctx) {
    const { value } = await readJson(ctx.req, Body, MAX_BODY);
    const admin = await ctx.state.gateway.secrets();
    const { usedBy } = await admin.set(ctx.params.name ?? "", value, askerOf(ctx));
    return Response.json({ set: ctx.params.name, usedBy });
  },

  async DELETE(ctx) {
    const admin = await ctx.state.gateway.secrets();
    const force = ctx.url.searchParams.get("force") === "true";
    const { usedBy } = await admin.delete(ctx.params.name ?? "", { force, by: askerOf(ctx) });
    return Response.json({ deleted: ctx.params.name, usedBy });
  },
});
