import { z } from "zod";
import { define } from "../../../lib/console/define.ts";
import { readJson } from "../(_parts)/read_json.ts";

/** Toolsets as a file: `?name=` once for each that is wanted, all without. */
export const handler = define.handlers({
  async GET(ctx) {
    const names = ctx.url.searchParams.getAll("name");
    const file = await ctx.state.gateway.toolsets.export(names.length > 0 ? names : undefined);
    return Response.json(file);
  },

  /** `?replace=true` overwrites toolsets of the same name; `?dryRun=true` only says what would be. */
  async POST(ctx) {
    const { toolsets: admin, options: { options } } = ctx.state.gateway;
    const file = await readJson(ctx.req, z.unknown(), options.maxBody);
    const isSet = (name: string) => ctx.url.searchParams.get(name) === "true";
    const how = { replace: isSet("replace"), dryRun: isSet("dryRun") };
    return Response.json(await admin.import(file, how));
  },
});
