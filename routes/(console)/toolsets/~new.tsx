import { page } from "fresh";
import { ToolsetEditor } from "../../../components/toolset_editor.tsx";
import { define } from "../../../lib/console/define.ts";
import { readToolsetForm, saveToolset } from "../../../lib/console/save_toolset.ts";
import { newToolsetForm, toolsetForm } from "../../../lib/console/toolset_form.ts";
import { toolsetPath } from "../../../lib/console/ui/paths.ts";
import { GatewayError } from "../../../lib/core/errors.ts";
import { readForm } from "../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async GET(ctx) {
    ctx.state.title = "New toolset";
    return page(await newToolsetForm(ctx.state.gateway, ctx.url.searchParams));
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const written = readToolsetForm(await readForm(ctx.req, gateway.options.options.maxBody));
    try {
      const { name } = await saveToolset(gateway, written);
      return ctx.redirect(toolsetPath(name), 303);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.httpStatus >= 500) throw error;
      ctx.state.title = "New toolset";
      const form = await toolsetForm(gateway, undefined, written, error);
      return page(form, { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function NewToolsetRoute({ data }) {
  return <ToolsetEditor form={data} />;
});
