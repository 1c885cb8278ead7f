import { page } from "fresh";
import { ToolsetEditor } from "./(_components)/editor.tsx";
import { callOf } from "../../../lib/console/api.ts";
import { define, formOf } from "../../../lib/console/define.ts";
import { newToolsetForm, readToolsetForm, saveToolset, toolsetForm } from "./(_page)/editor.ts";
import { toolsetPath } from "../../../lib/console/ui/pages.ts";
import { submitForm } from "../../../lib/console/errors.ts";

export const handler = define.handlers({ GET: ["read"], POST: ["manage"] }, {
  async GET(ctx) {
    ctx.state.title = "New toolset";
    return page(await newToolsetForm(ctx.state.gateway, ctx.url.searchParams));
  },

  async POST(ctx) {
    ctx.state.title = "New toolset";
    const { gateway } = ctx.state;
    const written = readToolsetForm(await formOf(ctx));
    return await submitForm(
      ctx,
      async () => toolsetPath(await saveToolset(gateway, written, callOf(ctx, "console"))),
      (error) => toolsetForm(gateway, undefined, written, error),
    );
  },
});

export default define.page<typeof handler>(function NewToolsetRoute({ data }) {
  return <ToolsetEditor form={data} />;
});
