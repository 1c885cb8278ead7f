import { z } from "zod";
import { askerOf } from "../../../../lib/console/asker.ts";
import { define } from "../../../../lib/console/define.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { fit, readJson } from "../../(_parts)/read_json.ts";

const Wish = z.strictObject({
  clientId: z.string().min(1).max(2_000).optional(),
  clientSecret: z.string().min(1).max(2_000).optional(),
});
const Query = z.object({ attempt: z.string().max(200).optional() });

export const handler = define.handlers({
  /** The login there is; with `attempt`, how one that was begun stands. */
  async GET(ctx) {
    const name = ctx.params.name ?? "";
    const { attempt: id } = fit(Query, Object.fromEntries(ctx.url.searchParams));
    const { admin, serverLogins } = ctx.state.gateway;
    const logins = await serverLogins();
    const { server } = admin.describe(name);
    const login = await logins.describe(name) ?? null;
    if (id === undefined) return Response.json({ server, login });
    const attempt = await logins.attempt(name, id);
    if (attempt === undefined) {
      throw new GatewayError("LOGIN_FAILED", {
        message: `The login to "${name}" has run out: nobody came back within 10 minutes`,
      });
    }
    return Response.json({ server, login, attempt });
  },

  async POST(ctx) {
    const name = ctx.params.name ?? "";
    const { serverLogins, options } = ctx.state.gateway;
    const { clientId, clientSecret } = await readJson(ctx.req, Wish, options.options.maxBody);
    if (clientId === undefined && clientSecret !== undefined) {
      throw new GatewayError("INVALID_ARGUMENTS", { message: "A client secret needs its id" });
    }
    const client = clientId === undefined ? undefined : { id: clientId, secret: clientSecret };
    const started = await (await serverLogins()).start(name, client, askerOf(ctx));
    return Response.json({ login: started }, { status: 201 });
  },

  async DELETE(ctx) {
    const name = ctx.params.name ?? "";
    const ended = await (await ctx.state.gateway.serverLogins()).logout(name, askerOf(ctx));
    return Response.json({ server: name, ...ended });
  },
});
