import { page } from "fresh";
import { ToolsetEditor } from "../../../../components/toolset_editor.tsx";
import { define } from "../../../../lib/console/define.ts";
import { readToolsetForm, saveToolset } from "../../../../lib/console/save_toolset.ts";
import { toolsetForm } from "../../../../lib/console/toolset_form.ts";
import { toolsetPath } from "../../../../lib/console/ui/paths.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const { gateway } = ctx.state;
    const toolset = gateway.toolsets.toolsets.resolve(ctx.params.name ?? "");
    ctx.state.title = `Edit ${toolset.name}`;
    return page(await toolsetForm(gateway, toolset));
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const toolset = gateway.toolsets.toolsets.resolve(ctx.params.name ?? "");
    const form = readToolsetForm(await readForm(ctx.req, gateway.options.options.maxBody));
    const written = { ...form, name: toolset.name };
    try {
      await saveToolset(gateway, written, toolset);
      return ctx.redirect(toolsetPath(toolset.name), 303);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.httpStatus >= 500) throw error;
      ctx.state.title = `Edit ${toolset.name}`;
      const again = await toolsetForm(gateway, toolset, written, error);
      return page(again, { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function EditToolsetRoute({ data }) {
  return <ToolsetEditor form={data} />;
});
