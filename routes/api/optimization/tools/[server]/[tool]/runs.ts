import { z } from "zod";
import { define } from "../../../../../../lib/console/define.ts";
import { namedTool } from "../../../../(_parts)/named_tool.ts";
import { readJson } from "../../../../(_parts)/read_json.ts";

const Report = z.strictObject({
  candidateId: z.string(),
  promptId: z.string(),
  result: z.strictObject({
    toolCalled: z.boolean(),
    error: z.string().exactOptional(),
    reasoning: z.string().exactOptional(),
    durationMs: z.number().min(0).default(0),
  }),
});

export const handler = define.handlers({
  async POST(ctx) {
    const { gateway } = ctx.state;
    const { server, tool } = namedTool(ctx.url);
    const report = await readJson(ctx.req, Report, gateway.options.options.maxBody);
    const admin = await gateway.optimization();
    const run = await admin.recordRun({ server, tool, ...report });
    return Response.json({ run }, { status: 201 });
  },
});
