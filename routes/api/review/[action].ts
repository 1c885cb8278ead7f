import { z } from "zod";
import { askerOf } from "../../../lib/console/asker.ts";
import { define } from "../../../lib/console/define.ts";
import { decide, readReviewAction } from "../../../lib/console/security_review.ts";
import { readJson } from "../(_parts)/read_json.ts";

export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const body = await readJson(
      ctx.req,
      z.record(z.string(), z.unknown()),
      gateway.options.options.maxBody,
    );
    const action = readReviewAction({ ...body, action: ctx.params.action });
    return Response.json({ done: await decide(gateway, action, askerOf(ctx)) });
  },
});
