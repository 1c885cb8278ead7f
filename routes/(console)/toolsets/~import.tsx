import { page } from "fresh";
import { ToolsetsImport } from "./(_components)/import.tsx";
import { callOf } from "../../../lib/console/api.ts";
import { define } from "../../../lib/console/define.ts";
import { type ImportPage, importToolsets } from "./(_page)/exchange.ts";

export const handler = define.handlers({ GET: ["read"], POST: ["manage"] }, {
  GET(ctx) {
    ctx.state.title = "Import toolsets";
    return page<ImportPage>({ text: "" });
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    ctx.state.title = "Import toolsets";
    const done = await importToolsets(gateway, ctx.req, callOf(ctx, "console"));
    return page<ImportPage>(done, { status: done.error === undefined ? 200 : 400 });
  },
});

export default define.page<typeof handler>(function ImportRoute({ data }) {
  return <ToolsetsImport page={data} />;
});
