import { z } from "zod";
import { define } from "../../../lib/console/define.ts";
import { reportCsv, reportData, reportMarkdown } from "../../../lib/optimizer/report.ts";
import { fit } from "../(_parts)/read_json.ts";

const Query = z.object({
  server: z.string().optional(),
  format: z.enum(["json", "markdown", "csv"]).default("json"),
});

/** `?server=&format=json|markdown|csv`: of all servers without a name. */
export const handler = define.handlers({
  async GET(ctx) {
    const { server, format } = fit(Query, Object.fromEntries(ctx.url.searchParams));
    const admin = await ctx.state.gateway.optimization();
    const reports = await admin.report(server);
    if (format === "json") return Response.json(reportData(reports));
    const text = format === "csv" ? reportCsv(reports) : reportMarkdown(reports);
    return new Response(text, { headers: { "content-type": `text/${format}; charset=utf-8` } });
  },
});
