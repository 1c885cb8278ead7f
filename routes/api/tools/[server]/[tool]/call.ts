import * as z from "zod";
import { define } from "../../../../../lib/console/define.ts";
import { tryTool } from "../../../../(console)/tools/[server]/(_page)/try.ts";
import { pathParts } from "../../../../../lib/console/ui/pages.ts";
import { readJson } from "../../../../../lib/operations/http.ts";
import { parseInput } from "../../../../../lib/operations/operation.ts";

const Body = z.strictObject({
  arguments: z.record(z.string(), z.unknown()).default({}),
  /** Needed for a tool that does not say that it only reads, or only adds. */
  confirmed: z.boolean().default(false),
});

/** Calls a tool, as the console's own client. */
export const handler = define.handlers({ POST: ["manage", "call"] }, {
  async POST(ctx) {
    const { gateway, principal } = ctx.state;
    const [, , server = "", tool = ""] = pathParts(ctx.url.pathname) ?? [];
    const given = await readJson(ctx.req, gateway.options.options.maxBody);
    const body = parseInput({ name: "call", input: Body }, given);
    const outcome = await tryTool(gateway, {
      server,
      tool,
      args: body.arguments,
      principal,
      isConfirmed: body.confirmed,
      signal: ctx.req.signal,
    });
    return Response.json({ outcome });
  },
});
