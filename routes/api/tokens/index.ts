import { askerOf } from "../../../lib/console/asker.ts";
import { define } from "../../../lib/console/define.ts";
import { newToken, WrittenToken } from "../../../lib/console/security_token_form.ts";
import { createToken } from "../../../lib/console/security_tokens.ts";
import { readJson } from "../(_parts)/read_json.ts";

export const handler = define.handlers({
  async GET(ctx) {
    return Response.json({ tokens: await ctx.state.gateway.accessAdmin.tokens() });
  },

  async POST(ctx) {
    const { gateway, principal } = ctx.state;
    const written = await readJson(ctx.req, WrittenToken, gateway.options.options.maxBody);
    const by = { ...askerOf(ctx), principal };
    const made = await createToken(gateway, by, newToken(written));
    return Response.json(made, { status: 201 });
  },
});
