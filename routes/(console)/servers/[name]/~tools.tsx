import { page } from "fresh";
import { ServerTools } from "../../../../components/server_tools.tsx";
import { define } from "../../../../lib/console/define.ts";
import { formError } from "../../../../lib/console/form_error.ts";
import {
  readToolChoice,
  saveServerTools,
  type ServerToolsPage,
  serverToolsPage,
} from "../../../../lib/console/server_tools_page.ts";
import { serverPath } from "../../../../lib/console/ui/paths.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const name = ctx.params.name ?? "";
    const found = await serverToolsPage(ctx.state.gateway, name, ctx.url.searchParams);
    ctx.state.title = `Configure tools: ${name}`;
    return page<ServerToolsPage>(found);
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const name = ctx.params.name ?? "";
    const form = await readForm(ctx.req, gateway.options.options.maxBody);
    const written = readToolChoice(form);
    try {
      await saveServerTools(gateway, name, written);
      return ctx.redirect(serverPath(name), 303);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.httpStatus >= 500) throw error;
      const found = await serverToolsPage(gateway, name, new URLSearchParams());
      ctx.state.title = `Configure tools: ${name}`;
      const data: ServerToolsPage = { ...found, refused: { written, error: formError(error) } };
      return page(data, { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function ServerToolsRoute({ data }) {
  return <ServerTools page={data} />;
});
