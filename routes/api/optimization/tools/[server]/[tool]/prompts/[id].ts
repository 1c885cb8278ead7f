import { z } from "zod";
import { define } from "../../../../../../../lib/console/define.ts";
import { PromptCategory } from "../../../../../../../lib/core/optimization.ts";
import { ExpectedBehavior } from "../../../../../(_parts)/expected_behavior.ts";
import { namedTool } from "../../../../../(_parts)/named_tool.ts";
import { readJson } from "../../../../../(_parts)/read_json.ts";

const Edit = z.strictObject({
  prompt: z.string().exactOptional(),
  category: PromptCategory.exactOptional(),
  expectedBehavior: ExpectedBehavior.exactOptional(),
});

export const handler = define.handlers({
  async PUT(ctx) {
    const { gateway } = ctx.state;
    const { server, tool, rest: [, id = ""] } = namedTool(ctx.url);
    const edit = await readJson(ctx.req, Edit, gateway.options.options.maxBody);
    const admin = await gateway.optimization();
    return Response.json({ prompt: await admin.editPrompt({ server, tool, id, ...edit }) });
  },

  async DELETE(ctx) {
    const { server, tool, rest: [, id = ""] } = namedTool(ctx.url);
    const admin = await ctx.state.gateway.optimization();
    await admin.retirePrompt(server, tool, id);
    return Response.json({ retired: id });
  },
});
