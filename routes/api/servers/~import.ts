import { z } from "zod";
import { define } from "../../../lib/console/define.ts";
import { addOneOf } from "../../../lib/console/server_form.ts";
import { serverAsker } from "../../../lib/http/from_here.ts";
import { readJson } from "../(_parts)/read_json.ts";

const Body = z.strictObject({ text: z.string(), server: z.string() });

/** Adds one of the servers in a text. */
export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const { maxBody } = gateway.options.options;
    const { text, server } = await readJson(ctx.req, Body, maxBody);
    const outcome = await addOneOf(gateway, text, server, serverAsker(ctx, "api"));
    return Response.json({ outcome });
  },
});
