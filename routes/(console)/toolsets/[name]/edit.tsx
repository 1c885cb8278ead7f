import { page } from "fresh";
import { ToolsetEditor } from "../(_components)/editor.tsx";
import { callOf } from "../../../../lib/console/api.ts";
import { define, formOf } from "../../../../lib/console/define.ts";
import { readToolsetForm, saveToolset, toolsetForm } from "../(_page)/editor.ts";
import { toolsetPath } from "../../../../lib/console/ui/pages.ts";
import { submitForm } from "../../../../lib/console/errors.ts";

export const handler = define.handlers({ GET: ["read"], POST: ["manage"] }, {
  async GET(ctx) {
    const { gateway } = ctx.state;
    const toolset = gateway.toolsets.toolsets.resolve(ctx.params.name ?? "");
    ctx.state.title = `Edit ${toolset.name}`;
    return page(await toolsetForm(gateway, toolset));
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const toolset = gateway.toolsets.toolsets.resolve(ctx.params.name ?? "");
    const form = readToolsetForm(await formOf(ctx));
    const written = { ...form, name: toolset.name };
    ctx.state.title = `Edit ${toolset.name}`;
    return await submitForm(
      ctx,
      async () => toolsetPath(await saveToolset(gateway, written, callOf(ctx, "console"), toolset)),
      (error) => toolsetForm(gateway, toolset, written, error),
    );
  },
});

export default define.page<typeof handler>(function EditToolsetRoute({ data }) {
  return <ToolsetEditor form={data} />;
});
