import { z } from "zod";
import { define } from "../../../lib/console/define.ts";
import { describePasted } from "../../../lib/console/server_form.ts";
import { serverAsker } from "../../../lib/http/from_here.ts";
import { readJson } from "../(_parts)/read_json.ts";

const Body = z.strictObject({ text: z.string() });

/** What somebody is about to add, before anything is tried. */
export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const { maxBody } = gateway.options.options;
    const { text } = await readJson(ctx.req, Body, maxBody);
    return Response.json(await describePasted(gateway, text, serverAsker(ctx, "api")));
  },
});
