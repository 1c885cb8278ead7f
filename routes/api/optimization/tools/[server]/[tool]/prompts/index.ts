import { z } from "zod";
import { define } from "../../../../../../../lib/console/define.ts";
import { PromptCategory } from "../../../../../../../lib/core/optimization.ts";
import { MOST_SAVED_PROMPTS } from "../../../../../../../lib/surfaces/optimization/limits.ts";
import { ExpectedBehavior } from "../../../../../(_parts)/expected_behavior.ts";
import { namedTool } from "../../../../../(_parts)/named_tool.ts";
import { readJson } from "../../../../../(_parts)/read_json.ts";

const Written = z.strictObject({
  prompts: z.array(z.strictObject({
    /** Of a prompt that this is to be the next version of. */
    id: z.string().exactOptional(),
    category: PromptCategory,
    prompt: z.string(),
    expectedBehavior: ExpectedBehavior.exactOptional(),
  })).min(1).max(MOST_SAVED_PROMPTS),
});

export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const { server, tool } = namedTool(ctx.url);
    const { prompts } = await readJson(ctx.req, Written, gateway.options.options.maxBody);
    const admin = await gateway.optimization();
    const saved = await admin.savePrompts({ server, tool, prompts }, "person");
    return Response.json(saved, { status: 201 });
  },
});
